/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execfails [BUDGET] [unshare]: works a little and executes what is no program, in turns, or makes
 * its table of descriptors its own: before each one the collector switches its events off, and on
 * again after it.
 */
#include "target.h"

#include <sched.h>
#include <stdbool.h>

static volatile uint64_t sink;

int main(int argc, char **argv)
{
	struct budget budget = budget_parse(argc, argv, "3000");
	bool moves = argc > 2 && !strcmp(argv[2], "unshare");
	char *const words[] = {"x", NULL};
	uint64_t seed = 88172645463325252u;

	for (long rounds = 0; budget_left(&budget, rounds); rounds++) {
		seed = churn(seed, 20000 + rounds % 20000);
		sink += seed;
		if (moves)
			unshare(CLONE_FILES);
		else
			execv("/", words);
	}
	printf("thread_cpu %.6f\n", cpu_now());
	return 0;
}
