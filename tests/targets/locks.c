/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for another thread of every kind.  In each round a second thread holds what the first
 * one asks for, and lets go a while after the first has begun to ask; the two agree by pipes.
 * Prints for each kind how many calls waited and for how long, as the caller saw it, and
 * how many calls of that kind were made in all, for each kind also many that need not wait.
 *
 * Arguments: rounds, ms held in each, calls of each kind that need not wait.
 */
#include "target.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <threads.h>

/* Not static: they are to be found by name. */
pthread_mutex_t the_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t timed_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t read_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t write_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_cond_t late_condition = PTHREAD_COND_INITIALIZER;
pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_spinlock_t spin;
pthread_barrier_t barrier;
sem_t semaphore;
mtx_t c11_mutex;
_Atomic uint32_t futex_word;
static bool signalled;
static pthread_mutex_t *heap_mutex;
static pthread_mutex_t *stack_mutex;
static pthread_t joined;

static int ask[2], held[2];
static double hold_s;

static void say(int *pipe)
{
	if (write(pipe[1], "", 1) != 1)
		abort();
}

static void hear(int *pipe)
{
	char byte;

	if (read(pipe[0], &byte, 1) != 1)
		abort();
}

static void doze(void)
{
	struct timespec time = {.tv_sec = (time_t)hold_s,
				.tv_nsec = (long)((hold_s - (double)(time_t)hold_s) * 1e9)};

	nanosleep(&time, NULL);
}

static struct timespec deadline(clockid_t clock, double seconds)
{
	double time = clock_seconds(clock) + seconds;

	return (struct timespec){.tv_sec = (time_t)time,
				 .tv_nsec = (long)((time - (double)(time_t)time) * 1e9)};
}

static void futex(int operation, uint32_t value)
{
	syscall(SYS_futex, &futex_word, operation, value, NULL, NULL, 0);
}

static void *sleep_and_end(void *unused)
{
	doze();
	return unused;
}

/* What each kind does: take and give are the second thread's; wait the first one's, free its own
 * way back. */
#define KINDS(X)                                                                                   \
	X(mutex, pthread_mutex_lock(&the_mutex), pthread_mutex_unlock(&the_mutex),                 \
	  pthread_mutex_lock(&the_mutex), pthread_mutex_unlock(&the_mutex))                        \
	X(timedmutex, pthread_mutex_lock(&timed_mutex), pthread_mutex_unlock(&timed_mutex),        \
	  pthread_mutex_clocklock(&timed_mutex, CLOCK_MONOTONIC, &far),                            \
	  pthread_mutex_unlock(&timed_mutex))                                                      \
	X(heapmutex, pthread_mutex_lock(heap_mutex), pthread_mutex_unlock(heap_mutex),             \
	  pthread_mutex_lock(heap_mutex), pthread_mutex_unlock(heap_mutex))                        \
	X(stackmutex, pthread_mutex_lock(stack_mutex), pthread_mutex_unlock(stack_mutex),          \
	  pthread_mutex_lock(stack_mutex), pthread_mutex_unlock(stack_mutex))                      \
	X(c11mutex, mtx_lock(&c11_mutex), mtx_unlock(&c11_mutex), mtx_lock(&c11_mutex),            \
	  mtx_unlock(&c11_mutex))                                                                  \
	X(read, pthread_rwlock_wrlock(&read_lock), pthread_rwlock_unlock(&read_lock),              \
	  pthread_rwlock_rdlock(&read_lock), pthread_rwlock_unlock(&read_lock))                    \
	X(write, pthread_rwlock_rdlock(&write_lock), pthread_rwlock_unlock(&write_lock),           \
	  pthread_rwlock_wrlock(&write_lock), pthread_rwlock_unlock(&write_lock))                  \
	X(spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin), pthread_spin_lock(&spin),    \
	  pthread_spin_unlock(&spin))                                                              \
	X(semaphore, (void)0, sem_post(&semaphore), sem_wait(&semaphore), (void)0)                 \
	X(barrier, (void)0, pthread_barrier_wait(&barrier), pthread_barrier_wait(&barrier),        \
	  (void)0)                                                                                 \
	X(condition, (void)0, signal_condition(), wait_for_condition(), (void)0)                   \
	X(futex, atomic_store(&futex_word, 1), release_futex(), wait_for_futex(), (void)0)         \
	X(join, (void)0, (void)0, join_one(), (void)0)                                             \
	X(timeout, (void)0, (void)0, wait_in_vain(), (void)0)

static void signal_condition(void)
{
	pthread_mutex_lock(&condition_mutex);
	signalled = true;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&condition_mutex);
}

static void wait_for_condition(void)
{
	pthread_mutex_lock(&condition_mutex);
	while (!signalled)
		pthread_cond_wait(&condition, &condition_mutex);
	signalled = false;
	pthread_mutex_unlock(&condition_mutex);
}

static void wait_in_vain(void)
{
	struct timespec soon = deadline(CLOCK_REALTIME, hold_s);

	pthread_mutex_lock(&condition_mutex);
	if (pthread_cond_timedwait(&late_condition, &condition_mutex, &soon) != ETIMEDOUT)
		abort();
	pthread_mutex_unlock(&condition_mutex);
}

static void release_futex(void)
{
	atomic_store(&futex_word, 0);
	futex(FUTEX_WAKE_PRIVATE, 1);
}

static void wait_for_futex(void)
{
	while (atomic_load(&futex_word))
		futex(FUTEX_WAIT_PRIVATE, 1);
}

static void join_one(void)
{
	pthread_create(&joined, NULL, sleep_and_end, NULL);
	pthread_join(joined, NULL);
}

/* The second thread. */
static int rounds;

#define X(name, take, give, wait, free)                                                            \
	static void hold_##name(void)                                                              \
	{                                                                                          \
		take;                                                                              \
		say(held);                                                                         \
		hear(ask);                                                                         \
		doze();                                                                            \
		give;                                                                              \
		hear(ask);                                                                         \
	}
KINDS(X)
#undef X

static void *second(void *unused)
{
#define X(name, take, give, wait, free)                                                            \
	for (int i = 0; i < rounds; i++)                                                           \
		hold_##name();
	KINDS(X)
#undef X
	return unused;
}

#define X(name, take, give, wait, free)                                                            \
	NOINLINE static double wait_##name(void)                                                   \
	{                                                                                          \
		struct timespec far = deadline(CLOCK_MONOTONIC, 1000);                             \
		double begin;                                                                      \
                                                                                                   \
		(void)far;                                                                         \
		hear(held);                                                                        \
		say(ask);                                                                          \
		begin = wall_now();                                                                \
		wait;                                                                              \
		begin = wall_now() - begin;                                                        \
		free;                                                                              \
		say(ask);                                                                          \
		return begin;                                                                      \
	}
KINDS(X)
#undef X

/* Calls that need not wait. */
NOINLINE static void call_mutex(long calls)
{
	for (long i = 0; i < calls; i++) {
		pthread_mutex_lock(&the_mutex);
		pthread_mutex_unlock(&the_mutex);
	}
}

NOINLINE static void call_others(long calls)
{
	for (long i = 0; i < calls; i++) {
		pthread_rwlock_rdlock(&read_lock);
		pthread_rwlock_unlock(&read_lock);
		pthread_rwlock_wrlock(&write_lock);
		pthread_rwlock_unlock(&write_lock);
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
		sem_post(&semaphore);
		sem_wait(&semaphore);
		mtx_lock(&c11_mutex);
		mtx_unlock(&c11_mutex);
	}
}

int main(int argc, char **argv)
{
	long calls = argc > 3 ? atol(argv[3]) : 1000;
	pthread_mutex_t on_stack = PTHREAD_MUTEX_INITIALIZER;
	pthread_t other;

	rounds = argc > 1 ? atoi(argv[1]) : 3;
	hold_s = (argc > 2 ? atof(argv[2]) : 10) / 1e3;
	heap_mutex = malloc(sizeof(*heap_mutex));
	pthread_mutex_init(heap_mutex, NULL);
	stack_mutex = &on_stack;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11_mutex, mtx_plain);
	if (pipe(ask) || pipe(held))
		abort();
	printf("heapmutex.address %ld\n", (long)heap_mutex);
	call_mutex(calls);
	call_others(calls);
	pthread_create(&other, NULL, second, NULL);
#define X(name, take, give, wait, free)                                                            \
	{                                                                                          \
		double waited = 0;                                                                 \
                                                                                                   \
		for (int i = 0; i < rounds; i++)                                                   \
			waited += wait_##name();                                                   \
		printf(#name ".waited %.6f\n", waited);                                            \
	}
	KINDS(X)
#undef X
	pthread_join(other, NULL);
	return 0;
}
