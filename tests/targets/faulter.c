/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page faults and writes whose number is known: FAULTER PAGES WRITES [THREADS]
 *
 *   touch_fresh()   touches PAGES pages of fresh memory, one byte each
 *   write_often()   writes `watched` 3 * WRITES times, write_seldom() WRITES times
 *
 * Threads do all of it again, each on memory of its own.  Prints the page faults and context
 * switches of the kernel's account around them.
 */
#include "target.h"

#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

volatile long watched;
static long pages, writes;
static char *fresh;

NOINLINE void touch_fresh(volatile char *memory)
{
	for (long i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
}

NOINLINE void write_often(void)
{
	for (long i = 0; i < 3 * writes; i++)
		watched = i;
}

NOINLINE void write_seldom(void)
{
	for (long i = 0; i < writes; i++)
		watched = i;
}

static char *fresh_memory(void)
{
	char *memory = mmap(NULL, (size_t)pages * PAGE + 1, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, (size_t)pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static void *work(void *memory)
{
	touch_fresh(memory);
	write_often();
	write_seldom();
	return NULL;
}

static void print_memory(const char *memory)
{
	printf("low %lu\n", (unsigned long)memory);
	printf("high %lu\n", (unsigned long)(memory + pages * PAGE));
}

int main(int argc, char **argv)
{
	long threads = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	struct rusage before, after;
	pthread_t ids[16];

	pages = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	writes = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	fresh = fresh_memory();
	print_memory(fresh);
	fflush(stdout);
	getrusage(RUSAGE_SELF, &before);
	work(fresh);
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, fresh_memory());
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	getrusage(RUSAGE_SELF, &after);
	printf("minor_faults %ld\n", after.ru_minflt - before.ru_minflt);
	printf("major_faults %ld\n", after.ru_majflt - before.ru_majflt);
	printf("watched %lu\n", (unsigned long)&watched);
	return 0;
}
