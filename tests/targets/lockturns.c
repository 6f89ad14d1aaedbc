/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of several kinds that go from one thread to a second and a third, while the first one goes
 * on without it.  Prints for each how long the others waited while the first and the second held
 * it, by what each thread saw itself.
 */
#include "target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, tried = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t slept = PTHREAD_MUTEX_INITIALIZER; /* its holder waits for a condition with it */
pthread_mutex_t recursive, inheriting, robust;
pthread_rwlock_t for_writing = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t *mutex; /* NULL: for_writing */
static volatile unsigned sink;

struct turn {
	double asked, got, released;
};
static struct turn first, second, third;
static atomic_bool second_asks;

static void nap(double seconds)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
	sink++;
}

static NOINLINE void held_first(void)
{
	nap(0.15);
	sink++;
}

static NOINLINE void held_second(void)
{
	nap(0.2);
	sink += 2;
}

static NOINLINE void without_it(void)
{
	nap(0.15);
	sink += 3; /* no two functions are the same to the compiler */
}

static void lock(struct turn *turn)
{
	turn->asked = wall_now();
	if (!mutex)
		pthread_rwlock_wrlock(&for_writing);
	else if (mutex != &tried || pthread_mutex_trylock(mutex))
		pthread_mutex_lock(mutex);
	if (mutex == &recursive)
		pthread_mutex_lock(mutex);
	turn->got = wall_now();
}

static void unlock(struct turn *turn)
{
	if (mutex == &recursive)
		pthread_mutex_unlock(mutex);
	turn->released = wall_now();
	if (!mutex)
		pthread_rwlock_unlock(&for_writing);
	else if (mutex != &slept || turn != &first)
		pthread_mutex_unlock(mutex);
	else
		pthread_cond_wait(&condition, mutex);
}

static void *run_second(void *unused)
{
	(void)unused;
	nap(0.03);
	atomic_store(&second_asks, true);
	lock(&second);
	held_second();
	if (mutex == &slept)
		pthread_cond_signal(&condition);
	unlock(&second);
	return NULL;
}

static void *run_third(void *unused)
{
	(void)unused;
	while (!atomic_load(&second_asks))
		nap(0.001);
	nap(0.03);
	lock(&third);
	unlock(&third);
	return NULL;
}

static double overlap(const struct turn *waiter, const struct turn *holder)
{
	double from = waiter->asked > holder->got ? waiter->asked : holder->got;
	double to = waiter->got < holder->released ? waiter->got : holder->released;

	return to > from ? to - from : 0;
}

static void take_turns(const char *name, pthread_mutex_t *which)
{
	pthread_t threads[2];

	mutex = which;
	atomic_store(&second_asks, false);
	lock(&first);
	pthread_create(&threads[0], NULL, run_second, NULL);
	pthread_create(&threads[1], NULL, run_third, NULL);
	held_first();
	unlock(&first);
	if (mutex == &slept)
		pthread_mutex_unlock(mutex);
	without_it();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%s.first %.6f\n", name, overlap(&second, &first) + overlap(&third, &first));
	printf("%s.second %.6f\n", name, overlap(&third, &second) + overlap(&second, &third));
}

static void make(pthread_mutex_t *which, int type, int protocol, int robustness)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, type);
	pthread_mutexattr_setprotocol(&kind, protocol);
	pthread_mutexattr_setrobust(&kind, robustness);
	pthread_mutex_init(which, &kind);
}

int main(void)
{
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	make(&inheriting, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
	take_turns("plain", &plain);
	take_turns("tried", &tried);
	take_turns("slept", &slept);
	take_turns("recursive", &recursive);
	take_turns("inheriting", &inheriting);
	take_turns("robust", &robust);
	take_turns("for_writing", NULL);
	return 0;
}
