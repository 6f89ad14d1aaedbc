/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that compute for 50 ms each of their own CPU time: `ended` ends; `<b> & "c"` still waits
 * when the program ends; one is named by its maker, `by maker`, and renames itself `at last`; one
 * has what it inherits; one has bytes that are no text.  "attach" waits for a line first.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORK_NS = 50000000 };

static pthread_barrier_t worked;

static void work(void)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec * 1000000000L + now.tv_nsec < WORK_NS);
}

static void *ended(void *unused)
{
	pthread_setname_np(pthread_self(), "ended");
	work();
	return NULL;
}

static void *stays(void *name)
{
	if (name)
		pthread_setname_np(pthread_self(), name);
	work();
	pthread_barrier_wait(&worked);
	pause();
	return NULL;
}

static void *renames(void *unused)
{
	pthread_barrier_wait(&worked); /* it is named by now */
	work();
	pthread_setname_np(pthread_self(), "at last");
	return NULL;
}

int main(int count, char **arguments)
{
	static char *const names[] = {"<b> & \"c\"", NULL, "\xff\x1b[1m"};
	pthread_t one, two, rest;
	bool attached = count > 1 && !strcmp(arguments[1], "attach");

	if (attached) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	pthread_barrier_init(&worked, NULL, 2);
	pthread_create(&one, NULL, ended, NULL);
	pthread_join(one, NULL);
	pthread_create(&two, NULL, renames, NULL);
	pthread_setname_np(two, "by maker");
	pthread_barrier_wait(&worked);
	pthread_join(two, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_create(&rest, NULL, stays, names[i]);
		pthread_barrier_wait(&worked);
	}
	if (attached) {
		puts("done");
		fflush(stdout);
		getchar();
	}
	return 0;
}
