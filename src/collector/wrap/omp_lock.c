/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Critical sections, locks, atomic constructs and ordered sections of OpenMP.  Of libgomp all is
 * seen here.  A runtime that speaks OMPT
 * tells of its waits itself, but not by which variable the program knows the lock: it is noted
 * here, for its callback.
 */
#include "collector/runtimes/omp_lock.h"
#include "collector/wrap/gomp.h"

static void name_lock(const void *lock)
{
	struct thread *thread = omp_thread();

	if (thread)
		thread->omp.lock_name = lock;
}

/* lock: what tells it from others; object: what has its name, or NULL. */
#define ACQUIRE(name, type, parameters, arguments, lock_, object_)                                 \
	COLLECTOR_EXPORT void name parameters;                                                     \
	void name parameters                                                                       \
	{                                                                                          \
		struct omp_lock_wait wait;                                                         \
		REAL(void, name, parameters);                                                      \
                                                                                                   \
		if (!real)                                                                         \
			return;                                                                    \
		if (found.is_other) {                                                              \
			name_lock(object_);                                                        \
			real arguments;                                                            \
			name_lock(NULL);                                                           \
			return;                                                                    \
		}                                                                                  \
		omp_lock_request(&wait, type, lock_, object_);                                     \
		real arguments;                                                                    \
		omp_lock_grant(&wait, __builtin_frame_address(0));                                 \
	}

#define TEST(name)                                                                                 \
	COLLECTOR_EXPORT int name(void *lock);                                                     \
	int name(void *lock)                                                                       \
	{                                                                                          \
		int result;                                                                        \
		REAL(int, name, (void *));                                                         \
                                                                                                   \
		result = real ? real(lock) : 1;                                                    \
		if (real && result && !found.is_other)                                             \
			omp_lock_taken(lock);                                                      \
		return result;                                                                     \
	}

#define RELEASE(name, parameters, arguments, lock_)                                                \
	COLLECTOR_EXPORT void name parameters;                                                     \
	void name parameters                                                                       \
	{                                                                                          \
		REAL(void, name, parameters);                                                      \
                                                                                                   \
		if (!real)                                                                         \
			return;                                                                    \
		if (!found.is_other)                                                               \
			omp_lock_release(lock_);                                                   \
		real arguments;                                                                    \
	}

static char unnamed; /* its address is the section's without a name */
static char atomics; /* … and the lock's of all atomic constructs that no instruction can do */

ACQUIRE(GOMP_critical_start, OMP_CRITICAL, (void), (), &unnamed, NULL)
ACQUIRE(GOMP_critical_name_start, OMP_CRITICAL, (void **lock), (lock), lock, lock)
RELEASE(GOMP_critical_end, (void), (), &unnamed)
RELEASE(GOMP_critical_name_end, (void **lock), (lock), lock)

ACQUIRE(omp_set_lock, OMP_LOCK, (void *lock), (lock), lock, lock)
ACQUIRE(omp_set_lock_, OMP_LOCK, (void *lock), (lock), lock, lock)
ACQUIRE(omp_set_nest_lock, OMP_LOCK, (void *lock), (lock), lock, lock)
ACQUIRE(omp_set_nest_lock_, OMP_LOCK, (void *lock), (lock), lock, lock)
TEST(omp_test_lock)
TEST(omp_test_lock_)
TEST(omp_test_nest_lock)
TEST(omp_test_nest_lock_)
RELEASE(omp_unset_lock, (void *lock), (lock), lock)
RELEASE(omp_unset_lock_, (void *lock), (lock), lock)
RELEASE(omp_unset_nest_lock, (void *lock), (lock), lock)
RELEASE(omp_unset_nest_lock_, (void *lock), (lock), lock)

/*
 * libgomp has two versions of these, whose locks differ: OMP_1.0 and OMP_3.0.  Ours have the new
 * one and that of LLVM's libraries.  A program that is bound to the old one, by a compiler from
 * before 2008, does not find ours: its locks are not recorded.  Callers that name no version find
 * the default one.
 */
#define VERSIONS(name)                                                                             \
	__asm__(".symver " #name ", " #name "@VERSION");                                           \
	__asm__(".symver " #name ", " #name "@@OMP_3.0, remove")

VERSIONS(omp_set_lock_);
VERSIONS(omp_set_nest_lock);
VERSIONS(omp_set_nest_lock_);
VERSIONS(omp_test_lock_);
VERSIONS(omp_test_nest_lock);
VERSIONS(omp_test_nest_lock_);
VERSIONS(omp_unset_lock_);
VERSIONS(omp_unset_nest_lock);
VERSIONS(omp_unset_nest_lock_);

ACQUIRE(GOMP_atomic_start, OMP_ATOMIC, (void), (), &atomics, &atomics)
RELEASE(GOMP_atomic_end, (void), (), &atomics)

/* ---- ordered sections ---- */

/* The turn of an ordered loop, which its team hands on. */
static const void *turn(void)
{
	const struct thread *thread = omp_thread();

	if (!thread)
		return NULL;
	return thread->context.until ? (const void *)thread->context.until : thread;
}

ACQUIRE(GOMP_ordered_start, OMP_ORDERED, (void), (), turn(), turn())

/*
 * libgomp hands the turn on where a thread fetches its next iterations, not at the section's end:
 * what it does in between the others wait for as well.  A thread that had no ordered section in its
 * iterations waits for its turn here.
 */
#define ORDERED_NEXT(name, number)                                                                 \
	COLLECTOR_EXPORT bool name(number *start, number *end);                                    \
	bool name(number *start, number *end)                                                      \
	{                                                                                          \
		struct omp_before before;                                                          \
		bool any;                                                                          \
		REAL(bool, name, (number *, number *));                                            \
                                                                                                   \
		if (!real)                                                                         \
			return false;                                                              \
		if (found.is_other)                                                                \
			return real(start, end);                                                   \
		before = omp_enter(OMP_STATE_ORDERED_WAIT);                                        \
		any = real(start, end);                                                            \
		omp_leave(&before);                                                                \
		omp_lock_released(turn());                                                         \
		return any;                                                                        \
	}

ORDERED_NEXT(GOMP_loop_ordered_static_next, long)
ORDERED_NEXT(GOMP_loop_ordered_dynamic_next, long)
ORDERED_NEXT(GOMP_loop_ordered_guided_next, long)
ORDERED_NEXT(GOMP_loop_ordered_runtime_next, long)
ORDERED_NEXT(GOMP_loop_ull_ordered_static_next, unsigned long long)
ORDERED_NEXT(GOMP_loop_ull_ordered_dynamic_next, unsigned long long)
ORDERED_NEXT(GOMP_loop_ull_ordered_guided_next, unsigned long long)
ORDERED_NEXT(GOMP_loop_ull_ordered_runtime_next, unsigned long long)

/* What clang makes of a critical section. */
ACQUIRE(__kmpc_critical, OMP_CRITICAL, (void *place, int thread, void *lock), (place, thread, lock),
	lock, lock)
ACQUIRE(__kmpc_critical_with_hint, OMP_CRITICAL,
	(void *place, int thread, void *lock, unsigned hint), (place, thread, lock, hint), lock,
	lock)
