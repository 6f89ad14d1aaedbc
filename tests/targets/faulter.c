/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page faults, writes to a variable, and waits, in known numbers: faulter KEY=VALUE…
 *
 *   pages=N     touch_fresh() touches N pages of fresh memory, one byte each
 *   file=PATH   touch_file() touches each page of a file that is not in memory
 *   writes=N    write_often() writes `watched` 3 N times, write_seldom() N times
 *   sleeps=N    sleep_often() sleeps N times
 *   threads=N   so many threads do all of it again, and fork=1 a child
 *   fakes=N     fake_overflows() sends itself N signals such as the kernel sends for the
 *               overflow of the first counter, each for its own data address
 *
 * Prints what the kernel's account says of all this, before anything is printed.
 */
#include "target.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PAGE = 4096, THREADS_MAX = 16 };

volatile long watched;

static struct {
	long pages, writes, sleeps, threads, fork, fakes;
	const char *file;
} wanted;

static char *fresh;

NOINLINE void touch_fresh(volatile char *memory)
{
	for (long i = 0; i < wanted.pages; i++)
		memory[i * PAGE] = 1;
}

NOINLINE long touch_file(const volatile char *memory, long pages)
{
	long sum = 0;

	for (long i = 0; i < pages; i++)
		sum += memory[i * PAGE];
	return sum;
}

NOINLINE void write_often(void)
{
	for (long i = 0; i < 3 * wanted.writes; i++)
		watched = i;
}

NOINLINE void write_seldom(void)
{
	for (long i = 0; i < wanted.writes; i++)
		watched = i;
}

NOINLINE void sleep_often(void)
{
	for (long i = 0; i < wanted.sleeps; i++)
		nanosleep(&(struct timespec){.tv_nsec = 200 * 1000}, NULL);
}

/* A signal as perf raises it: the kernel lets a thread send itself whatever it likes. */
NOINLINE void fake_overflows(void)
{
	struct {
		int number, error, code, padding;
		uint64_t address, data;
		uint32_t type, flags;
		char rest[88];
	} info = {.number = SIGTRAP, .code = 6, .data = 0x48454c494f000010u};

	for (long i = 0; i < wanted.fakes; i++) {
		info.address = 0x1000 + 64 * (uint64_t)i;
		syscall(SYS_rt_tgsigqueueinfo, getpid(), thread_id(), SIGTRAP, &info);
	}
}

static char *fresh_memory(void)
{
	char *memory = mmap(NULL, (size_t)wanted.pages * PAGE + 1, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, (size_t)wanted.pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static long read_file(void)
{
	int fd = open(wanted.file, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		exit(1);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	char *memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, (size_t)st.st_size, MADV_RANDOM);
	return touch_file(memory, st.st_size / PAGE);
}

static void *work(void *memory)
{
	touch_fresh(memory);
	write_often();
	write_seldom();
	sleep_often();
	return NULL;
}

static void work_in_threads(void)
{
	pthread_t ids[THREADS_MAX];

	for (long i = 0; i < wanted.threads; i++)
		pthread_create(&ids[i], NULL, work, fresh_memory());
	for (long i = 0; i < wanted.threads; i++)
		pthread_join(ids[i], NULL);
}

static void work_in_child(void)
{
	pid_t child = fork();

	if (!child) {
		work(fresh_memory());
		exit(0);
	}
	waitpid(child, NULL, 0);
}

static void parse(const char *word)
{
	static const struct {
		const char *key;
		long *value;
	} keys[] = {
		{"pages=", &wanted.pages},   {"writes=", &wanted.writes},
		{"sleeps=", &wanted.sleeps}, {"threads=", &wanted.threads},
		{"fork=", &wanted.fork},     {"fakes=", &wanted.fakes},
	};

	if (!strncmp(word, "file=", 5))
		wanted.file = word + 5;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strncmp(word, keys[i].key, strlen(keys[i].key)))
			*keys[i].value = strtol(word + strlen(keys[i].key), NULL, 10);
}

static void print_account(const struct rusage *before, const struct rusage *after)
{
	printf("minor_faults %ld\n", after->ru_minflt - before->ru_minflt);
	printf("major_faults %ld\n", after->ru_majflt - before->ru_majflt);
	printf("switches %ld\n",
	       after->ru_nvcsw - before->ru_nvcsw + after->ru_nivcsw - before->ru_nivcsw);
	printf("low %lu\n", (unsigned long)fresh);
	printf("watched %lu\n", (unsigned long)&watched);
}

int main(int argc, char **argv)
{
	struct rusage before, after;

	for (int i = 1; i < argc; i++)
		parse(argv[i]);
	fresh = fresh_memory();
	getrusage(RUSAGE_SELF, &before);
	work(fresh);
	if (wanted.file)
		read_file();
	fake_overflows();
	work_in_threads();
	if (wanted.fork)
		work_in_child();
	getrusage(RUSAGE_SELF, &after);
	print_account(&before, &after);
	return 0;
}
