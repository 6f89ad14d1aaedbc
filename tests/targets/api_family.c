/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API and new processes, 0.1 s of CPU time each: a child forked while paused
 * (nothing of it is recorded), one that resumes for itself, a child forked
 * after the end of the recording, and a program executed then.
 */
#include "target.h"

#include <heliometer/collectorAPI.h>

#include <sys/wait.h>

static volatile uint64_t sink;

#define WORKER(name)                                                                               \
	static NOINLINE void name(void)                                                            \
	{                                                                                          \
		for (double end = cpu_now() + 0.1; cpu_now() < end;)                               \
			sink += churn(sink + __COUNTER__, 50000);                                  \
	}

WORKER(paused_child)
WORKER(resumed_child)
WORKER(resumed_parent)
WORKER(child_after_end)
WORKER(executed)

static void in_child(void (*work)(void), int resume)
{
	pid_t child = fork();

	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	if (resume)
		collector_resume();
	work();
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		executed();
		return 0;
	}
	collector_pause();
	in_child(paused_child, 0);
	in_child(resumed_child, 1);
	collector_resume();
	resumed_parent();
	collector_terminate_expt();
	collector_terminate_expt();
	in_child(child_after_end, 1);
	execl(argv[0], argv[0], "executed", (char *)NULL);
	return 1;
}
