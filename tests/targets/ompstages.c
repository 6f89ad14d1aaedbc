/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ompstages SECONDS: the stages of an OpenMP program, one after the other, each for so long.  What
 * each thread of four does in a stage is known by construction: one of them computes, the others do
 * too, or wait for it.  For each it prints "STAGE BEGIN END", ns of CLOCK_MONOTONIC, between which
 * all of them do what the stage is about.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4 };

static double seconds;
static omp_lock_t lock;
static volatile int arrived;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

__attribute__((noinline)) void burn(void)
{
	long long end = now_ns() + (long long)(seconds * 1e9);

	while (now_ns() < end)
		;
}

/* One thread burns: the stage lasts from when the others have had time to get where they wait. */
__attribute__((noinline)) void stage(const char *name)
{
	long long begin = now_ns();

	burn();
	printf("%s %lld %lld\n", name, begin + (long long)(seconds * 4e8), now_ns());
	fflush(stdout);
}

__attribute__((noinline)) void bar(void)
{
#pragma omp parallel num_threads(2)
	burn();
	__asm__ volatile("");
}

/* Parts of foo, in its frame. */
static inline __attribute__((always_inline)) void enter_critical(int me)
{
	if (!me) {
#pragma omp critical(named)
		{
			arrived = 1;
			stage("critical");
		}
	} else {
		while (!arrived)
			;
#pragma omp critical(named)
		arrived++;
	}
}

static inline __attribute__((always_inline)) void take_lock(int me)
{
	if (!me) {
		omp_set_lock(&lock);
		arrived = -1;
		stage("lock");
		omp_unset_lock(&lock);
	} else {
		while (arrived >= 0)
			;
		omp_set_lock(&lock);
		omp_unset_lock(&lock);
	}
}

__attribute__((noinline)) void foo(void)
{
	int i;

#pragma omp parallel num_threads(THREADS)
	{
		int me = omp_get_thread_num();

		if (!me)
			stage("work");
		else
			burn();
#pragma omp barrier
		if (!me)
			stage("explicit");
#pragma omp barrier
		enter_critical(me);
#pragma omp barrier
		take_lock(me);
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
		for (i = 0; i < THREADS; i++) {
#pragma omp ordered
			if (!i)
				stage("ordered");
		}
#pragma omp for schedule(dynamic, 1)
		for (i = 0; i < THREADS; i++)
			if (!i)
				stage("loop");
#pragma omp sections
		{
#pragma omp section
			stage("sections");
#pragma omp section
			__asm__ volatile("");
		}
		if (!me)
			stage("nested");
		else if (me == 1)
			bar();
		else
			burn();
#pragma omp barrier
		if (!me)
			stage("end");
	}
	stage("idle");
}

__attribute__((noinline)) void tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		arrived = 0;
#pragma omp task
		{
			arrived = 1;
			stage("task");
		}
		while (!arrived)
			;
#pragma omp taskwait
		__asm__ volatile("");
	}
	__asm__ volatile("");
}

int main(int count, char **arguments)
{
	seconds = count > 1 ? atof(arguments[1]) : 0.3;
	omp_set_max_active_levels(2);
	omp_set_dynamic(0);
	omp_init_lock(&lock);
	stage("serial");
	foo();
	tasks();
	return 0;
}
