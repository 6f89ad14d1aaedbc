/* SPDX-License-Identifier: Apache-2.0 */
/*
 * births [blocked]: a program to attach to whose threads make others all the time, which live for
 * some microseconds: by pthread_create with attributes of all kinds, detached ones too, and by
 * thrd_create.  They return, or leave by pthread_exit, and have data with a destructor.  With
 * `blocked` they block all signals and look whether they do.  It ends at a line on stdin, with what
 * went wrong.
 */
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <threads.h>
#include <unistd.h>

enum { MAKERS = 3 };

static _Atomic int ending, blocking;
static _Atomic long made, ran, destroyed, wrong, wrong_masks;
static _Atomic uint64_t sink;
static pthread_key_t key;

static void destroy(void *unused)
{
	(void)unused;
	destroyed++;
}

static void look_at_mask(void)
{
	static const int numbers[] = {SIGTRAP, 63, SIGUSR1};
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	for (int i = 0; i < 3; i++)
		wrong_masks += sigismember(&now, numbers[i]) != blocking;
}

static long live(long word)
{
	ran++;
	pthread_setspecific(key, &key);
	look_at_mask();
	sink += churn((uint64_t)word | 1, word % 5000);
	look_at_mask();
	return word % 1000 + 1;
}

static void *thread(void *argument)
{
	long word = (long)argument, result = live(word);

	if (word % 3 == 0)
		pthread_exit((void *)result);
	return (void *)result;
}

static int c11_thread(void *argument)
{
	return (int)live((long)argument);
}

static void make(long word)
{
	bool detached = word % 5 == 0;
	pthread_attr_t attributes;
	pthread_t id;
	void *result;

	pthread_attr_init(&attributes);
	if (word % 2)
		pthread_attr_setstacksize(&attributes, (size_t)(64 + word % 64) * 1024);
	pthread_attr_setdetachstate(&attributes,
				    detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
	bool failed = pthread_create(&id, word % 7 ? &attributes : NULL, thread, (void *)word);

	pthread_attr_destroy(&attributes);
	made += !failed;
	if (failed || (detached && word % 7))
		usleep(100);
	else if (pthread_join(id, &result) || (long)result != word % 1000 + 1)
		wrong++;
}

static void make_c11(long word)
{
	thrd_t id;
	int result;

	if (thrd_create(&id, c11_thread, (void *)word) != thrd_success)
		return;
	made++;
	wrong += thrd_join(id, &result) != thrd_success || result != word % 1000 + 1;
}

static void *make_all(void *argument)
{
	uint32_t random = (uint32_t)(long)argument;

	while (!ending) {
		random = random * 1664525 + 1013904223;
		long word = (long)(random >> 8);

		if (random >> 31)
			make(word);
		else
			make_c11(word);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t makers[MAKERS];
	sigset_t all;

	blocking = argc > 1 && !strcmp(argv[1], "blocked");
	sigfillset(&all);
	if (blocking)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_key_create(&key, destroy);
	for (long i = 0; i < MAKERS; i++)
		if (pthread_create(&makers[i], NULL, make_all, (void *)(i + 1)))
			return 1;
	puts("ready");
	fflush(stdout);
	getchar();
	ending = 1;
	for (int i = 0; i < MAKERS; i++)
		pthread_join(makers[i], NULL);
	for (int i = 0; i < 10000 && destroyed < made; i++) /* detached ones */
		usleep(1000);
	printf("unborn %ld undestroyed %ld wrong %ld wrong_masks %ld\n", made - ran,
	       made - destroyed, wrong, wrong_masks);
	return 0;
}
