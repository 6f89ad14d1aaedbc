/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads (1000, or the first argument) in waves of 25, of all kinds in turn: with the
 * smallest stack there is, with all signals blocked, with an alternate stack, cancelled while it
 * computes, ended by pthread_exit.  What they say adds up to a number known beforehand.
 */
#include "target.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { WAVE = 25, KINDS = 5 };

static volatile uint64_t sink;
static _Atomic int ran[KINDS], cleaned;

static NOINLINE void work(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sink += churn(sink | 1, 1000);
}

static void *small(void *unused)
{
	(void)unused;
	work(200);
	atomic_fetch_add(&ran[0], 1);
	return NULL;
}

static void *blocked(void *unused)
{
	sigset_t all;

	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	work(200);
	atomic_fetch_add(&ran[1], 1);
	return NULL;
}

static void *with_alternate_stack(void *unused)
{
	stack_t stack = {.ss_sp = malloc((size_t)SIGSTKSZ), .ss_size = (size_t)SIGSTKSZ};
	stack_t none = {.ss_flags = SS_DISABLE};

	(void)unused;
	sigaltstack(&stack, NULL);
	work(200);
	sigaltstack(&none, NULL);
	free(stack.ss_sp);
	atomic_fetch_add(&ran[2], 1);
	return NULL;
}

static void clean(void *unused)
{
	(void)unused;
	atomic_fetch_add(&cleaned, 1);
}

static void *cancelled(void *unused)
{
	pthread_cleanup_push(clean, unused);
	atomic_fetch_add(&ran[3], 1);
	for (;;) {
		work(1);
		pthread_testcancel();
	}
	pthread_cleanup_pop(0);
}

static void *leaving(void *result)
{
	work(200);
	atomic_fetch_add(&ran[4], 1);
	pthread_exit(result);
}

static void *(*const kinds[KINDS])(void *) = {small, blocked, with_alternate_stack, cancelled,
					      leaving};

static int wave(int first)
{
	pthread_t threads[WAVE];
	pthread_attr_t attributes;
	int failures = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
	for (int i = 0; i < WAVE; i++)
		failures += pthread_create(&threads[i], (first + i) % KINDS ? NULL : &attributes,
					   kinds[(first + i) % KINDS], &cleaned) != 0;
	for (int i = 0; i < WAVE; i++) {
		int kind = (first + i) % KINDS;
		void *result = NULL;

		if (kind == 3)
			failures += pthread_cancel(threads[i]) != 0;
		failures += pthread_join(threads[i], &result) != 0;
		failures += result != (kind == 3   ? PTHREAD_CANCELED
				       : kind == 4 ? (void *)&cleaned
						   : NULL);
	}
	return failures;
}

static NOINLINE void summary(int failures)
{
	printf("ran %d %d %d %d\nfailures %d\n", ran[0], ran[1], ran[2], ran[4], failures);
	printf("cleaned as many as began: %d\n", cleaned == ran[3]);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000, failures = 0;

	for (int first = 0; first < count; first += WAVE)
		failures += wave(first);
	summary(failures);
	return 0;
}
