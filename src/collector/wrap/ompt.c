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

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	const char *libraries = getenv("OMP_TOOL_LIBRARIES");
	bool is_wanted = trace_is_wanted(TRACE_OMP) && atomic_load(&collector.recording) &&
			 collector_is_ours();
	ompt_start_tool_result_t *other = own_tool(version, runtime);

	if (!other && !(libraries && *libraries))
		return is_wanted ? ompt_tool() : NULL;
	if (is_wanted)
		log_warning(
			"the program has an OMPT tool of its own, and there can be one: OpenMP's "
			"regions and states are not recorded",
			0);
	return other;
}
