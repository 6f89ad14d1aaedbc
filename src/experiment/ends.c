/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of processes that could not say so themselves: killed, or gone by a call that nobody
 * saw.  Others know when: the launcher of the founder, a parent of the child that it awaited.
 *
 * Until then the threads lived.  What they did since their last event was not working, for
 * work makes events; so it is a wait, with a call stack that is not known.
 *
 * And the ends of threads: the last that a thread can record is followed by work of libc and
 * the kernel, some 10 to 30 us.  The log has the sum, by the process's clock.
 */
#include "experiment/lives.h"

#include <string.h>

/* Whether the image has closed its recording: by an exit of its own, or before an exec. */
static bool ended_in_order(const struct experiment_log *log)
{
	bool ended = false;
	uint64_t status;

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];

		if (!strcmp(event->kind, "exec") ||
		    (!strcmp(event->kind, "exit") && !log_event_number(event, "status", &status)))
			ended = true;
		else if (!strcmp(event->kind, "exec_failed"))
			ended = false;
	}
	return ended;
}

static void end_process(struct process *process, const struct life *life)
{
	struct experiment_log *log = &process->log;

	log->ended = log->has_status = true;
	log->exit_status = life->status;
	log->exit_signal = life->number;
	if (life->end_ns > log->last_ns)
		log->last_ns = life->end_ns;
	if (process->profile.threads.count)
		experiment_profile_end(
			&process->profile, life->end_ns / 1000,
			experiment_stacks_stand_in(&process->stacks, FORMAT_PC_NO_STACK));
}

static void end_threads(struct process *process)
{
	const struct log_counters *counters = &process->log.counters;
	const struct experiment_profile *profile = &process->profile;

	if (log_counters_agree(counters) && !profile->damaged)
		experiment_profile_end_threads(&process->profile, counters->ends_cpu_ns / 1000);
}

void experiment_settle_ends(struct experiment *experiment)
{
	struct process *processes = experiment->processes.items;

	experiment->lives = lives_new(experiment);
	for (size_t i = 0; i < experiment->lives->items.count; i++) {
		const struct life *life = &experiment->lives->items.items[i];
		struct process *last = life->last ? &processes[life->last - processes] : NULL;

		if (last && life->has_end && last->log.has_process && !ended_in_order(&last->log))
			end_process(last, life);
	}
	for (size_t i = 0; i < experiment->processes.count; i++)
		end_threads(&processes[i]);
}
