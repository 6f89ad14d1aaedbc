/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that compute in three places, 3 : 2 : 1, until another one ends their process.
 *
 *   cutlives HOW COUNT THREADS MS   COUNT times THREADS threads of MS of CPU time each
 *
 * HOW: `exec` this program again and again; or COUNT children of a fork, ended by `exit`, `_exit`
 * or `return` from main.  What threads have used is counted in memory that all images share:
 * `asked` up to the moment at which they are ended, `place.N` up to the end.
 */
#include "target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PLACES = 3, MOST = 64 };

static struct {
	_Atomic uint64_t place_ns[PLACES], asked_ns;
} * shared;
static _Atomic uint64_t sink;
static __thread double counted; /* of the thread's CPU clock */

static inline __attribute__((always_inline)) void spend(int place, double seconds)
{
	double end = counted + seconds;
	uint64_t seed = (uint64_t)place + 1;

	while (counted < end) {
		double now;

		seed = churn(seed | 1, 5000);
		now = cpu_now();
		shared->place_ns[place] += (uint64_t)((now - counted) * 1e9);
		counted = now;
	}
	sink += seed;
}

static NOINLINE void first(void)
{
	spend(0, 0.3e-3);
}

static NOINLINE void second(void)
{
	spend(1, 0.2e-3);
}

static NOINLINE void third(void)
{
	spend(2, 0.1e-3);
}

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		first();
		second();
		third();
	}
	return NULL;
}

static uint64_t used_ns(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < PLACES; i++)
		sum += shared->place_ns[i];
	return sum;
}

/* Until the threads have used so much together. */
static int live(int threads, double ms)
{
	const struct timespec nap = {.tv_nsec = 500 * 1000};
	uint64_t until_ns = used_ns() + (uint64_t)(threads * ms * 1e6), before_ns = used_ns();
	pthread_t id;

	for (int i = 0; i < threads; i++)
		if (pthread_create(&id, NULL, work, NULL))
			return 1;
	while (used_ns() < until_ns)
		nanosleep(&nap, NULL);
	shared->asked_ns += used_ns() - before_ns;
	return 0;
}

static int child(const char *how, int threads, double ms)
{
	if (live(threads, ms))
		_exit(1);
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "_exit"))
		_exit(0);
	return 0;
}

static int report(void)
{
	for (int i = 0; i < PLACES; i++)
		printf("place.%d %.6f\n", i, (double)shared->place_ns[i] / 1e9);
	printf("asked %.6f\n", (double)shared->asked_ns / 1e9);
	return 0;
}

/* The shared memory is a file whose descriptor the images inherit. */
static int map_shared(const char *inherited)
{
	int fd = inherited ? (int)strtol(inherited, NULL, 10) : memfd_create("cutlives", 0);

	if (fd < 0 || (!inherited && ftruncate(fd, sizeof(*shared))))
		return -1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return shared == MAP_FAILED ? -1 : fd;
}

int main(int argc, char **argv)
{
	long count = argc > 4 ? strtol(argv[2], NULL, 10) : 0;
	int threads = argc > 4 ? (int)strtol(argv[3], NULL, 10) : 0;
	double ms = argc > 4 ? strtod(argv[4], NULL) : 0;
	int fd = argc > 4 ? map_shared(argc > 5 ? argv[5] : NULL) : -1;

	if (fd < 0 || threads < 1 || threads > MOST)
		return 2;
	if (!strcmp(argv[1], "exec")) {
		char left[24], number[16];

		if (!count)
			return report();
		if (live(threads, ms))
			return 1;
		snprintf(left, sizeof(left), "%ld", count - 1);
		snprintf(number, sizeof(number), "%d", fd);
		execl(argv[0], argv[0], argv[1], left, argv[3], argv[4], number, (char *)NULL);
		return 1;
	}
	for (long i = 0; i < count; i++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			return child(argv[1], threads, ms);
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return report();
}
