/* SPDX-License-Identifier: Apache-2.0 */
/* 10,000 frames deep (or the second argument), working at every level: beyond any depth limit. */
#include "target.h"

static NOINLINE uint64_t descend(uint64_t seed, long depth)
{
	uint64_t result = churn(seed, 50);

	if (depth > 1)
		result = descend(result, depth - 1);
	__asm__ volatile("" : "+r"(result));
	return churn(result, 50);
}

int main(int argc, char **argv)
{
	double start = wall_now();
	struct budget budget = budget_parse(argc, argv, "1s");
	long depth = argc > 2 ? strtol(argv[2], NULL, 10) : 10000;
	uint64_t seed = 1;
	long rounds = 0;

	for (; budget_left(&budget, rounds); rounds++)
		seed = descend(seed, depth);
	printf("depth %ld\nresult %llu\n", depth, (unsigned long long)seed);
	print_usage(start);
	return 0;
}
