/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three times: two threads switch to and fro as fast as they can for a moment, and while they
 * do another begins to wait, for 0.7 s, in long_wait; afterwards it waits shortly elsewhere.
 * Of the two one has a stack so large that libc unmaps it, with its thread-local variables, as
 * soon as it ends.
 */
#include "target.h"

#include <poll.h>
#include <pthread.h>

enum { BURSTS = 3, ROUNDS = 1500, LARGE = 64 << 20 };

static int there[2], back[2];
static double waited;

static NOINLINE void long_wait(void)
{
	double start = wall_now();

	poll(NULL, 0, 700);
	waited += wall_now() - start;
}

static NOINLINE void short_wait(void)
{
	const struct timespec time = {0, 3000000};

	nanosleep(&time, NULL);
}

static void *echo(void *argument)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return argument;
}

static void *call(void *argument)
{
	char byte = 'x';

	for (int i = 0; i < ROUNDS; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			break;
	return argument;
}

static void *wait_long(void *argument)
{
	for (int i = 0; i < 5; i++)
		short_wait();
	long_wait();
	short_wait();
	return argument;
}

int main(void)
{
	pthread_t thread, caller, waiter;
	pthread_attr_t large;

	pthread_attr_init(&large);
	pthread_attr_setstacksize(&large, LARGE);
	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, echo, NULL))
		return 1;
	for (int i = 0; i < BURSTS; i++) {
		if (pthread_create(&caller, &large, call, NULL) ||
		    pthread_create(&waiter, NULL, wait_long, NULL))
			return 1;
		pthread_join(caller, NULL);
		pthread_join(waiter, NULL);
	}
	printf("long_wait %.6f\n", waited);
	return 0;
}
