/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ompconstructs: constructs of OpenMP, one function for each, whose threads compute a known CPU
 * time in work().  Prints, for each, "NAME MAIN OTHERS REGIONS": what the main thread and the
 * others used in work(), by their own clocks, and how many parallel regions were executed.
 *
 * With -DWORK_ONLY it is what the same in Fortran (ompconstructs.f90) calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { UNIT_NS = 8000000 };

static pthread_t main_thread;
static long long used[2];

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

__attribute__((noinline)) void work(int units)
{
	long long begin = cpu_ns(), now;

	while ((now = cpu_ns()) < begin + (long long)units * UNIT_NS)
		;
	__atomic_fetch_add(&used[!pthread_equal(pthread_self(), main_thread)], now - begin,
			   __ATOMIC_RELAXED);
}

void begin_constructs(void)
{
	main_thread = pthread_self();
}

void tell(const char *name, int regions)
{
	printf("%s %.6f %.6f %d\n", name, (double)used[0] / 1e9, (double)used[1] / 1e9, regions);
	fflush(stdout);
	used[0] = used[1] = 0;
}

#ifndef WORK_ONLY
#include <omp.h>

/* The function's frame stays while its region is executed. */
#define CONSTRUCT(name) __attribute__((noinline)) static void name(void)
#define STAY		__asm__ volatile("")

#define PARALLEL _Pragma("omp parallel num_threads(2)")

static int me(void)
{
	return omp_get_thread_num();
}

CONSTRUCT(c_parallel)
{
	PARALLEL
	work(me() ? 1 : 3);
	STAY;
}

CONSTRUCT(c_for_static)
{
#pragma omp parallel for num_threads(2) schedule(static)
	for (int i = 0; i < 4; i++)
		work(i < 2 ? 2 : 1);
	STAY;
}

CONSTRUCT(c_for_chunks)
{
#pragma omp parallel for num_threads(2) schedule(static, 1)
	for (int i = 0; i < 4; i++)
		work(i % 2 ? 1 : 2);
	STAY;
}

CONSTRUCT(c_for_dynamic)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
	for (int i = 0; i < 6; i++)
		work(1);
	STAY;
}

CONSTRUCT(c_for_guided)
{
#pragma omp parallel for num_threads(2) schedule(guided)
	for (int i = 0; i < 6; i++)
		work(1);
	STAY;
}

CONSTRUCT(c_for_runtime)
{
#pragma omp parallel for num_threads(2) schedule(runtime)
	for (int i = 0; i < 6; i++)
		work(1);
	STAY;
}

CONSTRUCT(c_for_auto)
{
#pragma omp parallel for num_threads(2) schedule(auto)
	for (int i = 0; i < 6; i++)
		work(1);
	STAY;
}

CONSTRUCT(c_for_nowait)
{
	PARALLEL
	{
#pragma omp for nowait
		for (int i = 0; i < 2; i++)
			work(i ? 1 : 3);
		work(1);
	}
	STAY;
}

CONSTRUCT(c_for_ordered)
{
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
	for (int i = 0; i < 4; i++) {
#pragma omp ordered
		work(1);
	}
	STAY;
}

CONSTRUCT(c_for_doacross)
{
#pragma omp parallel for ordered(1) num_threads(2) schedule(static, 1)
	for (int i = 0; i < 4; i++) {
#pragma omp ordered depend(sink : i - 1)
		work(1);
#pragma omp ordered depend(source)
	}
	STAY;
}

CONSTRUCT(c_for_collapse)
{
#pragma omp parallel for collapse(2) num_threads(2)
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			work(1 + i);
	STAY;
}

CONSTRUCT(c_for_reduction)
{
	int sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(2)
	for (int i = 0; i < 2; i++) {
		work(i + 1);
		sum += i;
	}
	__asm__ volatile("" ::"r"(sum));
}

CONSTRUCT(c_for_lastprivate)
{
	int last = 0;

#pragma omp parallel for lastprivate(last) num_threads(2)
	for (int i = 0; i < 2; i++) {
		work(i + 1);
		last = i;
	}
	__asm__ volatile("" ::"r"(last));
}

CONSTRUCT(c_for_simd)
{
#pragma omp parallel for simd num_threads(2)
	for (int i = 0; i < 2; i++)
		work(i + 1);
	STAY;
}

CONSTRUCT(c_sections)
{
	PARALLEL
	{
#pragma omp sections
		{
#pragma omp section
			work(2);
#pragma omp section
			work(1);
#pragma omp section
			work(1);
		}
	}
	STAY;
}

CONSTRUCT(c_parallel_sections)
{
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		work(2);
#pragma omp section
		work(1);
	}
	STAY;
}

CONSTRUCT(c_single)
{
	PARALLEL
	{
#pragma omp single
		work(3);
	}
	STAY;
}

CONSTRUCT(c_single_nowait)
{
	PARALLEL
	{
#pragma omp single nowait
		work(2);
		work(1);
	}
	STAY;
}

CONSTRUCT(c_copyprivate)
{
	PARALLEL
	{
		int value = 0;

#pragma omp single copyprivate(value)
		{
			work(2);
			value = 1;
		}
		work(value);
	}
	STAY;
}

CONSTRUCT(c_master)
{
	PARALLEL
	{
#pragma omp master
		work(3);
	}
	STAY;
}

CONSTRUCT(c_critical)
{
	PARALLEL
	{
#pragma omp critical
		work(2);
	}
	STAY;
}

CONSTRUCT(c_critical_named)
{
	PARALLEL
	{
#pragma omp critical(name)
		work(2);
	}
	STAY;
}

CONSTRUCT(c_atomic)
{
	long count = 0;

	PARALLEL
	{
		work(1);
#pragma omp atomic
		count++;
		work(1);
	}
	__asm__ volatile("" ::"r"(count));
}

CONSTRUCT(c_barrier)
{
	PARALLEL
	{
		work(me() ? 1 : 2);
#pragma omp barrier
		work(me() ? 2 : 1);
	}
	STAY;
}

CONSTRUCT(c_task)
{
	PARALLEL
#pragma omp single
	{
#pragma omp task
		work(2);
#pragma omp task
		work(2);
	}
	STAY;
}

CONSTRUCT(c_task_undeferred)
{
	PARALLEL
#pragma omp single
	{
#pragma omp task if (0)
		work(3);
	}
	STAY;
}

CONSTRUCT(c_task_depend)
{
	int token = 0;

	(void)token; /* gcc names it only in the tasks' dependences */
	PARALLEL
#pragma omp single
	{
#pragma omp task depend(out : token)
		work(2);
#pragma omp task depend(in : token)
		work(2);
	}
	STAY;
}

CONSTRUCT(c_taskwait)
{
	PARALLEL
#pragma omp single
	{
#pragma omp task
		work(2);
		work(1);
#pragma omp taskwait
		work(1);
	}
	STAY;
}

CONSTRUCT(c_taskgroup)
{
	PARALLEL
#pragma omp single
	{
#pragma omp taskgroup
		{
#pragma omp task
			work(2);
		}
		work(2);
	}
	STAY;
}

CONSTRUCT(c_taskloop)
{
	PARALLEL
#pragma omp single
	{
#pragma omp taskloop num_tasks(4)
		for (int i = 0; i < 4; i++)
			work(1);
	}
	STAY;
}

CONSTRUCT(c_nested)
{
	PARALLEL
	{
		work(1);
		if (!me()) {
			PARALLEL
			work(1);
			STAY;
		}
	}
	STAY;
}

CONSTRUCT(c_lock)
{
	omp_lock_t lock;

	omp_init_lock(&lock);
	PARALLEL
	{
		omp_set_lock(&lock);
		work(2);
		omp_unset_lock(&lock);
	}
	omp_destroy_lock(&lock);
}

CONSTRUCT(c_nest_lock)
{
	omp_nest_lock_t lock;

	omp_init_nest_lock(&lock);
	PARALLEL
	{
		omp_set_nest_lock(&lock);
		omp_set_nest_lock(&lock);
		work(2);
		omp_unset_nest_lock(&lock);
		omp_unset_nest_lock(&lock);
	}
	omp_destroy_nest_lock(&lock);
}

static int copied;
#pragma omp threadprivate(copied)

CONSTRUCT(c_copyin)
{
	copied = 2;
#pragma omp parallel num_threads(2) copyin(copied)
	work(copied);
	STAY;
}

CONSTRUCT(c_serialized)
{
#pragma omp parallel if (0)
	work(3);
	STAY;
}

#define CONSTRUCTS(X)                                                                              \
	X(c_parallel, 1)                                                                           \
	X(c_for_static, 1)                                                                         \
	X(c_for_chunks, 1)                                                                         \
	X(c_for_dynamic, 1)                                                                        \
	X(c_for_guided, 1)                                                                         \
	X(c_for_runtime, 1)                                                                        \
	X(c_for_auto, 1)                                                                           \
	X(c_for_nowait, 1)                                                                         \
	X(c_for_ordered, 1)                                                                        \
	X(c_for_doacross, 1)                                                                       \
	X(c_for_collapse, 1)                                                                       \
	X(c_for_reduction, 1)                                                                      \
	X(c_for_lastprivate, 1)                                                                    \
	X(c_for_simd, 1)                                                                           \
	X(c_sections, 1)                                                                           \
	X(c_parallel_sections, 1)                                                                  \
	X(c_single, 1)                                                                             \
	X(c_single_nowait, 1)                                                                      \
	X(c_copyprivate, 1)                                                                        \
	X(c_master, 1)                                                                             \
	X(c_critical, 1)                                                                           \
	X(c_critical_named, 1)                                                                     \
	X(c_atomic, 1)                                                                             \
	X(c_barrier, 1)                                                                            \
	X(c_task, 1)                                                                               \
	X(c_task_undeferred, 1)                                                                    \
	X(c_task_depend, 1)                                                                        \
	X(c_taskwait, 1)                                                                           \
	X(c_taskgroup, 1)                                                                          \
	X(c_taskloop, 1)                                                                           \
	X(c_nested, 2)                                                                             \
	X(c_lock, 1)                                                                               \
	X(c_nest_lock, 1)                                                                          \
	X(c_copyin, 1)                                                                             \
	X(c_serialized, 1)

int main(void)
{
	begin_constructs();
	omp_set_max_active_levels(2);
#define X(name, regions) name(), tell(#name, regions);
	CONSTRUCTS(X)
	return 0;
}
#endif
