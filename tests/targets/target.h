/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs to measure share.  Each prints its own ground truth as
 * "key value" lines on stdout, taken with system calls that have nothing to
 * do with the collector.  Seconds everywhere.
 *
 * How long a program runs is its first argument: "3s" works until its thread
 * has used 3 s of CPU, "500" does 500 rounds, the same work every time, which
 * is what an overhead must be measured with.
 */
#ifndef HELIO_TESTS_TARGET_H
#define HELIO_TESTS_TARGET_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline, unused))
#else
#define NOINLINE __attribute__((noinline, noclone, unused))
#endif

static inline double clock_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static inline double wall_now(void)
{
	return clock_seconds(CLOCK_MONOTONIC);
}

static inline double cpu_now(void)
{
	return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static inline int thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

struct budget {
	double seconds; /* 0: count rounds */
	long rounds;
};

static inline struct budget budget_parse(int argc, char **argv, const char *fallback)
{
	const char *text = argc > 1 ? argv[1] : fallback;
	struct budget budget = {0, 0};

	if (strchr(text, 's'))
		budget.seconds = strtod(text, NULL);
	else
		budget.rounds = strtol(text, NULL, 10);
	return budget;
}

/* Whether to go on after so many rounds. */
static inline int budget_left(const struct budget *budget, long done)
{
	return budget->seconds > 0 ? cpu_now() < budget->seconds : done < budget->rounds;
}

/* CPU work that nothing can shorten: a chain of dependent operations, about 2 ns each. */
static inline __attribute__((always_inline)) uint64_t churn(uint64_t seed, long steps)
{
	for (long i = 0; i < steps; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
	}
	return seed;
}

static double used_before_main;

/* After the constructors of libraries, which those of a program come behind. */
static __attribute__((constructor)) void note_begin(void)
{
	used_before_main = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double timeval_seconds(struct timeval time)
{
	return time.tv_sec + time.tv_usec / 1e6;
}

/*
 * The process's own view of what it used, and the calling thread's: the last
 * thing a target prints.  A profiler's own thread counts for the process.
 */
static inline void print_usage(double wall_start)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("wall %.6f\n", wall_now() - wall_start);
	printf("user %.6f\n", timeval_seconds(usage.ru_utime));
	printf("system %.6f\n", timeval_seconds(usage.ru_stime));
	printf("cpu %.6f\n", timeval_seconds(usage.ru_utime) + timeval_seconds(usage.ru_stime));
	printf("thread_cpu %.6f\n", cpu_now());
	printf("begun_cpu %.6f\n", used_before_main);
	printf("preemptions %ld\n", usage.ru_nivcsw);
	printf("waits %ld\n", usage.ru_nvcsw);
	printf("maxrss_kb %ld\n", usage.ru_maxrss);
	fflush(stdout);
}

#endif
