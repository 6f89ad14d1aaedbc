/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of I/O calls: sizes, times and errors. */
#include "analysis/session/scan.h"
#include "analysis/views/io.h"

#include <stdlib.h>

static unsigned size_class(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static unsigned time_class(uint64_t ns)
{
	unsigned class = 0;

	for (uint64_t limit = 1000; class + 1 < IO_TIME_CLASSES && ns >= limit; limit *= 10)
		class ++;
	return class;
}

static enum io_group group_of(uint8_t type)
{
	switch (type) {
	case IO_READ:
		return IO_GROUP_READ;
	case IO_WRITE:
		return IO_GROUP_WRITE;
	case IO_WAIT:
		return IO_GROUP_WAIT;
	default:
		return IO_GROUP_OTHER;
	}
}

static void count_call(struct io_statistics *of, uint64_t bytes, uint64_t ns)
{
	if (!of->calls || bytes < of->smallest)
		of->smallest = bytes;
	if (bytes > of->largest)
		of->largest = bytes;
	if (ns > of->longest_ns)
		of->longest_ns = ns;
	of->calls++;
	of->bytes += bytes;
	of->total_ns += ns;
	of->sizes[size_class(bytes)]++;
	of->times[time_class(ns)]++;
}

static struct io_error *error_of(struct io_report *report, uint64_t number)
{
	for (size_t i = 0; i < report->errors.count; i++)
		if (report->errors.items[i].number == number)
			return &report->errors.items[i];
	struct io_error *error = vec_push(&report->errors);

	error->number = number;
	return error;
}

static void add_error(struct io_report *report, uint64_t number, uint64_t calls, uint64_t ns)
{
	struct io_error *error = error_of(report, number);

	error->calls += calls;
	error->total_ns += ns;
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	const struct event_run *run = piece->run;
	struct io_report *report = state;

	if (run->kind != (enum event_kind)(EVENTS_TRACE + TRACE_IO))
		return;
	const uint64_t *types = event_column(run, ROW_TYPE), *bytes = event_field(run, IO_BYTES);
	const uint64_t *errors = event_field(run, IO_RESULT), *waits = event_field(run, IO_WAITED);

	for (size_t i = 0; i < run->count; i++) {
		uint64_t error = errors[i], ns = waits[i];
		enum io_group group = error ? IO_GROUP_ERROR : group_of((unsigned)types[i]);

		if (piece->measuring.chosen && !piece->measuring.chosen[i])
			continue;
		count_call(&report->of[group], bytes[i], ns);
		report->of[group].requests += io_requests(run, i);
		if (error)
			add_error(report, error, 1, ns);
	}
}

static void merge_group(struct io_statistics *to, const struct io_statistics *from)
{
	if (from->calls && (!to->calls || from->smallest < to->smallest))
		to->smallest = from->smallest;
	if (from->largest > to->largest)
		to->largest = from->largest;
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
	to->calls += from->calls;
	to->bytes += from->bytes;
	to->requests += from->requests;
	to->total_ns += from->total_ns;
	for (int i = 0; i < IO_SIZE_CLASSES; i++)
		to->sizes[i] += from->sizes[i];
	for (int i = 0; i < IO_TIME_CLASSES; i++)
		to->times[i] += from->times[i];
}

static int by_calls(const void *a, const void *b)
{
	const struct io_error *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void view_io_report(struct session *session, const struct query *query, struct io_report *report)
{
	struct tally *tally = tally_of(session, query);
	size_t threads = scan_threads();
	struct io_report *parts = xcalloc(threads, sizeof(*parts));
	void **states = xcalloc(threads, sizeof(*states));

	*report = (struct io_report){0};
	for (size_t i = 0; i < threads; i++)
		states[i] = &parts[i];
	for (size_t i = 0; i < session->scanned.count; i++)
		scan_process(tally, &session->scanned.items[i], count_piece, states);
	for (size_t i = 0; i < threads; i++) {
		for (int group = 0; group < IO_GROUPS; group++)
			merge_group(&report->of[group], &parts[i].of[group]);
		for (size_t k = 0; k < parts[i].errors.count; k++) {
			const struct io_error *error = &parts[i].errors.items[k];

			add_error(report, error->number, error->calls, error->total_ns);
		}
		io_report_fini(&parts[i]);
	}
	if (report->errors.count)
		qsort(report->errors.items, report->errors.count, sizeof(*report->errors.items),
		      by_calls);
	free(states);
	free(parts);
	tally_release(tally);
}

void io_report_fini(struct io_report *report)
{
	vec_fini(&report->errors);
}
