/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omplocks SECONDS: critical sections, locks, an atomic construct and an ordered section of OpenMP
 * that one thread has for so long, while two others wait for it, of which one may get it only when
 * the other is done.  Prints, for each, "NAME SECONDS WAITS": what threads waited for it by their
 * own clocks, and how often.  Locks that nobody waits for are taken a hundred thousand times.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 3, FREE = 100000 };

static double seconds;
/* What compilers make of an atomic construct that the processor has no instruction for. */
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

static omp_lock_t the_lock, free_lock;
static omp_nest_lock_t nested;
static volatile int holds, arrived;
static double waited;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* From when the others are about to ask for it. */
__attribute__((noinline)) void hold(void)
{
	while (arrived < THREADS - 1)
		;

	double end = now() + seconds;

	while (now() < end)
		;
	__asm__ volatile("");
}

/* Whoever comes first holds it, the others wait until they have got it. */
static void got_it(double since)
{
	if (!holds) {
		holds = 1;
		hold();
	} else {
		waited += now() - since;
	}
}

/* Returns when the thread asks for it. */
static double arrive(int me)
{
	while (me && !holds)
		;
	double since = now();

	if (me)
		__atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
	return since;
}

static void tell(const char *name)
{
	printf("%s %.6f %d\n", name, waited, THREADS - 1);
	waited = 0;
	holds = arrived = 0;
}

__attribute__((noinline)) void with_name(void)
{
#pragma omp parallel num_threads(THREADS)
	{
		double since = arrive(omp_get_thread_num());

#pragma omp critical(the_section)
		got_it(since);
	}
	tell("the_section");
}

__attribute__((noinline)) void without_name(void)
{
#pragma omp parallel num_threads(THREADS)
	{
		double since = arrive(omp_get_thread_num());

#pragma omp critical
		got_it(since);
	}
	tell("<unnamed>");
}

__attribute__((noinline)) void with_lock(void)
{
#pragma omp parallel num_threads(THREADS)
	{
		double since = arrive(omp_get_thread_num());

		omp_set_lock(&the_lock);
		got_it(since);
		omp_unset_lock(&the_lock);
	}
	tell("the_lock");
}

__attribute__((noinline)) void with_nested(void)
{
#pragma omp parallel num_threads(THREADS)
	{
		double since = arrive(omp_get_thread_num());

		omp_set_nest_lock(&nested);
		omp_set_nest_lock(&nested);
		omp_unset_nest_lock(&nested);
		got_it(since);
		omp_unset_nest_lock(&nested);
	}
	tell("nested");
}

__attribute__((noinline)) void with_atomic(void)
{
#pragma omp parallel num_threads(THREADS)
	{
		double since = arrive(omp_get_thread_num());

		GOMP_atomic_start();
		got_it(since);
		GOMP_atomic_end();
	}
	tell("<atomic>");
}

__attribute__((noinline)) void with_ordered(void)
{
#pragma omp parallel for ordered num_threads(THREADS) schedule(static, 1)
	for (int i = 0; i < THREADS; i++) {
		double since = arrive(i);

#pragma omp ordered
		got_it(since);
	}
	tell("with_ordered");
}

__attribute__((noinline)) void without_wait(void)
{
	volatile int count = 0;

#pragma omp parallel num_threads(2)
	if (omp_get_thread_num())
		for (int i = 0; i < FREE; i++) {
			omp_set_lock(&free_lock);
			count++;
			omp_unset_lock(&free_lock);
#pragma omp critical(free_section)
			count++;
			GOMP_atomic_start();
			count++;
			GOMP_atomic_end();
		}
	__asm__ volatile("");
}

int main(int count, char **arguments)
{
	seconds = count > 1 ? atof(arguments[1]) : 0.1;
	omp_init_lock(&the_lock);
	omp_init_lock(&free_lock);
	omp_init_nest_lock(&nested);
	with_name();
	without_name();
	with_lock();
	with_nested();
	with_atomic();
	with_ordered();
	without_wait();
	return 0;
}
