/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Touches members of structures that lie a page apart, so that each touch is one page fault, and
 * writes members that may be watched: fields N
 *
 * What is touched how often follows from N; tests/system/test_data.py says it.  Compiled by the
 * test, in several ways.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))
#define ALIGNED	 __attribute__((aligned(PAGE)))

enum { PAGE = 4096, STACK_PAGES = 24, THREAD_PAGES = 12 };

union number {
	int whole;
	double real;
	char room[PAGE];
};

struct inner {
	int key;
	char fill[PAGE - sizeof(int)];
	long value;
	char rest[PAGE - sizeof(long)];
};

struct record {
	struct record *next;
	char fill[PAGE - sizeof(void *)];
	struct inner in;
	union number number;
	int table[PAGE / sizeof(int)];
	struct {
		short left, right;
		char room[PAGE - 4];
	};
};

struct chain {
	struct chain *next;
	char fill[PAGE - sizeof(void *)];
	long visits;
	char rest[PAGE - sizeof(long)];
};

struct grown {
	struct grown *next;
	char fill[PAGE - sizeof(void *)];
	long weight;
	char rest[PAGE - sizeof(long)];
};

/* Watched. */
struct small {
	int first, second;
	struct {
		short a, b;
	} deep;
	char last;
};

struct record one ALIGNED;
static struct record other ALIGNED;
static int numbers[8 * PAGE / sizeof(int)] ALIGNED;
int lone ALIGNED;
static char after_lone[PAGE] ALIGNED;
__thread char of_thread[THREAD_PAGES * PAGE] ALIGNED;
volatile struct small watched;
struct small plain;

static void *fresh(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

/* ---- page faults ---- */

NOINLINE void touch_record(struct record *record)
{
	record->next = NULL;
	record->in.key = 1;
	record->in.value = 2;
	record->number.real = 3;
	record->table[5] = 4;
	record->right = 5;
}

NOINLINE void touch_array(struct inner *array, long count)
{
	for (long i = 0; i < count; i++) {
		array[i].key = (int)i;
		array[i].value = i;
	}
}

NOINLINE void touch_pointers(struct record **records, long count)
{
	for (long i = 0; i < count; i++)
		records[i]->number.whole = 1;
}

NOINLINE void touch_chain(struct chain *link)
{
	for (; link; link = link->next)
		link->visits = 1;
}

NOINLINE struct chain *first_of(struct chain *links)
{
	return links + 1;
}

NOINLINE void touch_result(struct chain *links)
{
	first_of(links)->visits = 1;
}

/* What is allocated as anything is known by what it is stored as. */
NOINLINE void touch_stored(struct grown *root, long count)
{
	for (long i = 0; i < count; i++) {
		root->next = fresh(sizeof(*root));
		root->next->weight = i;
	}
}

NOINLINE void touch_integers(int *integers, long pages)
{
	for (long i = 0; i < pages; i++)
		integers[i * (PAGE / sizeof(int))] = 1;
}

NOINLINE int touch_stack(void)
{
	volatile char big[STACK_PAGES * PAGE];
	int sum = 0;

	for (int i = 0; i < STACK_PAGES; i++)
		big[i * PAGE] = 1;
	for (int i = 0; i < STACK_PAGES; i++)
		sum += big[i * PAGE];
	return sum;
}

NOINLINE void touch_static(void)
{
	static char local[6 * PAGE] ALIGNED;

	for (int i = 0; i < 6; i++)
		((volatile char *)local)[i * PAGE] = 1;
}

/* The memory was filled with zeros when the thread began: only fresh pages fault. */
NOINLINE void touch_thread(void)
{
	if (madvise(of_thread, sizeof(of_thread), MADV_DONTNEED))
		exit(1);
	for (int i = 0; i < THREAD_PAGES; i++)
		((volatile char *)of_thread)[i * PAGE + 8] = 1;
}

NOINLINE void *make_block(size_t size)
{
	return malloc(size);
}

/* A pointer that says nothing. */
NOINLINE void touch_block(void *block, long pages)
{
	memset(block, 1, pages * PAGE);
}

static void link_chain(struct chain *links, long count)
{
	for (long i = 0; i < count; i++)
		links[i].next = i + 1 < count ? &links[i + 1] : NULL;
}

static void page_faults(long count)
{
	struct record *records = fresh(count * sizeof(*records));
	struct record *more = fresh(count * sizeof(*more));
	struct record **pointers = fresh(count * sizeof(struct record *));
	struct chain *links = fresh(count * sizeof(*links));

	for (long i = 0; i < count; i++) {
		touch_record(&records[i]);
		pointers[i] = &more[i];
	}
	touch_record(&one);
	touch_record(&other);
	touch_array(fresh(count * sizeof(struct inner)), count);
	touch_pointers(pointers, count);
	link_chain(links, count);
	touch_chain(links);
	touch_result(fresh(4 * sizeof(struct chain)));
	touch_stored(fresh(sizeof(struct grown)), count);
	touch_integers(fresh(count * PAGE), count);
	for (int i = 0; i < 8; i++)
		((volatile int *)numbers)[i * (PAGE / sizeof(int))] = 1;
	*(volatile int *)&lone = 1;
	*(volatile char *)after_lone = 1;
	touch_static();
	touch_thread();
	touch_stack();
	touch_block(make_block(64 * PAGE), 64);
}

/* ---- watch points ---- */

NOINLINE void write_watched(long count)
{
	for (long i = 0; i < count; i++) {
		watched.first = (int)i;
		watched.second = (int)i;
		watched.second = 0;
		watched.deep.b = 1;
	}
}

NOINLINE void write_through(struct small *small, long count)
{
	for (long i = 0; i < count; i++)
		*(volatile char *)&small->last = 1;
}

int main(int count, char **words)
{
	long n = count > 1 ? atol(words[1]) : 10;

	page_faults(n);
	write_watched(n);
	write_through(&plain, n);
	return 0;
}
