/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library whose functions touch the variables of threads, each page once; without LIBRARY the
 * program that calls them in two threads, with OPEN after opening it.  Compiled by
 * tests/system/test_data.py, which says what is touched how often.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGNED	 __attribute__((aligned(PAGE)))
#define NOINLINE __attribute__((noinline))

enum { PAGE = 4096, PAGES = 12, BYTES = PAGES * PAGE };

void touch_all(void);

#ifdef LIBRARY

struct record {
	long id;
	char fill[PAGE - sizeof(long)];
	int key;
	char rest[PAGE - sizeof(int)];
};

/* Found at the same distance from the pointer in all threads, if the library was there at first. */
#ifdef OPEN
#define EARLY
#else
#define EARLY __attribute__((tls_model("initial-exec")))
#endif

__thread char shown[BYTES] ALIGNED;
static __thread char hidden[BYTES] ALIGNED;
static __thread int numbers[BYTES / sizeof(int)] ALIGNED;
__thread struct record records[PAGES / 2] ALIGNED;
__thread char early[BYTES] ALIGNED EARLY;
static __thread char *volatile behind;

/* Only fresh pages fault. */
static void fresh(void *memory)
{
	if (madvise(memory, BYTES, MADV_DONTNEED))
		exit(3);
}

NOINLINE void touch_shown(void)
{
	fresh(shown);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)shown)[i * PAGE + 8] = 1;
}

NOINLINE void touch_hidden(void)
{
	fresh(hidden);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)hidden)[i * PAGE + 8] = 1;
}

NOINLINE void touch_numbers(int count)
{
	fresh(numbers);
	for (int i = 0; i < count; i++)
		((volatile int *)numbers)[i * (PAGE / sizeof(int)) + 2] = 1;
}

NOINLINE void touch_records(void)
{
	fresh(records);
	for (int i = 0; i < PAGES / 2; i++)
		((volatile struct record *)records)[i].key = 1;
}

NOINLINE void touch_early(void)
{
	fresh(early);
	*(volatile char *)&early[5 * PAGE] = 1;
	for (int i = 0; i < PAGES; i++)
		((volatile char *)early)[i * PAGE + 8] = 1;
}

/* What a pointer of the thread leads to is not the thread's. */
NOINLINE void touch_behind(void)
{
	behind = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)behind)[i * PAGE] = 1;
}

void touch_all(void)
{
	touch_shown();
	touch_hidden();
	touch_numbers(PAGES);
	touch_records();
	touch_early();
	touch_behind();
}

#else

static void *run(void *function)
{
	((void (*)(void))function)();
	return NULL;
}

int main(void)
{
	pthread_t thread;
#ifdef OPEN
	void *library = dlopen("./libfields.so", RTLD_NOW);
	void *function = library ? dlsym(library, "touch_all") : NULL;

	if (!function)
		return 4;
#else
	void *function = (void *)touch_all;
#endif
	run(function);
	pthread_create(&thread, NULL, run, function);
	pthread_join(thread, NULL);
	return 0;
}

#endif
