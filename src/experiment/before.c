/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time of a process before its recording began: of its exec and of the loading of its
 * libraries, the collector's among them.  The recorded rest and this are all that the program
 * used: what the collector took for its own begin and end is in neither.  A process that was
 * recorded before it became another program by exec has used some of that there; its log has how
 * much.
 */
#include "experiment/before.h"

#include <string.h>

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
	for (size_t i = 0; i < experiment->processes.count; i++)
		if (experiment->processes.items[i].log.counters.has_before)
			add_before(experiment, &experiment->processes.items[i]);
}
