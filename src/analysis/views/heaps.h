/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of heap tracing: blocks of memory by the call stack that allocated them.
 *
 * A filter chooses allocations.  What became of a block, and how much memory there was at a
 * moment, comes from all events (experiment/heap.h).
 */
#ifndef HELIO_ANALYSIS_HEAPS_H
#define HELIO_ANALYSIS_HEAPS_H

#include "experiment/heap.h"

struct process_info;
struct query;
struct session;

struct heap_amount {
	uint64_t blocks, bytes;
	float variance; /* of the bytes, where they are those of a sample */
};

/* Of the bytes: two standard errors, or 0. */
uint64_t heap_error(struct heap_amount amount);

/* By enum heap_fate. */
struct heap_amounts {
	struct heap_amount of[HEAP_FATES];
};

struct heap_amount heap_allocated(const struct heap_amounts *amounts);
/* What was never freed, and is not known to be reachable. */
struct heap_amount heap_leaked(const struct heap_amounts *amounts);

/* Equal stacks of several processes are one. */
struct heap_stack {
	const char *const *frames; /* leaf first: "f + 0x0000001c, a.c:12" */
	size_t depth;
	struct heap_amounts amounts;
	struct heap_amounts *parts; /* by group, where the query compares them; else NULL */
};

struct heap_stacks {
	struct heap_amounts total;
	struct heap_amounts *parts; /* of it */
	struct heap_stack *stacks;  /* most bytes allocated first, or … */
	size_t count;
	size_t by_change; /* differences are shown, of so many groups: what grew most first; or 0 */
	struct arena arena; /* owns all of the above */
};

void view_heap_stacks(struct session *session, const struct query *query,
		      struct heap_stacks *stacks);
void heap_stacks_fini(struct heap_stacks *stacks);

/* The allocations of one stack that one fate met: what `leaks` lists. */
struct heap_leak {
	const struct heap_stack *stack;
	enum heap_fate fate;
	struct heap_amount amount; /* the parts are those of the stack */
};
/* The worst fate first, then most bytes first, or as the stacks; the caller frees the array. */
struct heap_leak *heap_leaks(const struct heap_stacks *stacks, size_t *count);
/* "definitely lost", …; "" where it is not known whether anything points to the block. */
const char *heap_fate_text(enum heap_fate fate);

/* Size classes: up to so many bytes; the last has no end. */
enum { HEAP_SIZE_CLASSES = 10, HEAP_LIFE_CLASSES = 10 };
extern const char *const heap_size_names[HEAP_SIZE_CLASSES];
/* Powers of ten of a microsecond; blocks that were never freed are in none. */
extern const char *const heap_life_names[HEAP_LIFE_CLASSES];

struct heap_sizes {
	struct heap_amount classes[HEAP_SIZE_CLASSES];
	struct heap_amount total;
	uint64_t smallest, largest; /* of one block */
};

struct heap_statistics {
	struct heap_sizes allocated, leaked;
	struct heap_amount never_released;
	struct heap_amount fates[HEAP_FATES];
	struct heap_amount lives[HEAP_LIFE_CLASSES];
	struct heap_amount mapped[HEAP_TYPES]; /* calls of mmap and so on, by type */
	uint64_t unmatched;		       /* releases of blocks that are not known */
	bool searched, sampled;
	/* the process with the highest peak; NULL: there is none */
	const struct process_info *peak_process;
	struct heap_amount peak_amount;
	uint64_t peak_ns;
	uint64_t first_ns, last_ns;
	uint64_t most[HEAP_RANGES]; /* its live bytes at most, in equal ranges of that time */
	struct heap_stacks peak;    /* its blocks at that moment */
};

void view_heap_statistics(struct session *session, const struct query *query,
			  struct heap_statistics *statistics);
/* When a time range of the process with the highest peak begins, in seconds. */
double heap_range_begin(const struct heap_statistics *statistics, size_t range);
/* The most live bytes in any range. */
uint64_t heap_most(const struct heap_statistics *statistics);
/* Whether memory was mapped, or the break moved, by the program itself. */
bool heap_has_mapped(const struct heap_statistics *statistics);
/* How many stacks of the peak are shown: the query's limit, or the first few. */
size_t heap_peak_shown(const struct heap_statistics *statistics, const struct query *query);
void heap_statistics_fini(struct heap_statistics *statistics);

#endif
