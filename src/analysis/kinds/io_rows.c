/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor's number is used again and again: an event belongs to the last opening of
 * its number that was over when it began.  Who has the number has it from that call.
 *
 * Experiments that are compared have no openings in common: there all openings of a file with one
 * number, in processes of one lineage, are one row.
 */
#include "analysis/kinds/io_rows.h"

#include <stdlib.h>
#include <string.h>

#define NO_NAME "<Other I/O activity>"

/* A return of a call that made a descriptor. */
struct opening {
	uint64_t fd, time_ns;
};

struct opening_list {
	struct opening *items;
	size_t count, capacity;
};

struct making {
	struct session *session;
	struct io_rows *out;
	enum io_row_kind kind;
	struct string_table names;
	struct hash_map known; /* of what makes a row → row */
	/* of the process in hand */
	const struct session_process *process;
	uint32_t lineage; /* number of its text among the names */
	struct opening_list openings;
};

static int compare_openings(const void *a, const void *b)
{
	const struct opening *x = a, *y = b;

	if (x->fd != y->fd)
		return x->fd < y->fd ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void find_openings(const struct experiment_trace *trace, struct opening_list *list)
{
	for (size_t i = 0; i < trace->rows.count; i++) {
		uint64_t fd = trace_field(trace, IO_DESCRIPTOR, i);

		if (trace_type(trace, i) == IO_OPEN && fd)
			*vec_push(list) = (struct opening){fd, trace_time(trace, i)};
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_openings);
}

/* The number of the last opening of the event's descriptor, from 1; 0: it was there before. */
static size_t opening_of(const struct opening_list *list, const struct experiment_trace *trace,
			 size_t event)
{
	uint64_t waited =
		trace_type(trace, event) == IO_OPEN ? 0 : trace_field(trace, IO_WAITED, event);
	uint64_t time = trace_time(trace, event), begin = time > waited ? time - waited : 0;
	struct opening key = {trace_field(trace, IO_DESCRIPTOR, event), begin};
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_openings(&list->items[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && list->items[low - 1].fd == key.fd ? low : 0;
}

/* The session's number of each name of a process, by the number of its text there. */
static uint32_t *names_of(struct making *making, const struct experiment_trace *trace)
{
	uint32_t *names = xmalloc((trace->texts.count + 1) * sizeof(*names));
	uint32_t none = string_table_add(&making->names, NO_NAME);

	for (size_t i = 0; i < trace->texts.count; i++) {
		const char *text = trace->texts.items[i];

		names[i] = text ? string_table_add(&making->names, text) : none;
	}
	names[trace->texts.count] = none;
	return names;
}

static const char *opening_title(const struct making *making, const char *file, uint64_t fd)
{
	struct arena *arena = &making->out->arena;
	const char *where = making->session->processes.count > 1
				    ? arena_printf(arena, ", Process %u", making->process->id)
				    : "";
	size_t number = making->out->rows.count;

	return fd ? arena_printf(arena, "%s (IOVFD=%zu, FD=%llu%s)", file, number,
				 (unsigned long long)fd - 1, where)
		  : arena_printf(arena, "%s (IOVFD=%zu%s)", file, number, where);
}

static const char *compared_title(const struct making *making, const char *file, uint64_t fd)
{
	struct arena *arena = &making->out->arena;
	const char *lineage = making->process->process->lineage;
	const char *number =
		fd ? arena_printf(arena, "FD=%llu", (unsigned long long)fd - 1) : "no FD";

	return arena_printf(arena, "%s (%s%s%s)", file, number, *lineage ? ", " : "", lineage);
}

static const char *title_of(const struct making *making, const char *file, uint64_t fd)
{
	switch (making->kind) {
	case IO_ROWS_OPENINGS:
		return opening_title(making, file, fd);
	case IO_ROWS_COMPARED:
		return compared_title(making, file, fd);
	default:
		return file;
	}
}

static uint64_t key_of(const struct making *making, uint32_t name, uint64_t fd, size_t event)
{
	const struct experiment_trace *trace = &making->process->process->traces[TRACE_IO];
	size_t opening;

	switch (making->kind) {
	case IO_ROWS_OPENINGS:
		opening = fd ? opening_of(&making->openings, trace, event) : 0;
		return hash_u64(hash_u64((uint64_t)making->process->id << 32 | name) ^
				(fd << 32 ^ opening));
	case IO_ROWS_COMPARED:
		return hash_u64(hash_u64((uint64_t)making->lineage << 32 | name) ^ fd);
	default:
		return name;
	}
}

static uint32_t row_of(struct making *making, uint32_t name, size_t event)
{
	const struct experiment_trace *trace = &making->process->process->traces[TRACE_IO];
	uint64_t fd = trace_field(trace, IO_DESCRIPTOR, event),
		 key = key_of(making, name, fd, event);
	uint32_t fresh = (uint32_t)making->out->rows.count;
	uint32_t row = hash_map_put(&making->known, key, fresh);

	if (row == fresh) {
		const char *file = arena_strdup(&making->out->arena, making->names.items[name]);
		const char *title = title_of(making, file, fd);

		*vec_push(&making->out->rows) = (struct io_row){file, title};
	}
	return row;
}

static uint32_t *rows_of_process(struct making *making, const struct session_process *process)
{
	const struct experiment_trace *trace = &process->process->traces[TRACE_IO];
	uint32_t *rows = xmalloc((trace->rows.count + 1) * sizeof(*rows));
	uint32_t *names = names_of(making, trace);

	making->process = process;
	making->lineage = string_table_add(&making->names, process->process->lineage);
	if (making->kind == IO_ROWS_OPENINGS)
		find_openings(trace, &making->openings);
	for (size_t i = 0; i < trace->rows.count; i++) {
		uint64_t text = trace_field(trace, IO_NAME, i);

		rows[i] = row_of(making,
				 names[text < trace->texts.count ? text : trace->texts.count], i);
	}
	vec_fini(&making->openings);
	free(names);
	return rows;
}

const struct io_rows *io_rows_of(struct session *session, enum io_row_kind kind)
{
	struct io_rows **rows = &session->io_rows[kind];
	struct making making = {.session = session, .kind = kind};

	if (*rows)
		return *rows;
	making.out = *rows = xcalloc(1, sizeof(**rows));
	making.out->processes = session->scanned.count;
	making.out->of = xcalloc(session->scanned.count + 1, sizeof(*making.out->of));
	*vec_push(&making.out->rows) = (struct io_row){"<Total>", "<Total>"};
	for (size_t i = 0; i < session->scanned.count; i++)
		making.out->of[i] = rows_of_process(&making, &session->scanned.items[i]);
	hash_map_fini(&making.known);
	string_table_fini(&making.names);
	return *rows;
}

void io_rows_free(struct io_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->processes; i++)
		free(rows->of[i]);
	free(rows->of);
	vec_fini(&rows->rows);
	arena_fini(&rows->arena);
	free(rows);
}
