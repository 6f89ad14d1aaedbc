/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursion (200 deep, or the second argument) with the work at its leaf.
 * The stack goes down and up again all the time: one round is one descent.
 */
#include "target.h"

static NOINLINE uint64_t leaf(uint64_t seed)
{
	return churn(seed, 20000);
}

static NOINLINE uint64_t descend(uint64_t seed, long depth)
{
	uint64_t result = depth > 1 ? descend(seed + 1, depth - 1) : leaf(seed);

	__asm__ volatile("" : "+r"(result)); /* keeps the call from becoming a jump */
	return result + 1;
}

int main(int argc, char **argv)
{
	double start = wall_now();
	struct budget budget = budget_parse(argc, argv, "3s");
	long depth = argc > 2 ? strtol(argv[2], NULL, 10) : 200;
	uint64_t seed = 1;
	long rounds = 0;

	for (; budget_left(&budget, rounds); rounds++)
		seed = descend(seed, depth);
	printf("depth %ld\nresult %llu\n", depth, (unsigned long long)seed);
	print_usage(start);
	return 0;
}
