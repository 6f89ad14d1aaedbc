/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a, b, c, d do 10, 20, 30 and 40 % of the work, in chunks of random order
 * and length, so that no sampling interval can run in step with them.  What
 * each really used is measured around every chunk.
 */
#include "target.h"

static uint64_t seed = 88172645463325252u;
static volatile uint64_t sink;

#define WORKER(name)                                                                               \
	static NOINLINE void name(long steps)                                                      \
	{                                                                                          \
		sink += churn(seed, steps);                                                        \
	}

WORKER(a)
WORKER(b)
WORKER(c)
WORKER(d)

static uint64_t next_random(void)
{
	seed = churn(seed, 1);
	return seed * 2685821657736338717u >> 33;
}

int main(int argc, char **argv)
{
	static void (*const workers[])(long) = {a, b, c, d};
	double start = wall_now();
	struct budget budget = budget_parse(argc, argv, "3s");
	double used[4] = {0};
	double sum = 0;
	long rounds = 0;

	for (; budget_left(&budget, rounds); rounds++) {
		unsigned dice = next_random() % 10;
		int which = dice < 1 ? 0 : dice < 3 ? 1 : dice < 6 ? 2 : 3;
		double before = cpu_now();

		workers[which](20000 + next_random() % 400000);
		used[which] += cpu_now() - before;
	}
	for (int i = 0; i < 4; i++) {
		printf("%c.cpu %.6f\n", 'a' + i, used[i]);
		sum += used[i];
	}
	for (int i = 0; i < 4; i++)
		printf("%c.share %.6f\n", 'a' + i, used[i] / sum);
	print_usage(start);
	return 0;
}
