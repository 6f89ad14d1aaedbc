/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What locks cost: ns per pair of lock and unlock, ten calls deep, for locks that are free and for
 * one that two threads take by turns.  Prints "name ns".  Argument: pairs of each kind.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 10, ROUNDS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void lock_mutex(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void lock_rwlock(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
}

static void wait_semaphore(long count)
{
	for (long i = 0; i < count; i++) {
		sem_post(&semaphore);
		sem_wait(&semaphore);
	}
}

static void *contend(void *count)
{
	static volatile long work;

	for (long i = 0; i < *(long *)count; i++) {
		pthread_mutex_lock(&contended);
		for (int k = 0; k < 50; k++)
			work = work + 1;
		pthread_mutex_unlock(&contended);
	}
	return NULL;
}

static void lock_contended(long count)
{
	pthread_t other;

	count /= 2;
	pthread_create(&other, NULL, contend, &count);
	contend(&count);
	pthread_join(other, NULL);
}

__attribute__((noinline)) static void call(int depth, void (*work)(long count), long count)
{
	if (depth)
		call(depth - 1, work, count);
	else
		work(count);
	__asm__ volatile(""); /* no tail call */
}

/* The least of some rounds. */
static double measure(void (*work)(long count), long count)
{
	double least = 1e300;

	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_ns();

		call(DEPTH, work, count / ROUNDS);

		double took = (now_ns() - begin) / (double)(count / ROUNDS);

		least = took < least ? took : least;
	}
	return least;
}

static void *idle(void *unused)
{
	static sem_t never;

	sem_init(&never, 0, 0);
	sem_wait(&never);
	return unused;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(long count);
	} kinds[] = {{"mutex", lock_mutex},
		     {"rwlock", lock_rwlock},
		     {"semaphore", wait_semaphore},
		     {"contended", lock_contended}};
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
	pthread_t thread;

	sem_init(&semaphore, 0, 0);
	pthread_create(&thread, NULL, idle,
		       NULL); /* libc must not take the process for one thread */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		printf("%s %ld\n", kinds[i].name, (long)(10 * measure(kinds[i].work, count)));
	return 0;
}
