/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searched [calls]: two threads wait while the first one maps, fills and keeps much memory, which a
 * search for lost memory goes through when the process ends.  With calls one of them does not wait,
 * but writes a byte each millisecond.  Prints how long it ran, and how many bytes were written.
 */
#include "target.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

static _Atomic int written;

static void *write_for_ever(void *unused)
{
	int file = open("/dev/null", O_WRONLY);

	for (; write(file, "", 1) == 1; written++)
		usleep(1000);
	return unused;
}

int main(int count, char **arguments)
{
	bool calls = count > 1 && !strcmp(arguments[1], "calls");
	enum { BLOCKS = 400, BLOCK = 1 << 20, SMALL = 200000 };
	static void *kept[BLOCKS + SMALL];
	double begin = wall_now();
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, i && calls ? write_for_ever : wait_for_ever, NULL);
	for (int i = 0; i < BLOCKS; i++)
		kept[i] = memset(malloc(BLOCK), 1, BLOCK);
	for (int i = 0; i < SMALL; i++)
		kept[BLOCKS + i] = malloc(24);
	printf("%.6f %d\n", wall_now() - begin, written);
	return kept[0] == NULL;
}
