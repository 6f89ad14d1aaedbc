/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes for a while in two threads with ever new call stacks, under a limit that it
 * sets itself (first argument), and checks that the limit works as it should:
 *
 *   none, fsize (64 KiB), as (16 MiB more), data (16 MiB more), locked (mlockall)
 *
 * "depth N" as further arguments: recurse N deep at the start, as far as the stack must bear.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

static volatile uint64_t sink;
static volatile sig_atomic_t too_large;

static NOINLINE void grow_left(uint64_t path, int depth);

/* A path through a binary tree of calls: 2^24 different stacks. */
static NOINLINE void grow_right(uint64_t path, int depth)
{
	sink += churn(path, 50);
	if (depth && path & 1)
		grow_left(path >> 1, depth - 1);
	else if (depth)
		grow_right(path >> 1, depth - 1);
	sink++;
}

static NOINLINE void grow_left(uint64_t path, int depth)
{
	sink += churn(path, 50);
	if (depth && path & 1)
		grow_left(path >> 1, depth - 1);
	else if (depth)
		grow_right(path >> 1, depth - 1);
	sink += 2;
}

static void *work(void *seconds)
{
	uint64_t seed = 88172645463325252u;

	while (cpu_now() < *(double *)seconds) {
		seed = churn(seed, 1);
		grow_left(seed, 24);
	}
	return NULL;
}

static void on_too_large(int number)
{
	(void)number;
	too_large++;
}

static void lower(int resource, rlim_t value)
{
	struct rlimit limit;

	getrlimit(resource, &limit);
	limit.rlim_cur = value;
	if (setrlimit(resource, &limit))
		printf("setrlimit: %d\n", errno);
}

/* Own files may grow to the limit, and the byte after it raises the signal once. */
static void fill_file(void)
{
	static char block[4096];
	char path[] = "limitedXXXXXX";
	int file = mkstemp(path);
	long total = 0, written;

	while ((written = write(file, block, sizeof(block))) > 0)
		total += written;
	printf("file %ld errno %d signals %d\n", total, errno, (int)too_large);
	close(file);
	unlink(path);
}

/* Memory in pieces of 1 MiB until there is no more: a number of them, then ENOMEM. */
static void fill_memory(void)
{
	int pieces = 0;

	while (pieces < 64 && mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		pieces++;
	printf("memory %s errno %d\n", pieces < 64 ? "limited" : "unlimited", errno);
}

static rlim_t used_memory(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		exit(3);
	fclose(file);
	return pages * 4096;
}

static NOINLINE int descend(int depth)
{
	volatile char room[4000];

	room[0] = (char)depth;
	return depth ? descend(depth - 1) + room[0] * 0 : 0;
}

int main(int argc, char **argv)
{
	const char *limit = argc > 1 ? argv[1] : "none";
	double seconds = 0.1;
	pthread_t thread;

	if (argc > 3)
		printf("depth %d\n", descend((int)strtol(argv[3], NULL, 10)));
	signal(SIGXFSZ, on_too_large);
	if (!strcmp(limit, "fsize"))
		lower(RLIMIT_FSIZE, 65536);
	if (!strcmp(limit, "as"))
		lower(RLIMIT_AS, used_memory() + (16 << 20));
	if (!strcmp(limit, "data"))
		lower(RLIMIT_DATA, used_memory() + (16 << 20));
	if (!strcmp(limit, "locked"))
		printf("mlockall %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
	if (pthread_create(&thread, NULL, work, &seconds))
		printf("no thread: %d\n", errno);
	else
		pthread_join(thread, NULL);
	work(&seconds);
	if (!strcmp(limit, "fsize"))
		fill_file();
	if (!strcmp(limit, "as") || !strcmp(limit, "data"))
		fill_memory();
	printf("signals %d\n", (int)too_large);
	return 0;
}
