/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time of a process before its recording began: of its exec and of the loading of its
 * libraries, the collector's among them.  The recorded rest and this are all that the program
 * used: what the collector took for its own begin and end is in neither.  A process that was
 * recorded before it became another program by exec has used some of that there; its log has how
 * much.  Of an exec that no log tells of, what the process did before was left out on purpose: its
 * recording was terminated, or the program was not selected.  Nothing of that counts.
 */
#include "experiment/before.h"

#include "experiment/lives.h"
#include "format/lineage.h"

#include <stdlib.h>
#include <string.h>

/* The lineages that logs gave to what was about to be executed. */
static void find_told(const struct experiment *experiment, struct string_table *told)
{
	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct experiment_log *log = &experiment->processes.items[i].log;

		for (size_t k = 0; k < log->events.count; k++) {
			const struct log_event *event = &log->events.items[k];
			const char *lineage = log_event_attribute(event, "lineage");

			if (lineage &&
			    (log_event_is(event, "exec") || log_event_is(event, "child_exec") ||
			     log_event_is(event, "spawn")))
				string_table_add(told, lineage);
		}
	}
}

static bool is_told(const struct string_table *told, const struct process *process)
{
	size_t length;

	if (lineage_step(process->lineage, &length) != 'x')
		return true;
	char *name = lives_given_name(process);
	bool found = string_table_find(told, name) != HASH_NONE;

	free(name);
	return found;
}

static void add_before(const struct experiment *experiment, struct process *process)
{
	const struct log_counters *own = &process->log.counters;
	const struct process *before = experiment_image_before(experiment, process);
	uint64_t user_us, all_us = own->before_user_us + own->before_system_us;
	uint64_t left_out_us = own->before_own_us;

	if (!own->has_before || all_us > own->process_cpu_ns / 1000 ||
	    (before && !before->log.counters.has_process_cpu))
		return;
	if (before)
		left_out_us += before->log.counters.process_cpu_ns / 1000;
	all_us -= left_out_us < all_us ? left_out_us : all_us;
	user_us = profile_user_part(all_us, own->before_user_us, own->before_system_us);
	experiment_profile_begin(&process->profile, user_us, all_us - user_us,
				 experiment_stacks_stand_in(&process->stacks, FORMAT_PC_BEFORE));
}

void before_add(struct experiment *experiment)
{
	struct string_table told = {0};

	find_told(experiment, &told);
	for (size_t i = 0; i < experiment->processes.count; i++) {
		struct process *process = &experiment->processes.items[i];

		if (process->log.counters.has_before && is_told(&told, process))
			add_before(experiment, process);
	}
	string_table_fini(&told);
}
