/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runtimes said of events (format/context.h): the distinct contexts of a process, by number.
 * Number 0 is that of events of which no runtime said anything.
 */
#ifndef HELIO_EXPERIMENT_CONTEXTS_H
#define HELIO_EXPERIMENT_CONTEXTS_H

#include "base/hash.h"
#include "base/memory.h"
#include "format/context.h"

#include <stdbool.h>

struct event_context {
	uint64_t field[FORMAT_RUNTIMES][CONTEXT_FIELDS_MAX];
};

/* The fields of it that are not 0. */
struct kept_context {
	uint32_t first; /* among the values */
	uint32_t mask;	/* a bit for each field, runtime by runtime */
};

struct context_table {
	VEC(struct kept_context) items; /* empty: all are number 0 */
	VEC(uint64_t) values;
	struct hash_map known;	    /* hash → the first of that hash, … */
	bool said[FORMAT_RUNTIMES]; /* by runtime: some event has a field that is not 0 */
};

void context_table_fini(struct context_table *table);
struct event_context context_table_get(const struct context_table *table, size_t number);
/* Where a field is, or NULL: it is 0. */
uint64_t *context_table_field(const struct context_table *table, size_t number,
			      enum format_runtime runtime, unsigned field);

/* The contexts in force while a block is read. */
struct context_reader {
	struct context_table *table; /* NULL: nobody wants to know */
	struct event_context now;
	uint32_t number; /* of `now`, unless … */
	bool changed;
};

/* At the beginning of a block, and of a thread's events. */
void context_reader_reset(struct context_reader *reader);
/* The fields of a record of FORMAT_TAG_CONTEXT; NULL: it is damaged. */
const uint8_t *context_reader_read(struct context_reader *reader, const uint8_t *in,
				   const uint8_t *end);
uint32_t context_reader_look_up(struct context_reader *reader);
/* The number of the context in force. */
static inline uint32_t context_reader_number(struct context_reader *reader)
{
	return reader->changed ? context_reader_look_up(reader) : reader->number;
}

#endif
