/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads wait while the first one maps, fills and keeps much memory, which a search for lost
 * memory goes through when the process ends.  Prints how long it ran.
 */
#include "target.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

int main(void)
{
	enum { BLOCKS = 400, BLOCK = 1 << 20, SMALL = 200000 };
	static void *kept[BLOCKS + SMALL];
	double begin = wall_now();
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	for (int i = 0; i < BLOCKS; i++)
		kept[i] = memset(malloc(BLOCK), 1, BLOCK);
	for (int i = 0; i < SMALL; i++)
		kept[BLOCKS + i] = malloc(24);
	printf("%.6f\n", wall_now() - begin);
	return kept[0] == NULL;
}
