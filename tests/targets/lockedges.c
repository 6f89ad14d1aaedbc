/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls that wait do at their edges: errors, errno, deadlines that make no sense, robust and
 * recursive locks, signals, cancellation, and handlers that never return.  Prints every result;
 * whoever stands between the program and its C library must not change a word.
 *
 * At the end waits that are counted: `wait_after` waits as often in vain as its last line says.
 */
#include "target.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <threads.h>

enum { ERRNO_BEFORE = 1234, LEFT = 5, AFTER = 4 };

#define SHOW(call)                                                                                 \
	do {                                                                                       \
		errno = ERRNO_BEFORE;                                                              \
		int result_ = (call);                                                              \
		printf("%s: %d, errno %d\n", #call, result_, errno);                               \
	} while (0)

static const struct timespec past = {.tv_sec = 1};
static const struct timespec bad = {.tv_sec = 1, .tv_nsec = 2000000000};

static struct timespec soon(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += 5 * 1000 * 1000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

static pthread_mutex_t make_mutex(int type, int robust)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutex_init(&mutex, &attributes);
	return mutex;
}

static void mutexes(void)
{
	pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t checking = make_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	pthread_mutex_t recursive = make_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	struct timespec later = soon(CLOCK_MONOTONIC);

	SHOW(pthread_mutex_lock(&plain));
	SHOW(pthread_mutex_timedlock(&plain, &past));
	SHOW(pthread_mutex_timedlock(&plain, &bad));
	SHOW(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &later));
	SHOW(pthread_mutex_clocklock(&plain, CLOCK_THREAD_CPUTIME_ID, &later));
	SHOW(pthread_mutex_trylock(&plain));
	SHOW(pthread_mutex_unlock(&plain));
	SHOW(pthread_mutex_timedlock(&plain, &bad)); /* free: the deadline does not matter */
	SHOW(pthread_mutex_unlock(&plain));
	SHOW(pthread_mutex_lock(&checking));
	SHOW(pthread_mutex_lock(&checking));
	SHOW(pthread_mutex_unlock(&checking));
	SHOW(pthread_mutex_unlock(&checking));
	SHOW(pthread_mutex_lock(&recursive));
	SHOW(pthread_mutex_lock(&recursive));
	SHOW(pthread_mutex_unlock(&recursive));
	SHOW(pthread_mutex_unlock(&recursive));
	SHOW(pthread_mutex_unlock(&recursive));
}

static void *lock_and_end(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static void orphans(void)
{
	pthread_mutex_t robust = make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	pthread_t thread;

	pthread_create(&thread, NULL, lock_and_end, &robust);
	SHOW(pthread_join(thread, NULL));
	SHOW(pthread_mutex_lock(&robust));
	SHOW(pthread_mutex_consistent(&robust));
	SHOW(pthread_mutex_unlock(&robust));
	pthread_create(&thread, NULL, lock_and_end, &robust);
	SHOW(pthread_join(thread, NULL));
	SHOW(pthread_mutex_lock(&robust));
	SHOW(pthread_mutex_unlock(&robust));
	SHOW(pthread_mutex_lock(&robust));
}

static void rwlocks(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec later = soon(CLOCK_MONOTONIC);

	SHOW(pthread_rwlock_rdlock(&lock));
	SHOW(pthread_rwlock_rdlock(&lock));
	SHOW(pthread_rwlock_timedwrlock(&lock, &past));
	SHOW(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &later));
	SHOW(pthread_rwlock_unlock(&lock));
	SHOW(pthread_rwlock_unlock(&lock));
	SHOW(pthread_rwlock_wrlock(&lock));
	SHOW(pthread_rwlock_wrlock(&lock));
	SHOW(pthread_rwlock_rdlock(&lock));
	SHOW(pthread_rwlock_timedrdlock(&lock, &bad));
	SHOW(pthread_rwlock_unlock(&lock));
	SHOW(pthread_rwlock_timedrdlock(&lock, &bad));
}

static void semaphores(void)
{
	struct timespec later = soon(CLOCK_REALTIME);
	sem_t semaphore;

	sem_init(&semaphore, 0, 2);
	SHOW(sem_wait(&semaphore));
	SHOW(sem_timedwait(&semaphore, &bad));
	SHOW(sem_timedwait(&semaphore, &past));
	SHOW(sem_timedwait(&semaphore, &later));
	SHOW(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past));
	SHOW(sem_trywait(&semaphore));
}

static void c11(void)
{
	struct timespec later = soon(CLOCK_REALTIME);
	mtx_t mutex;
	cnd_t condition;

	mtx_init(&mutex, mtx_timed);
	cnd_init(&condition);
	SHOW(mtx_lock(&mutex));
	SHOW(mtx_trylock(&mutex));
	SHOW(mtx_timedlock(&mutex, &past));
	SHOW(cnd_timedwait(&condition, &mutex, &later));
	SHOW(mtx_unlock(&mutex));
}

/* The version of a program that was linked before glibc 2.3.2: it puts the condition elsewhere. */
int old_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time);
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");

static void old_condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec later = soon(CLOCK_REALTIME);

	pthread_mutex_lock(&mutex);
	SHOW(old_timedwait(&condition, &mutex, &later));
	pthread_mutex_unlock(&mutex);
	printf("elsewhere %d\n", *(uintptr_t *)&condition > 4096);
}

static void others(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	pthread_barrier_t barrier;
	uint32_t word = 1;
	struct timespec short_time = {.tv_nsec = 1000000};

	pthread_mutex_lock(&mutex);
	SHOW(pthread_cond_timedwait(&condition, &mutex, &past));
	SHOW(pthread_cond_timedwait(&condition, &mutex, &bad));
	pthread_mutex_unlock(&mutex);
	pthread_barrier_init(&barrier, NULL, 1);
	SHOW(pthread_barrier_wait(&barrier));
	SHOW((int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0));
	SHOW((int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &short_time, NULL, 0));
	SHOW((int)syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	SHOW((int)syscall(SYS_futex, NULL, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	SHOW(pthread_tryjoin_np(pthread_self(), NULL));
	SHOW(pthread_join(pthread_self(), NULL));
}

/* ---- signals ---- */

static sem_t never, handled;
static sigjmp_buf back;
static volatile sig_atomic_t leaves;
static pthread_mutex_t handlers_mutex = PTHREAD_MUTEX_INITIALIZER;

static void on_alarm(int signal)
{
	pthread_mutex_lock(&handlers_mutex); /* nobody else uses it */
	pthread_mutex_unlock(&handlers_mutex);
	sem_post(&handled);
	sem_wait(&handled);
	if (leaves)
		siglongjmp(back, 1);
}

static void alarm_in_a_moment(void)
{
	const struct itimerspec once = {.it_value = {.tv_nsec = 3000000}};
	static timer_t timer;
	static int made;

	if (!made++)
		timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &once, NULL);
}

static void interrupted(void)
{
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &action, NULL);
	alarm_in_a_moment();
	SHOW(sem_wait(&never));
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	leaves = 1;
	for (volatile int i = 0; i < LEFT; i++) {
		alarm_in_a_moment();
		if (!sigsetjmp(back, 1))
			sem_wait(&never);
	}
	leaves = 0;
	printf("left %d waits\n", LEFT);
}

/* ---- cancellation ---- */

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t forever = PTHREAD_COND_INITIALIZER;
static _Atomic int cleaned;

static void unlock_shared(void *unused)
{
	atomic_fetch_add(&cleaned, 1);
	pthread_mutex_unlock(&shared);
}

static void *wait_in_condition(void *unused)
{
	pthread_mutex_lock(&shared);
	pthread_cleanup_push(unlock_shared, NULL);
	for (;;)
		pthread_cond_wait(&forever, &shared);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *wait_in_semaphore(void *unused)
{
	sem_wait(&never);
	return NULL;
}

static void *wait_in_join(void *thread)
{
	pthread_join(*(pthread_t *)thread, NULL);
	return NULL;
}

/* A pending cancellation takes effect even where nothing has to be waited for. */
static void *wait_for_nothing(void *unused)
{
	sem_t free_one;

	sem_init(&free_one, 0, 1);
	pthread_cancel(pthread_self());
	sem_wait(&free_one);
	return (void *)1;
}

static void cancelled(void)
{
	static void *(*const routines[])(void *) = {wait_in_condition, wait_in_semaphore,
						    wait_in_join, wait_for_nothing};
	pthread_t self = pthread_self(), thread;
	const struct timespec moment = {.tv_nsec = 3000000};
	void *value;

	for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++) {
		pthread_create(&thread, NULL, routines[i], &self);
		nanosleep(&moment, NULL);
		pthread_cancel(thread);
		SHOW(pthread_join(thread, &value));
		printf("cancelled %d\n", value == PTHREAD_CANCELED);
	}
	printf("cleaned %d\n", atomic_load(&cleaned));
	SHOW(pthread_mutex_lock(&shared));
}

/* What is waited for after all this is recorded as if nothing had been. */
NOINLINE static void wait_after(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < AFTER; i++) {
		struct timespec time = soon(CLOCK_REALTIME);

		pthread_cond_timedwait(&condition, &mutex, &time);
	}
	pthread_mutex_unlock(&mutex);
}

static void *in_another_thread(void *unused)
{
	wait_after();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	sem_init(&never, 0, 0);
	sem_init(&handled, 0, 0);
	mutexes();
	orphans();
	rwlocks();
	semaphores();
	c11();
	old_condition();
	others();
	interrupted();
	cancelled();
	wait_after();
	pthread_create(&thread, NULL, in_another_thread, NULL); /* has a cancelled one's state */
	pthread_join(thread, NULL);
	printf("after %d\n", 2 * AFTER);
	return 0;
}
