/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of I/O tracing.  Filters and selections are obeyed.
 */
#ifndef HELIO_ANALYSIS_IO_H
#define HELIO_ANALYSIS_IO_H

#include "base/arena.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct metric;
struct query;
struct session;
struct table;

/*
 * One row per file, peer or other thing that was called by one name, in whichever processes.
 * Columns are the query's metrics of I/O, exclusive, or, where it has none or the default
 * ones, all of them.
 */
void view_io_activity(struct session *session, const struct query *query, struct table *table);
/* One row per opening of a descriptor in a process; what was there before, or failed, too. */
void view_io_detail(struct session *session, const struct query *query, struct table *table);

enum io_group { IO_GROUP_WRITE, IO_GROUP_READ, IO_GROUP_WAIT, IO_GROUP_OTHER, IO_GROUP_ERROR };
enum { IO_GROUPS = IO_GROUP_ERROR + 1, IO_SIZE_CLASSES = 65, IO_TIME_CLASSES = 12 };

/* What the calls of a group were like. */
struct io_statistics {
	uint64_t calls, bytes, total_ns, longest_ns;
	uint64_t requests;	    /* that were handed to an io_uring */
	uint64_t smallest, largest; /* bytes */
	/* calls of [2^(i-1), 2^i) bytes; the first: of none */
	uint64_t sizes[IO_SIZE_CLASSES];
	/* calls of [10^(i-1), 10^i) µs; the first: of less than one, the last: of all above */
	uint64_t times[IO_TIME_CLASSES];
};

struct io_error {
	uint64_t number; /* errno */
	uint64_t calls, total_ns;
};

struct io_report {
	struct io_statistics of[IO_GROUPS];
	VEC(struct io_error) errors; /* most frequent first */
};

void view_io_report(struct session *session, const struct query *query, struct io_report *report);
void io_report_fini(struct io_report *report);

/* One call stack, in whichever processes, and the sums of all metrics of I/O at it. */
struct io_stack {
	double time;	     /* in all calls, seconds: stacks are sorted by it */
	double *values;	     /* by the list's metrics */
	const char **frames; /* leaf first: "read + 0x0000001c, a.c:12" */
	size_t depth;
};

/* The first stack is the total, without frames. A limit is one of stacks. */
struct io_stack_list {
	const struct metric **metrics;
	size_t metric_count;
	struct io_stack *stacks;
	size_t count;
	struct arena arena; /* owns all of the above */
};

void view_io_stacks(struct session *session, const struct query *query, struct io_stack_list *list);
void io_stack_list_fini(struct io_stack_list *list);

#endif
