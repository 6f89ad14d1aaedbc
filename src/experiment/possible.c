/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event `left` comes out of memory that the program shares with its launcher and may
 * overwrite, and any log may be damaged or made up.  A wrong time of some 2^64 us would make
 * nonsense of every percentage.
 */
#include "experiment/possible.h"

#include "experiment/lives.h"

enum {
	GRAIN_US = 100000,    /* of the kernel's accounting, and of what ends after the last word */
	PROCESSORS_MAX = 8192 /* that Linux can have, where the log does not say how many */
};

/* No sum of them overflows: 285 years. */
#define LONGEST_US (1ull << 53)

struct bound {
	const struct experiment *experiment;
	uint64_t us; /* by what the logs say of its duration */
};

/* Saturates. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t last_known_ns(const struct experiment *experiment)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < experiment->processes.count; i++)
		if (experiment->processes.items[i].log.last_ns > last_ns)
			last_ns = experiment->processes.items[i].log.last_ns;
	return last_ns;
}

/*
 * What all processors can have worked from the begin of the recording to that moment; where it is
 * attached to a process, from the begin of the machine on.
 */
static uint64_t most_us(const struct experiment *experiment, uint64_t until_ns)
{
	const struct experiment_log *founder = &experiment->processes.items[0].log;
	double processors = founder->cpus && founder->cpus < PROCESSORS_MAX ? (double)founder->cpus
									    : PROCESSORS_MAX;

	if (experiment_log_setting(founder, "attached_after_ms"))
		until_ns = sum(until_ns, founder->mono_ns);

	double us = ((double)until_ns / 1000 * 1.05 + GRAIN_US) * processors;

	return us < (double)LONGEST_US ? (uint64_t)us : LONGEST_US;
}

/* Whether it is more than can be.  Where logs were cut, events tell of a later moment than they. */
static bool is_too_much(const struct bound *bound, const struct process *process, uint64_t us)
{
	return us > bound->us && us > most_us(bound->experiment, lives_read_use(process).last_ns);
}

/* Lives point to events, so none may move. */
static void refuse_events(struct experiment_log *log)
{
	for (size_t i = 0; i < log->events.count; i++)
		if (log_event_is(&log->events.items[i], "left"))
			log->events.items[i].kind = "left_refused";
}

static uint64_t left_us(const struct log_left *left)
{
	uint64_t before_us = sum(left->before_user_us, left->before_system_us);
	uint64_t children_us = sum(left->children_user_us, left->children_system_us);

	return sum(sum(before_us, children_us), left->collector_us);
}

/* More than the process itself is known to have used; life: whose last image it is, or NULL. */
static bool exceeds_usage(const struct life *life, uint64_t us)
{
	uint64_t used_us = life ? life->user_us + life->system_us : 0;

	return life && life->has_usage && us > used_us + used_us / 20 + GRAIN_US;
}

static void check_left(const struct bound *bound, struct process *process, const struct life *life,
		       struct diag_list *warnings)
{
	struct log_left *left = &process->log.left;
	uint64_t said_us = left_us(left);

	if (!left->present ||
	    (!exceeds_usage(life, said_us) && !is_too_much(bound, process, said_us)))
		return;
	warnings->about = process->number;
	diag_add(warnings, DIAG_WARNING,
		 "%s: what the process is said to have left for log.xml at its end cannot be: %.3f "
		 "s of CPU time; it does not count",
		 process->name, (double)said_us / 1e6);
	*left = (struct log_left){0};
	refuse_events(&process->log);
}

static void check_counters(const struct bound *bound, struct process *process,
			   struct diag_list *warnings)
{
	struct log_counters *counters = &process->log.counters;
	uint64_t own_us = sum(counters->before_user_us, counters->before_system_us);

	if (own_us < counters->process_cpu_ns / 1000) /* which has it within */
		own_us = counters->process_cpu_ns / 1000;

	uint64_t said_us =
		sum(own_us, sum(counters->children_user_us, counters->children_system_us));

	if (!is_too_much(bound, process, said_us))
		return;
	warnings->about = process->number;
	diag_add(warnings, DIAG_WARNING,
		 "%s: log.xml is damaged: its counters tell of %.3f s of CPU time, which cannot "
		 "be; they do not count",
		 process->name, (double)said_us / 1e6);
	counters->has_before = counters->has_children = counters->has_process_cpu = false;
	counters->process_cpu_ns = 0;
}

static void check_usage(const struct bound *bound, struct life *life, struct diag_list *warnings)
{
	const struct process *process = life->last ? life->last : life->teller;
	uint64_t said_us = sum(life->user_us, life->system_us);

	if (!life->has_usage || !is_too_much(bound, process, said_us))
		return;
	warnings->about = process->number;
	diag_add(warnings, DIAG_WARNING,
		 "%s: log.xml is damaged: process %lld is said to have used %.3f s of CPU time, "
		 "which cannot be; that does not count",
		 process->name, (long long)life->pid, (double)said_us / 1e6);
	life->has_usage = false;
	life->user_us = life->system_us = 0;
}

void possible_check(struct experiment *experiment, struct diag_list *warnings)
{
	const struct bound bound = {experiment, most_us(experiment, last_known_ns(experiment))};
	struct process *processes = experiment->processes.items;
	struct lives *lives = experiment->lives;

	for (size_t i = 0; i < lives->items.count; i++) {
		struct life *life = &lives->items.items[i];

		check_usage(&bound, life, warnings);
		if (life->last)
			check_left(&bound, &processes[life->last - processes], life, warnings);
	}
	for (size_t i = 0; i < experiment->processes.count; i++) {
		check_left(&bound, &processes[i], NULL, warnings); /* of images before an exec */
		check_counters(&bound, &processes[i], warnings);
	}
	warnings->about = 0;
}
