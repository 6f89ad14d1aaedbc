/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/contexts.h"

#include "format/varint.h"

#include <string.h>

void context_table_fini(struct context_table *table)
{
	vec_fini(&table->items);
	hash_map_fini(&table->known);
	*table = (struct context_table){0};
}

void context_reader_reset(struct context_reader *reader)
{
	reader->now = (struct event_context){0};
	reader->number = 0;
	reader->changed = false;
}

const uint8_t *context_reader_read(struct context_reader *reader, const uint8_t *in,
				   const uint8_t *end)
{
	uint64_t runtime, count, value;
	uint64_t *fields;

	in = varint_get(in, end, &runtime);
	in = in ? varint_get(in, end, &count) : NULL;
	if (!in || count > CONTEXT_FIELDS_MAX)
		return NULL;
	/* Of a runtime that this version does not know, a place that says nothing. */
	fields = reader->now.field[runtime < FORMAT_RUNTIMES ? runtime : 0];
	for (unsigned i = 0; i < CONTEXT_FIELDS_MAX; i++) {
		value = 0;
		if (i < count && !(in = varint_get(in, end, &value)))
			return NULL;
		fields[i] = value;
	}
	memset(reader->now.field[0], 0, sizeof(reader->now.field[0]));
	reader->changed = true;
	return in;
}

static uint64_t hash(const struct event_context *context)
{
	const uint64_t *words = &context->field[0][0];
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(*context) / sizeof(*words); i++)
		sum = hash_u64(sum ^ words[i]) + i;
	return sum;
}

static void note_said(struct context_table *table, const struct event_context *context)
{
	for (unsigned runtime = 0; runtime < FORMAT_RUNTIMES; runtime++)
		for (unsigned i = 0; i < CONTEXT_FIELDS_MAX; i++)
			table->said[runtime] |= context->field[runtime][i] != 0;
}

uint32_t context_reader_look_up(struct context_reader *reader)
{
	struct context_table *table = reader->table;

	reader->changed = false;
	reader->number = 0;
	if (!table)
		return 0;
	if (!table->items.count) {
		static const struct event_context none;

		*vec_push(&table->items) = none;
		hash_map_put(&table->known, hash(&none), 0);
	}
	for (uint64_t key = hash(&reader->now);; key++) { /* two of one hash take neighbours */
		uint32_t fresh = (uint32_t)table->items.count;

		reader->number = hash_map_put(&table->known, key, fresh);
		if (reader->number == fresh) {
			*vec_push(&table->items) = reader->now;
			note_said(table, &reader->now);
		}
		if (!memcmp(&table->items.items[reader->number], &reader->now, sizeof(reader->now)))
			return reader->number;
	}
}
