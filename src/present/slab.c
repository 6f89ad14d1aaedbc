/* SPDX-License-Identifier: Apache-2.0 */
#include "present/slab.h"

#include "analysis/views/timeline.h"
#include "base/json.h"
#include "base/memory.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "HELIOSL1";

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "numbers are copied as they are");

/* Adds an array and returns what stands for it. */
static json_t *add_array(struct slab *slab, const char *type, const void *items, size_t size,
			 size_t count)
{
	static const char zeros[8];
	size_t at = slab->bytes.length;

	strbuf_add(&slab->bytes, items, size * count);
	strbuf_add(&slab->bytes, zeros, -slab->bytes.length & 7);
	return json_pack("{s:s, s:I, s:I}", "$", type, "at", (json_int_t)at, "count",
			 (json_int_t)count);
}

static json_t *add_u32(struct slab *slab, const uint32_t *items, size_t count)
{
	return add_array(slab, "u32", items, sizeof(*items), count);
}

static json_t *add_f64(struct slab *slab, const double *items, size_t count)
{
	return add_array(slab, "f64", items, sizeof(*items), count);
}

/* ---- tables ---- */

json_t *slab_values(struct slab *slab, const struct table *table, const double *values,
		    size_t column)
{
	double *items = xcalloc(table->row_count + 1, sizeof(*items));

	for (size_t i = 0; i < table->row_count; i++)
		items[i] = table->rows[i].no_values || table->columns[column].not_recorded
				   ? (double)NAN
				   : values[i * table->column_count + column];
	json_t *array = add_f64(slab, items, table->row_count);

	free(items);
	return array;
}

static uint32_t number_of(struct string_table *texts, const char *text)
{
	return text ? string_table_add(texts, text) : UINT32_MAX;
}

static json_t *json_texts(const struct string_table *texts)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < texts->count; i++)
		json_array_append_new(list, json_text(string_table_text(texts, i)));
	return list;
}

static uint32_t number_of_row(const struct row *row, int what)
{
	switch (what) {
	case 0:
		return row->id;
	case 1:
		return row_depth(row) ? row_parent(row) : UINT32_MAX;
	case 2:
		return row_depth(row);
	case 3:
		return row_block(row);
	case 4:
		return row->mark;
	case 5:
		return row->kind;
	case 6:
		return row_detail(row)->line;
	default:
		return row->hot;
	}
}

/* The columns of numbers that a shape has: bits by number_of_row(). */
static unsigned columns_of(enum table_shape shape)
{
	switch (shape) {
	case SHAPE_TREE:
		return 1 << 0 | 1 << 1 | 1 << 2;
	case SHAPE_LISTING:
		return 1 << 5 | 1 << 6 | 1 << 7;
	case SHAPE_LIST:
		return 0;
	default:
		return 1 << 3 | 1 << 4;
	}
}

static void add_numbers(struct slab *slab, json_t *columns, const struct table *table,
			enum table_shape shape)
{
	static const char *const names[] = {"id",   "parent", "depth", "block",
					    "role", "kind",   "line",  "hot"};
	uint32_t *items = xcalloc(table->row_count + 1, sizeof(*items));

	for (int what = 0; what < (int)(sizeof(names) / sizeof(*names)); what++) {
		if (!(columns_of(shape) & 1u << what))
			continue;
		for (size_t i = 0; i < table->row_count; i++)
			items[i] = number_of_row(&table->rows[i], what);
		json_object_set_new(columns, names[what], add_u32(slab, items, table->row_count));
	}
	free(items);
}

static void add_doubles(struct slab *slab, json_t *columns, const struct table *table,
			enum table_shape shape)
{
	double *items = xcalloc(table->row_count + 1, sizeof(*items));

	if (shape == SHAPE_LISTING) {
		for (size_t i = 0; i < table->row_count; i++)
			items[i] = table->rows[i].kind == ROW_INSTRUCTION
					   ? (double)row_detail(&table->rows[i])->address
					   : (double)NAN;
		json_object_set_new(columns, "address", add_f64(slab, items, table->row_count));
	}
	if (table->index) {
		for (size_t i = 0; i < table->row_count; i++) {
			uint64_t value = row_detail(&table->rows[i])->value;

			items[i] = value == UINT64_MAX ? (double)NAN : (double)value;
		}
		json_object_set_new(columns, "value", add_f64(slab, items, table->row_count));
	}
	free(items);
}

void slab_add_places(struct slab *slab, json_t *columns, const struct table *table,
		     enum table_shape shape)
{
	uint32_t *items = xcalloc(table->row_count + 1, sizeof(*items));
	struct string_table texts = {0};

	for (size_t i = 0; i < table->row_count; i++)
		items[i] = number_of(&texts, table->rows[i].name);
	json_object_set_new(columns, "name", add_u32(slab, items, table->row_count));
	for (size_t i = 0; i < table->row_count; i++)
		items[i] = number_of(&texts, row_object(&table->rows[i]));
	json_object_set_new(columns, "object", add_u32(slab, items, table->row_count));
	json_object_set_new(columns, "texts", json_texts(&texts));
	add_numbers(slab, columns, table, shape);
	add_doubles(slab, columns, table, shape);
	string_table_fini(&texts);
	free(items);
}

/* ---- timelines ---- */

/* Where the numbers of a cell are that an array is made of. */
static uint64_t of_cell(const struct timeline_cell *cell, int state, int kind)
{
	if (state >= 0)
		return cell->state_us[state];
	return kind >= 0 ? cell->events[kind] : cell->function;
}

/* NULL: all are 0, and zeros are not wanted. */
static json_t *cells_of(struct slab *slab, const struct timeline *timeline, int state, int kind,
			bool zeros)
{
	size_t count = timeline->lane_count * timeline->cell_count;
	uint32_t *items = xcalloc(count + 1, sizeof(*items));
	bool any = zeros;

	for (size_t i = 0; i < count; i++) {
		uint64_t value = of_cell(&timeline->cells[i], state, kind);

		items[i] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
		any |= value > 0;
	}
	json_t *array = any ? add_u32(slab, items, count) : NULL;

	free(items);
	return array;
}

void slab_add_timeline(struct slab *slab, json_t *object, const struct timeline *timeline)
{
	json_t *columns = json_object(), *states = json_object(), *events = json_object(), *array;

	json_object_set_new(columns, "function", cells_of(slab, timeline, -1, -1, true));
	for (int i = 0; i < PROFILE_STATES; i++)
		if ((array = cells_of(slab, timeline, i, -1, false)))
			json_object_set_new(states, timeline_states[i], array);
	for (int i = 0; i < TIMELINE_KINDS; i++)
		if ((array = cells_of(slab, timeline, -1, i, false)))
			json_object_set_new(events, timeline_kinds[i], array);
	json_object_set_new(columns, "states", states);
	json_object_set_new(columns, "events", events);
	json_object_set_new(object, "columns", columns);
}

/* ---- all of it ---- */

static void put(const void *data, size_t size, FILE *file)
{
	if (size)
		fwrite(data, 1, size, file);
}

void slab_write(struct slab *slab, const char *header, size_t size, FILE *file)
{
	static const char zeros[8];
	uint32_t length = (uint32_t)size;

	put(magic, sizeof(magic) - 1, file);
	put(&length, sizeof(length), file);
	put(header, size, file);
	put(zeros, -(sizeof(magic) - 1 + sizeof(length) + size) & 7, file);
	put(slab->bytes.text, slab->bytes.length, file);
	strbuf_fini(&slab->bytes);
}
