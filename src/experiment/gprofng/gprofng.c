/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/gprofng/gprofng.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* A kind of data whose file is not there was lost. */
static void report_missing(const struct process *process, const struct gprofng_log *log,
			   struct diag_list *warnings)
{
	if (!process->map.present)
		diag_add(warnings, DIAG_WARNING,
			 "%s: map.xml is missing: no address can be named, all functions show as "
			 "<Unknown>",
			 process->name);
	if (log->layouts[GPROFNG_CLOCK].file && !process->profile.present)
		diag_add(warnings, DIAG_WARNING,
			 "%s: profile is missing: the time of this process is not counted",
			 process->name);
	for (int data = GPROFNG_HEAP; data < GPROFNG_DATA_KINDS; data++)
		if (log->layouts[data].file &&
		    !process->traces[gprofng_trace((enum gprofng_data)data)].present)
			diag_add(warnings, DIAG_WARNING,
				 "%s: %s is missing: its events are not counted", process->name,
				 log->layouts[data].file);
	if (process->profile.event_count && !process->stacks.present)
		diag_add(warnings, DIAG_WARNING,
			 "%s: data.frameinfo is missing: all time shows as <Unknown>",
			 process->name);
}

/* The mapped file that the command names; after a fork there is none: what the founder is. */
static void find_executable(struct process *process, const struct process *founder)
{
	const char *command = process->log.arguments.count ? process->log.arguments.items[0]
							   : founder->log.executable;

	for (size_t i = 0; command && i < process->map.files.count; i++) {
		const char *path = process->map.files.items[i].path;

		if (!strcmp(path_name(path), path_name(command)))
			process->log.executable = path;
	}
}

void gprofng_read(struct experiment *experiment, struct process *process,
		  struct diag_list *warnings)
{
	struct read_context context = process_context(process, warnings);
	const struct process *founder = &experiment->processes.items[0];
	struct gprofng_log log;
	struct gprofng_changes changes = {0};

	gprofng_log_read(process, &log, founder, &experiment->arena, &context);
	if (log.narrow) {
		diag_add(warnings, DIAG_WARNING,
			 "%s: gprofng's records of 32-bit programs are not read; `gprofng display "
			 "text` shows them",
			 process->name);
		gprofng_log_fini(&log);
		return;
	}
	gprofng_map_read(process, &log, experiment, &changes, &context);

	find_executable(process, founder);

	struct gprofng_stacks *stacks = gprofng_stacks_read(process, &context);

	gprofng_events_read(process, &log, &changes, stacks, &experiment->arena, &context);
	gprofng_stacks_free(stacks, &context);
	gprofng_overview_read(process, &log, &context);
	report_missing(process, &log, warnings);
	vec_fini(&changes);
	gprofng_log_fini(&log);
}
