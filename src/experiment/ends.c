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
#include "experiment/experiment.h"

#include <stdlib.h>
#include <string.h>

struct ending {
	uint64_t time_ns;
	uint64_t status, number; /* of the exit, of the signal */
};

/* Whether the image has closed its books: by an exit of its own, or before an exec. */
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

/* An event that tells of the end of the process `pid`; `founder`: the log's own, or 0. */
static bool tells_end(const struct log_event *event, int64_t founder, int64_t pid)
{
	uint64_t number;

	if (!strcmp(event->kind, "exit"))
		return founder == pid && log_event_number(event, "status", &number);
	return !strcmp(event->kind, "reaped") && log_event_number(event, "pid", &number) &&
	       (int64_t)number == pid;
}

/* The first end of that process after it began; process ids are used again. */
static bool find_ending(const struct experiment *experiment, const struct process *process,
			struct ending *ending)
{
	bool found = false;

	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct experiment_log *log = &experiment->processes.items[i].log;

		for (size_t k = 0; k < log->events.count; k++) {
			const struct log_event *event = &log->events.items[k];

			if (!tells_end(event, i ? 0 : log->pid, process->log.pid) ||
			    event->time_ns < process->log.start_ns ||
			    (found && event->time_ns >= ending->time_ns))
				continue;
			*ending = (struct ending){.time_ns = event->time_ns};
			log_event_number(event, "status", &ending->status);
			log_event_number(event, "signal", &ending->number);
			found = true;
		}
	}
	return found;
}

static void end_process(struct process *process, const struct ending *ending)
{
	struct experiment_log *log = &process->log;

	log->ended = log->has_status = true;
	log->exit_status = (int)ending->status;
	log->exit_signal = (int)ending->number;
	if (ending->time_ns > log->last_ns)
		log->last_ns = ending->time_ns;
	if (process->profile.threads.count)
		experiment_profile_end(
			&process->profile, ending->time_ns / 1000,
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
	for (size_t i = 0; i < experiment->processes.count; i++) {
		struct process *process = &experiment->processes.items[i];
		struct ending ending;

		if (process->log.has_process && !ended_in_order(&process->log) &&
		    find_ending(experiment, process, &ending))
			end_process(process, &ending);
		end_threads(process);
	}
}
