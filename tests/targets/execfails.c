/* SPDX-License-Identifier: Apache-2.0 */
/* Works a little and executes what is no program, in turns: before each one the collector
 * switches its events off, and on again after it. */
#include "target.h"

static volatile uint64_t sink;

int main(int argc, char **argv)
{
	struct budget budget = budget_parse(argc, argv, "3000");
	char *const words[] = {"x", NULL};
	uint64_t seed = 88172645463325252u;

	for (long rounds = 0; budget_left(&budget, rounds); rounds++) {
		seed = churn(seed, 20000 + rounds % 20000);
		sink += seed;
		execv("/", words);
	}
	printf("thread_cpu %.6f\n", cpu_now());
	return 0;
}
