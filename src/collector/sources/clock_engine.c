/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_engine.h"

#include "collector/core/next_functions.h"
#include "collector/storage/experiment.h"
#include "collector/storage/text.h"

_Atomic unsigned engine_monitor;

static const char *find_harm(void)
{
	/* Go with cgo; without it no library gets into the program (base/own_calls.h). */
	if (next_program_exports("crosscall2"))
		return "Go executes programs without the C library";
	if (next_program_exports("safe_syscall_start"))
		return "qemu executes programs without the C library";
	return NULL;
}

const char *engine_signals_harm(void)
{
	static bool known;
	static const char *harm;

	/* Once: in the child of a fork a thread that is gone may hold the loader's lock. */
	if (!known)
		harm = find_harm();
	known = true;
	return harm;
}

void engine_log(enum engine asked, const char *reason)
{
	static const char *const names[] = {"none", "perf", "monitor"};
	static char room[PATH_MAX_HERE + 512]; /* one thread at a time begins a recording */
	struct text line = TEXT_ON(room);

	text_puts(&line, "<collector");
	text_attribute(&line, "engine", names[collector.engine]);
	text_attribute(&line, "reason", collector.engine == asked ? "" : reason);
	text_attribute(&line, "library", collector.library);
	if (engine_signals_harm()) { /* it may end by a system call of its own, too */
		atomic_store(&collector.raw_calls, true);
		text_attribute(&line, "own_calls", "yes");
	}
	text_puts(&line, "/>\n");
	experiment_append(FORMAT_FILE_LOG, &line);
}
