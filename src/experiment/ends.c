/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of processes that could not say so themselves: killed, or gone by a call that nobody
 * saw.  Others know when: the launcher of the founder, a parent of the child that it awaited.
 *
 * Until then the threads lived.  What they did since their last event was not working, for
 * work makes events; so it is a wait, with a call stack that is not known.  But a part of an
 * interval may have been work: where it is known how much, that has no call stack either.
 *
 * And the ends of threads: the last that a thread can record is followed by work of libc and
 * the kernel, some 10 to 30 us.  The log has the sum, by the process's clock.
 */
#include "experiment/experiment.h"
#include "experiment/lives.h"
#include "experiment/possible.h"

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

/*
 * The parts of a process's CPU time that it could not write at its end are known from what it left
 * in memory, and from its parent.
 */
static void tell_counters(struct experiment_log *log, const struct life *life)
{
	const struct log_left *left = &log->left;
	struct log_counters *counters = &log->counters;
	uint64_t all_us = life->user_us + life->system_us;
	uint64_t children_us = left->children_user_us + left->children_system_us;

	if (!left->present || counters->present || !life->has_usage)
		return;
	counters->has_before = counters->has_children = counters->has_process_cpu = true;
	counters->before_user_us = left->before_user_us;
	counters->before_system_us = left->before_system_us;
	counters->before_own_us = left->before_own_us;
	counters->children_user_us = left->children_user_us;
	counters->children_system_us = left->children_system_us;
	counters->process_cpu_ns = all_us > children_us ? (all_us - children_us) * 1000 : 0;
}

/* What its threads used since their last events, where the process had no time to write it. */
static struct profile_rest rest_of(const struct experiment *experiment, const struct life *life)
{
	struct profile_rest rest = {0};
	uint64_t most_us;

	if (!life->last->log.left.present || !lives_are_whole(experiment))
		return rest;
	rest.whole = true;
	uint64_t rest_us = lives_rest_us(experiment->lives, life, &most_us);

	if (!rest_us || rest_us > most_us)
		return rest;
	rest.user_us = profile_user_part(rest_us, life->user_us, life->system_us);
	rest.system_us = rest_us - rest.user_us;
	return rest;
}

static void end_process(const struct experiment *experiment, struct process *process,
			const struct life *life)
{
	struct experiment_log *log = &process->log;
	struct profile_rest rest = rest_of(experiment, life);

	log->ended = log->has_status = true;
	log->exit_status = life->status;
	log->exit_signal = life->number;
	if (life->end_ns > log->last_ns)
		log->last_ns = life->end_ns;
	tell_counters(log, life);
	if (process->profile.threads.count)
		experiment_profile_add_tails(
			&process->profile, life->end_ns / 1000,
			experiment_stacks_stand_in(&process->stacks, FORMAT_PC_NO_STACK), rest);
}

static void end_threads(struct process *process)
{
	const struct log_counters *counters = &process->log.counters;
	const struct experiment_profile *profile = &process->profile;

	if (log_counters_agree(counters) && !profile->damaged)
		experiment_profile_add_thread_ends(&process->profile, counters->ends_cpu_ns / 1000);
}

void experiment_settle_ends(struct experiment *experiment, struct diag_list *warnings)
{
	struct process *processes = experiment->processes.items;

	experiment->lives = lives_new(experiment);
	possible_check(experiment, warnings);
	for (size_t i = 0; i < experiment->lives->items.count; i++) {
		const struct life *life = &experiment->lives->items.items[i];
		struct process *last = life->last ? &processes[life->last - processes] : NULL;

		if (last && life->has_end && last->log.has_process && !ended_in_order(&last->log))
			end_process(experiment, last, life);
	}
	for (size_t i = 0; i < experiment->processes.count; i++)
		end_threads(&processes[i]);
}
