/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and frees blocks of many sizes, some of them long-lived. */
#include "target.h"

#define SLOTS 4096

static void *slots[SLOTS];

static NOINLINE void replace(uint64_t random)
{
	size_t size = 16 + (random >> 20) % 2000;
	unsigned slot = random % SLOTS;

	free(slots[slot]);
	slots[slot] = malloc(size);
	memset(slots[slot], 1, size < 64 ? size : 64);
}

int main(int argc, char **argv)
{
	double start = wall_now();
	struct budget budget = budget_parse(argc, argv, "3s");
	uint64_t seed = 1;

	for (long rounds = 0; budget_left(&budget, rounds); rounds++)
		for (int i = 0; i < 10000; i++) {
			seed = churn(seed, 1);
			replace(seed * 2685821657736338717u >> 8);
		}
	print_usage(start);
	return 0;
}
