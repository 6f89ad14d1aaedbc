/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a thread that has just woken up can have waited for its turn.
 *
 * Since Linux 6.12 a thread that blocks may stay on its run queue for a moment; if it is moved to
 * another processor meanwhile, its whole wait is counted as run-queue delay (schedstat):
 * measured, 1 to 3 % of the waits on a busy machine.  The kernel's load tracking knows better.
 * It keeps two averages with a half-life of 32 periods of 1024 us: of the time that the
 * thread was runnable, and of that in which it ran.  Time on the queue adds to the first one alone,
 * so their difference d says how much of it there was at most just now: d = 1024 (1 - 2^(-q/32)).
 */
#include "collector/sources/clock_queue.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/storage/text.h"

enum { FULL = 1024, HALF_LIFE = 32, PERIOD_NS = 1024 * 1000, NEARLY_FULL = 1000 };

/* 2^(-1/32) in units of 2^-32. */
#define DECAY 4202935003u

struct load {
	int64_t runnable, running; /* -1: not seen */
};

/* "se.avg.runnable_avg   :     227" */
static void take_line(const char *line, void *arg)
{
	static const char runnable[] = "se.avg.runnable_avg ", running[] = "se.avg.util_avg ";
	struct load *load = arg;
	int64_t *value = text_starts(line, runnable)  ? &load->runnable
			 : text_starts(line, running) ? &load->running
						      : NULL;
	const char *end;

	if (!value)
		return;
	while (*line && *line != ':')
		line++;
	line += *line == ':';
	while (*line == ' ')
		line++;
	*value = (int64_t)text_number(line, &end);
}

uint64_t clock_queue_bound(int64_t runnable, int64_t running, uint64_t ran_ns)
{
	uint64_t waited = runnable > running ? (uint64_t)(runnable - running) : 0;
	uint64_t value = (uint64_t)FULL << 20, rest, periods = 0;

	/* What it has run for since has let the difference decay. */
	for (ran_ns += PERIOD_NS - 1; ran_ns >= PERIOD_NS && waited < NEARLY_FULL;
	     ran_ns -= PERIOD_NS)
		waited = (waited << 32) / DECAY + 1;
	if (waited >= NEARLY_FULL)
		return UINT64_MAX;
	rest = (FULL - waited) << 20;
	for (; value / 2 >= rest; value /= 2)
		periods += HALF_LIFE;
	for (; value > rest; value = value * DECAY >> 32)
		periods++;
	return periods * PERIOD_NS;
}

uint64_t clock_queue_possible(uint64_t delay_ns, uint64_t bound_ns, uint64_t preempted)
{
	/* A preemption's delay may have come before the wait, and be forgotten. */
	enum { PREEMPTED_NS = 12 * 1000 * 1000, SLACK_NS = 3 * 1000 * 1000 };

	if (bound_ns == UINT64_MAX)
		return delay_ns;
	bound_ns += preempted * PREEMPTED_NS;
	return delay_ns / 5 * 4 <= bound_ns || delay_ns <= bound_ns + SLACK_NS ? delay_ns
									       : bound_ns;
}

uint64_t clock_own_queue_bound(uint64_t ran_ns)
{
	struct load load = {-1, -1};
	int fd = clock_open_own("sched");

	if (fd < 0)
		return UINT64_MAX;
	clock_each_line(fd, take_line, &load);
	sys_close(fd);
	if (load.runnable < 0 || load.running < 0)
		return UINT64_MAX;
	return clock_queue_bound(load.runnable, load.running, ran_ns);
}
