/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates in changing states of OpenMP: of each ROUNDS blocks one half is kept by a global array,
 * and no pointer is left to the other.
 */
#include "target.h"

enum { REGIONS = 4, TURNS = 25, THREADS = 2, ROUNDS = REGIONS * TURNS * THREADS };

static void *volatile kept[ROUNDS];
static _Atomic int count;

static NOINLINE void *site_kept(void)
{
	return malloc(70);
}

static NOINLINE void site_lost(void)
{
	void *block = malloc(1000);

	__asm__ volatile("" : "+r"(block) : : "memory");
}

int main(void)
{
	for (int region = 0; region < REGIONS; region++)
#pragma omp parallel num_threads(THREADS)
		for (int turn = 0; turn < TURNS; turn++) {
			site_lost();
#pragma omp barrier
#pragma omp critical
			kept[count++] = site_kept();
		}
	printf("%d\n", count);
	return 0;
}
