/* SPDX-License-Identifier: Apache-2.0 */
/* Where an OpenMP runtime asks for its tool: there can be one. */
#include "collector/runtimes/ompt.h"

#include "collector/core/log.h"
#include "collector/core/next_functions.h"
#include "collector/core/trace.h"
#include "collector/storage/recording.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef ompt_start_tool_result_t *start_tool(unsigned version, const char *runtime);

COLLECTOR_EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);

/* A tool of the program's own, if it has one: the runtimes define the name, too. */
static ompt_start_tool_result_t *own_tool(unsigned version, const char *runtime)
{
	void *symbol = next_symbol("ompt_start_tool");
	start_tool *start;
	Dl_info info;

	if (!symbol || !dladdr(symbol, &info) || strstr(info.dli_fname, "libomp") ||
	    strstr(info.dli_fname, "libiomp"))
		return NULL;
	memcpy(&start, &symbol, sizeof(start));
	return start(version, runtime);
}

static bool is_wanted(void)
{
	return trace_is_wanted(TRACE_OMP) && atomic_load(&collector.recording) &&
	       collector_is_ours();
}

static void say_displaced(void)
{
	log_warning("the program has an OMPT tool of its own, and there can be one: OpenMP's "
		    "regions and states are not recorded",
		    0);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	const char *libraries = getenv("OMP_TOOL_LIBRARIES");
	ompt_start_tool_result_t *other = own_tool(version, runtime);

	if (!other && !(libraries && *libraries))
		return is_wanted() ? ompt_tool() : NULL;
	if (is_wanted())
		say_displaced();
	return other;
}

/*
 * Where ours will not be called: the program itself comes before us in the order in which the
 * runtime looks for a tool, or it is told not to look.  A program into which the runtime is linked
 * exports the name, too.
 */
__attribute__((constructor)) static void look_for_other(void)
{
	const char *setting = getenv("OMP_TOOL");

	if (!is_wanted())
		return;
	if (setting && !strcasecmp(setting, "disabled") && next_symbol("ompt_start_tool"))
		log_warning("OMP_TOOL is disabled: what LLVM's OpenMP does is not recorded", 0);
	else if (next_program_exports("ompt_start_tool") &&
		 !next_program_exports("__kmpc_fork_call"))
		say_displaced();
}
