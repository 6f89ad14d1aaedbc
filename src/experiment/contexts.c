/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/contexts.h"

#include "format/varint.h"

#include <string.h>

void context_table_fini(struct context_table *table)
{
	vec_fini(&table->items);
	vec_fini(&table->values);
	hash_map_fini(&table->known);
	*table = (struct context_table){0};
}

_Static_assert(FORMAT_RUNTIMES *CONTEXT_FIELDS_MAX <= 32, "a bit for each field");

uint64_t *context_table_field(const struct context_table *table, size_t number,
			      enum format_runtime runtime, unsigned field)
{
	const struct kept_context *kept = &table->items.items[number];
	uint32_t bit = 1u << ((unsigned)runtime * CONTEXT_FIELDS_MAX + field);

	if (!(kept->mask & bit))
		return NULL;
	return &table->values
			.items[kept->first + (unsigned)__builtin_popcount(kept->mask & (bit - 1))];
}

struct event_context context_table_get(const struct context_table *table, size_t number)
{
	struct event_context context = {0};
	const struct kept_context *kept;
	size_t at;

	if (number >= table->items.count) /* nothing was said of any event */
		return context;
	kept = &table->items.items[number];
	at = kept->first;
	for (uint32_t mask = kept->mask; mask; mask &= mask - 1)
		(&context.field[0][0])[__builtin_ctz(mask)] = table->values.items[at++];
	return context;
}

static void keep(struct context_table *table, const struct event_context *context)
{
	const uint64_t *fields = &context->field[0][0];
	struct kept_context *kept = vec_push(&table->items);

	kept->first = (uint32_t)table->values.count;
	for (unsigned i = 0; i < FORMAT_RUNTIMES * CONTEXT_FIELDS_MAX; i++) {
		if (!fields[i])
			continue;
		kept->mask |= 1u << i;
		table->said[i / CONTEXT_FIELDS_MAX] = true;
		*vec_push(&table->values) = fields[i];
	}
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

static bool is_kept(const struct context_table *table, size_t number,
		    const struct event_context *context)
{
	const struct event_context kept = context_table_get(table, number);

	return !memcmp(&kept, context, sizeof(kept));
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

		keep(table, &none);
		hash_map_put(&table->known, hash(&none), 0);
	}
	for (uint64_t key = hash(&reader->now);; key++) { /* two of one hash take neighbours */
		uint32_t fresh = (uint32_t)table->items.count;

		reader->number = hash_map_put(&table->known, key, fresh);
		if (reader->number == fresh)
			keep(table, &reader->now);
		if (is_kept(table, reader->number, &reader->now))
			return reader->number;
	}
}
