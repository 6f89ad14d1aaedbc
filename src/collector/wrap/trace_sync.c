/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that may wait for another thread: POSIX threads, semaphores, C11 threads.  C++'s classes
 * use these.
 *
 * A lock that is free is taken by the function that tries, so where only waits of a certain length
 * are asked for it costs some ns more than without us.  Only where that fails the clock
 * is read before and after.  Always timed are calls with a deadline, some of which refuse a bad one
 * before they look at the lock, and mutexes that are robust (a try may leave one locked that nobody
 * can ever have) or know priorities.
 *
 * Of the functions for conditions glibc has two versions: before 2.3.2 a condition was another
 * structure.  Each has its wrapper.
 *
 * The owner of a lock is read where glibc keeps it, a moment before the call; and so is whether
 * others wait for a lock that is about to be released, which its holder alone may do.
 */
#include "collector/core/next_functions.h"
#include "collector/sources/sync.h"
#include "collector/storage/recording.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#define SYNC_FUNCTIONS(X)                                                                          \
	X(pthread_mutex_lock, (pthread_mutex_t *))                                                 \
	X(pthread_mutex_trylock, (pthread_mutex_t *))                                              \
	X(pthread_mutex_unlock, (pthread_mutex_t *))                                               \
	X(pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *))                   \
	X(pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *))        \
	X(pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                                \
	X(pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))  \
	X(old_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                                    \
	X(old_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))      \
	X(pthread_cond_clockwait,                                                                  \
	  (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))               \
	X(pthread_rwlock_rdlock, (pthread_rwlock_t *))                                             \
	X(pthread_rwlock_unlock, (pthread_rwlock_t *))                                             \
	X(pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                                          \
	X(pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *))               \
	X(pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))    \
	X(pthread_rwlock_wrlock, (pthread_rwlock_t *))                                             \
	X(pthread_rwlock_trywrlock, (pthread_rwlock_t *))                                          \
	X(pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *))               \
	X(pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))    \
	X(pthread_spin_lock, (pthread_spinlock_t *))                                               \
	X(pthread_spin_trylock, (pthread_spinlock_t *))                                            \
	X(pthread_barrier_wait, (pthread_barrier_t *))                                             \
	X(pthread_join, (pthread_t, void **))                                                      \
	X(pthread_tryjoin_np, (pthread_t, void **))                                                \
	X(pthread_timedjoin_np, (pthread_t, void **, const struct timespec *))                     \
	X(pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *))          \
	X(sem_wait, (sem_t *))                                                                     \
	X(sem_trywait, (sem_t *))                                                                  \
	X(sem_timedwait, (sem_t *, const struct timespec *))                                       \
	X(sem_clockwait, (sem_t *, clockid_t, const struct timespec *))                            \
	X(mtx_lock, (mtx_t *))                                                                     \
	X(mtx_trylock, (mtx_t *))                                                                  \
	X(mtx_unlock, (mtx_t *))                                                                   \
	X(mtx_timedlock, (mtx_t *, const struct timespec *))                                       \
	X(cnd_wait, (cnd_t *, mtx_t *))                                                            \
	X(cnd_timedwait, (cnd_t *, mtx_t *, const struct timespec *))                              \
	X(thrd_join, (thrd_t, int *))

static struct {
#define X(name, parameters) int(*name) parameters;
	SYNC_FUNCTIONS(X)
#undef X
} next;

static void take(void *pointer, void *symbol)
{
	/* A symbol is a void *; memcpy is the conversion that C allows. */
	if (symbol)
		memcpy(pointer, &symbol, sizeof(symbol));
}

NEXT_CONSTRUCTOR static void resolve(void)
{
#define X(name, parameters) take(&next.name, next_symbol(#name));
	SYNC_FUNCTIONS(X)
#undef X
	take(&next.pthread_cond_wait, next_symbol_version("pthread_cond_wait", "GLIBC_2.3.2"));
	take(&next.pthread_cond_timedwait,
	     next_symbol_version("pthread_cond_timedwait", "GLIBC_2.3.2"));
	take(&next.old_cond_wait, next_symbol_version("pthread_cond_wait", "GLIBC_2.2.5"));
	take(&next.old_cond_timedwait,
	     next_symbol_version("pthread_cond_timedwait", "GLIBC_2.2.5"));
	next_forget_failures();
}

int old_cond_wait(pthread_cond_t *object, pthread_mutex_t *mutex);
int old_cond_timedwait(pthread_cond_t *object, pthread_mutex_t *mutex,
		       const struct timespec *deadline);
__asm__(".symver pthread_cond_wait, pthread_cond_wait@@GLIBC_2.3.2, remove");
__asm__(".symver pthread_cond_timedwait, pthread_cond_timedwait@@GLIBC_2.3.2, remove");
__asm__(".symver old_cond_wait, pthread_cond_wait@GLIBC_2.2.5, remove");
__asm__(".symver old_cond_timedwait, pthread_cond_timedwait@GLIBC_2.2.5, remove");

/* A wrapper that is called before the constructor looks them up itself. */
#define NEXT_SYNC(name) (*(next.name ? 0 : (resolve(), 0), &next.name))

/* ---- who holds it ---- */

static uint64_t mutex_owner(const pthread_mutex_t *mutex)
{
	return (uint64_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}

/* Of glibc's kinds of mutexes those with a protocol of their own. */
enum { ROBUST = 16, INHERITS = 32, PROTECTS = 64 };

/* Normal, recursive, error checking, adaptive. */
static bool mutex_is_simple(const pthread_mutex_t *mutex)
{
	return !(mutex->__data.__kind & (ROBUST | INHERITS | PROTECTS));
}

static uint64_t c11_owner(const mtx_t *mutex)
{
	return mutex_owner((const pthread_mutex_t *)mutex);
}

static uint64_t writer(const pthread_rwlock_t *lock)
{
	return (uint64_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}

static uint64_t thread_id(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) ? 0 : (uint64_t) ~(clock >> 3);
}

static bool always(const volatile void *object)
{
	(void)object;
	return true;
}

static uint64_t nobody(const volatile void *object)
{
	(void)object;
	return 0;
}

/* ---- who waits for it ---- */

/* Of a mutex that the caller holds, and lets go of now: the inner ones of a recursive one do not.
 */
static bool mutex_is_waited_for(const pthread_mutex_t *mutex)
{
	enum { TYPE = 3, CEILING = 0xfff80000 };
	unsigned word = (unsigned)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
	int kind = __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);

	if ((kind & TYPE) == PTHREAD_MUTEX_RECURSIVE && mutex->__data.__count > 1)
		return false;
	if (kind & (ROBUST | INHERITS))
		return word & FUTEX_WAITERS;
	/* 0: free, 1: locked, 2: and somebody may sleep */
	return (kind & PROTECTS ? word & ~(unsigned)CEILING : word) > 1;
}

static bool c11_is_waited_for(const mtx_t *mutex)
{
	return mutex_is_waited_for((const pthread_mutex_t *)mutex);
}

/*
 * Only of a writer it is known that it is the holder.  Readers that wait are counted; a writer that
 * sleeps marks the word that it sleeps on.
 */
static bool rwlock_is_waited_for(const pthread_rwlock_t *lock)
{
	enum { READER_SHIFT = 3, FUTEX_USED = 2 };

	return writer(lock) &&
	       (__atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED) >> READER_SHIFT ||
		__atomic_load_n(&lock->__data.__writers_futex, __ATOMIC_RELAXED) & FUTEX_USED);
}

/* A wait for a condition lets go of its mutex within the C library. */
static void let_go(const void *mutex)
{
	if (mutex_is_waited_for(mutex))
		sync_release(mutex, sync_now_ns());
}

/* ---- what a result means ---- */

static int as_it_is(int result)
{
	return result;
}

/* One thread of each round gets PTHREAD_BARRIER_SERIAL_THREAD. */
static int of_barrier(int result)
{
	return result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result;
}

static int of_semaphore(int result)
{
	return result ? errno : 0;
}

static int of_c11(int result)
{
	switch (result) {
	case thrd_success:
		return 0;
	case thrd_timedout:
		return ETIMEDOUT;
	case thrd_busy:
		return EBUSY;
	case thrd_nomem:
		return ENOMEM;
	default:
		return EINVAL;
	}
}

/* ---- the wrapped functions ---- */

/* The object that is waited for is the first parameter, `object`. */
#define TIMED_CALL(type, name, arguments, owner, error_of)                                         \
	struct pending_call wait = sync_request(SYNC_##type, (const void *)object, owner(object),  \
						__builtin_return_address(0));                      \
	int result = NEXT_SYNC(name) arguments;                                                    \
                                                                                                   \
	sync_grant(&wait, error_of(result));                                                       \
	return result;

#define WAIT(type, name, parameters, arguments, owner, error_of)                                   \
	COLLECTOR_EXPORT int name parameters                                                       \
	{                                                                                          \
		if (sync_leaves_out(__builtin_return_address(0)))                                  \
			return NEXT_SYNC(name) arguments;                                          \
		TIMED_CALL(type, name, arguments, owner, error_of)                                 \
	}

/* The mutex of a condition is the second parameter, `mutex`. */
#define CONDITION_WAIT(name, parameters, arguments, error_of)                                      \
	COLLECTOR_EXPORT int name parameters                                                       \
	{                                                                                          \
		if (sync_leaves_out(__builtin_return_address(0)))                                  \
			return NEXT_SYNC(name) arguments;                                          \
		let_go(mutex);                                                                     \
		TIMED_CALL(CONDITION, name, arguments, nobody, error_of)                           \
	}

#define UNLOCK(name, object_type, is_waited_for)                                                   \
	COLLECTOR_EXPORT int name(object_type *object)                                             \
	{                                                                                          \
		if (sync_leaves_out(__builtin_return_address(0)) || !is_waited_for(object))        \
			return NEXT_SYNC(name)(object);                                            \
		uint64_t now_ns = sync_now_ns();                                                   \
		int result = NEXT_SYNC(name)(object);                                              \
                                                                                                   \
		/* whoever got it may have freed it since: only its address counts */              \
		if (!result)                                                                       \
			sync_release(object, now_ns);                                              \
		return result;                                                                     \
	}

#define LOCK(type, name, try_name, object_type, may_try, owner, error_of)                          \
	COLLECTOR_EXPORT int name(object_type *object)                                             \
	{                                                                                          \
		if (sync_leaves_out(__builtin_return_address(0)))                                  \
			return NEXT_SYNC(name)(object);                                            \
		uint64_t held_by = owner(object);                                                  \
                                                                                                   \
		if (may_try(object) && !NEXT_SYNC(try_name)(object)) {                             \
			sync_found_free(SYNC_##type, (const void *)object, held_by);               \
			return 0;                                                                  \
		}                                                                                  \
		TIMED_CALL(type, name, (object), owner, error_of)                                  \
	}

LOCK(MUTEX, pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t, mutex_is_simple,
     mutex_owner, as_it_is)
LOCK(READ_LOCK, pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, always, writer,
     as_it_is)
LOCK(WRITE_LOCK, pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, always, writer,
     as_it_is)
LOCK(SPIN, pthread_spin_lock, pthread_spin_trylock, pthread_spinlock_t, always, nobody, as_it_is)
LOCK(MUTEX, mtx_lock, mtx_trylock, mtx_t, always, c11_owner, of_c11)

UNLOCK(pthread_mutex_unlock, pthread_mutex_t, mutex_is_waited_for)
UNLOCK(mtx_unlock, mtx_t, c11_is_waited_for)
UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t, rwlock_is_waited_for)

WAIT(MUTEX, pthread_mutex_timedlock, (pthread_mutex_t * object, const struct timespec *deadline),
     (object, deadline), mutex_owner, as_it_is)
WAIT(MUTEX, pthread_mutex_clocklock,
     (pthread_mutex_t * object, clockid_t clock, const struct timespec *deadline),
     (object, clock, deadline), mutex_owner, as_it_is)
WAIT(MUTEX, mtx_timedlock, (mtx_t *restrict object, const struct timespec *restrict deadline),
     (object, deadline), c11_owner, of_c11)

WAIT(READ_LOCK, pthread_rwlock_timedrdlock,
     (pthread_rwlock_t * object, const struct timespec *deadline), (object, deadline), writer,
     as_it_is)
WAIT(READ_LOCK, pthread_rwlock_clockrdlock,
     (pthread_rwlock_t * object, clockid_t clock, const struct timespec *deadline),
     (object, clock, deadline), writer, as_it_is)
WAIT(WRITE_LOCK, pthread_rwlock_timedwrlock,
     (pthread_rwlock_t * object, const struct timespec *deadline), (object, deadline), writer,
     as_it_is)
WAIT(WRITE_LOCK, pthread_rwlock_clockwrlock,
     (pthread_rwlock_t * object, clockid_t clock, const struct timespec *deadline),
     (object, clock, deadline), writer, as_it_is)

CONDITION_WAIT(pthread_cond_wait, (pthread_cond_t * object, pthread_mutex_t *mutex),
	       (object, mutex), as_it_is)
CONDITION_WAIT(pthread_cond_timedwait,
	       (pthread_cond_t * object, pthread_mutex_t *mutex, const struct timespec *deadline),
	       (object, mutex, deadline), as_it_is)
CONDITION_WAIT(old_cond_wait, (pthread_cond_t * object, pthread_mutex_t *mutex), (object, mutex),
	       as_it_is)
CONDITION_WAIT(old_cond_timedwait,
	       (pthread_cond_t * object, pthread_mutex_t *mutex, const struct timespec *deadline),
	       (object, mutex, deadline), as_it_is)
CONDITION_WAIT(pthread_cond_clockwait,
	       (pthread_cond_t * object, pthread_mutex_t *mutex, clockid_t clock,
		const struct timespec *deadline),
	       (object, mutex, clock, deadline), as_it_is)
CONDITION_WAIT(cnd_wait, (cnd_t * object, mtx_t *mutex), (object, mutex), of_c11)
CONDITION_WAIT(cnd_timedwait,
	       (cnd_t *restrict object, mtx_t *restrict mutex,
		const struct timespec *restrict deadline),
	       (object, mutex, deadline), of_c11)

WAIT(SEMAPHORE, sem_timedwait, (sem_t * object, const struct timespec *deadline),
     (object, deadline), nobody, of_semaphore)
WAIT(SEMAPHORE, sem_clockwait, (sem_t * object, clockid_t clock, const struct timespec *deadline),
     (object, clock, deadline), nobody, of_semaphore)

/* Unlike the locks it is a cancellation point, and fails by errno, which a try would set. */
COLLECTOR_EXPORT int sem_wait(sem_t *object)
{
	if (sync_leaves_out(__builtin_return_address(0)))
		return NEXT_SYNC(sem_wait)(object);
	int before = errno;

	pthread_testcancel();
	if (!NEXT_SYNC(sem_trywait)(object)) {
		sync_found_free(SYNC_SEMAPHORE, object, nobody(object));
		return 0;
	}
	errno = before;
	TIMED_CALL(SEMAPHORE, sem_wait, (object), nobody, of_semaphore)
}

WAIT(BARRIER, pthread_barrier_wait, (pthread_barrier_t * object), (object), nobody, of_barrier)

WAIT(JOIN, pthread_join, (pthread_t object, void **value), (object, value), thread_id, as_it_is)
WAIT(JOIN, pthread_tryjoin_np, (pthread_t object, void **value), (object, value), thread_id,
     as_it_is)
WAIT(JOIN, pthread_timedjoin_np, (pthread_t object, void **value, const struct timespec *deadline),
     (object, value, deadline), thread_id, as_it_is)
WAIT(JOIN, pthread_clockjoin_np,
     (pthread_t object, void **value, clockid_t clock, const struct timespec *deadline),
     (object, value, clock, deadline), thread_id, as_it_is)
WAIT(JOIN, thrd_join, (thrd_t object, int *value), (object, value), thread_id, of_c11)
