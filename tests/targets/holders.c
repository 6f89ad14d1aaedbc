/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that two threads wait for while another one computes with it, and then one while another
 * one sleeps with it.  Prints for how long each was waited for, as the waiters saw it.
 */
#include "target.h"

#include <pthread.h>

pthread_mutex_t the_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static volatile uint64_t sink;

static NOINLINE void compute_with_it(void)
{
	double end = wall_now() + 0.3;

	while (wall_now() < end)
		sink += churn(sink | 1, 10000);
}

static NOINLINE void sleep_with_it(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	sink++;
}

static NOINLINE void compute_without(void)
{
	double end = wall_now() + 0.1;

	while (wall_now() < end)
		sink += churn(sink | 1, 10000);
}

/* Held for reading by the first thread: nobody notes who that is. */
pthread_rwlock_t the_rwlock = PTHREAD_RWLOCK_INITIALIZER;

static NOINLINE void nap_with_it(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	sink++;
}

static void *wait_to_write(void *waited)
{
	double begin = wall_now();

	pthread_rwlock_wrlock(&the_rwlock);
	*(double *)waited = wall_now() - begin;
	pthread_rwlock_unlock(&the_rwlock);
	return NULL;
}

static double read_against_writer(void)
{
	pthread_t thread;
	double waited = 0;

	pthread_rwlock_rdlock(&the_rwlock);
	pthread_create(&thread, NULL, wait_to_write, &waited);
	nap_with_it();
	pthread_rwlock_unlock(&the_rwlock);
	pthread_join(thread, NULL);
	return waited;
}

static void *wait_for_it(void *waited)
{
	pthread_barrier_wait(&start);
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);

	double begin = wall_now();

	pthread_mutex_lock(&the_mutex);
	*(double *)waited = wall_now() - begin;
	pthread_mutex_unlock(&the_mutex);
	return NULL;
}

static double hold_against(int waiters, void (*hold)(void))
{
	double waited[2] = {0};
	pthread_t threads[2];

	pthread_barrier_init(&start, NULL, (unsigned)waiters + 1);
	for (int i = 0; i < waiters; i++)
		pthread_create(&threads[i], NULL, wait_for_it, &waited[i]);
	pthread_mutex_lock(&the_mutex);
	pthread_barrier_wait(&start);
	hold();
	pthread_mutex_unlock(&the_mutex);
	compute_without();
	for (int i = 0; i < waiters; i++)
		pthread_join(threads[i], NULL);
	return waited[0] + waited[1];
}

int main(void)
{
	printf("computing %.6f\n", hold_against(2, compute_with_it));
	printf("sleeping %.6f\n", hold_against(1, sleep_with_it));
	double napping = 0;

	for (int i = 0; i < 4; i++)
		napping += hold_against(1, nap_with_it);
	printf("napping %.6f\n", napping);
	printf("reading %.6f\n", read_against_writer());
	return 0;
}
