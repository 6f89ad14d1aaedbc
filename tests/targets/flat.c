/* SPDX-License-Identifier: Apache-2.0 */
/* One function, one loop: what a profiler costs a program that only computes. */
#include "target.h"

static NOINLINE uint64_t spin(uint64_t seed)
{
	return churn(seed, 500000);
}

int main(int argc, char **argv)
{
	double start = wall_now();
	struct budget budget = budget_parse(argc, argv, "3s");
	uint64_t seed = 1;
	long rounds = 0;

	for (; budget_left(&budget, rounds); rounds++)
		seed = spin(seed);
	printf("rounds %ld\nresult %llu\n", rounds, (unsigned long long)seed);
	print_usage(start);
	return 0;
}
