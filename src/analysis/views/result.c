/* SPDX-License-Identifier: Apache-2.0 */
/* Putting an answer together. */
#include "analysis/views/result.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void result_init(struct result *result, const char *view, const struct session *session)
{
	*result = (struct result){.view = view, .session = session};
}

void result_fini(struct result *result)
{
	for (struct part *part = result->first; part; part = part->next) {
		if (part->kind == PART_TABLE)
			table_fini(&part->table.table);
		if (part->kind == PART_STACKS)
			stack_list_fini(&part->stacks);
		if (part->kind == PART_TIMELINE)
			timeline_fini(&part->timeline);
		if (part->kind == PART_EVENTS)
			timeline_page_fini(&part->events);
	}
	vec_fini(&result->metrics);
	arena_fini(&result->arena);
	result->first = result->last = NULL;
}

/* The next element of an array in the arena. */
static void *grow(struct arena *arena, void **items, size_t *count, size_t *capacity, size_t size)
{
	if (*count == *capacity) {
		void *old = *items;

		*capacity = *capacity ? 2 * *capacity : 8;
		*items = arena_alloc(arena, *capacity * size);
		if (old)
			memcpy(*items, old, *count * size);
	}
	return (char *)*items + (*count)++ * size;
}

#define push(result, array)                                                                        \
	((__typeof__((array)->items))grow(&(result)->arena, (void **)&(array)->items,              \
					  &(array)->count, &(array)->capacity,                     \
					  sizeof(*(array)->items)))

__attribute__((format(printf, 2, 0))) static const char *vprint(struct result *result,
								const char *format, va_list args)
{
	char *text = xvasprintf(format, args);
	char *copy = arena_strdup(&result->arena, text);

	free(text);
	return copy;
}

static struct part *add_part(struct result *result, enum part_kind kind)
{
	struct part *part = arena_new(&result->arena, struct part);

	part->kind = kind;
	if (result->last)
		result->last->next = part;
	else
		result->first = part;
	result->last = part;
	return part;
}

struct part *result_heading(struct result *result, const char *format, ...)
{
	struct part *part = add_part(result, PART_HEADING);
	va_list args;

	va_start(args, format);
	part->heading.text = vprint(result, format, args);
	va_end(args);
	return part;
}

struct part *result_note(struct result *result, const char *format, ...)
{
	struct part *part = add_part(result, PART_NOTE);
	va_list args;

	va_start(args, format);
	part->note = vprint(result, format, args);
	va_end(args);
	return part;
}

struct part *result_gap(struct result *result)
{
	struct part *part = add_part(result, PART_NOTE);

	part->note = "";
	return part;
}

struct part *result_facts(struct result *result, int label_width)
{
	struct part *part = add_part(result, PART_FACTS);

	part->facts.layout =
		(struct facts_layout){.before = "", .assign = ": ", .label_width = label_width};
	return part;
}

struct part *result_line(struct result *result, const char *before, const char *between)
{
	struct part *part = add_part(result, PART_FACTS);

	part->facts.layout = (struct facts_layout){
		.in_line = true, .before = before, .assign = " = ", .between = between};
	return part;
}

struct part *result_list(struct result *result, const struct list_column *columns, size_t count)
{
	struct part *part = add_part(result, PART_LIST);

	part->list.columns = arena_array(&result->arena, struct list_column, count);
	memcpy(part->list.columns, columns, count * sizeof(*columns));
	part->list.column_count = count;
	return part;
}

struct part *result_frames(struct result *result, const char *const *names, size_t count)
{
	struct part *part = add_part(result, PART_FRAMES);

	part->frames.names = arena_array(&result->arena, const char *, count);
	for (size_t i = 0; i < count; i++)
		part->frames.names[i] = arena_strdup(&result->arena, names[i]);
	part->frames.count = count;
	part->frames.indent = "  ";
	return part;
}

struct part *result_table(struct result *result, struct table *table, enum table_shape shape,
			  char *heading)
{
	struct part *part = add_part(result, PART_TABLE);

	part->table.table = *table;
	part->table.shape = shape;
	part->table.heading = arena_strdup(&result->arena, heading);
	free(heading);
	return part;
}

struct part *result_stacks(struct result *result, struct stack_list *list)
{
	struct part *part = add_part(result, PART_STACKS);

	part->stacks = *list;
	return part;
}

struct part *result_timeline(struct result *result, struct timeline *timeline)
{
	struct part *part = add_part(result, PART_TIMELINE);

	part->timeline = *timeline;
	return part;
}

struct part *result_events(struct result *result, struct timeline_page *page)
{
	struct part *part = add_part(result, PART_EVENTS);

	part->events = *page;
	return part;
}

struct part *result_series(struct result *result, size_t count,
			   void (*make)(struct result *into, size_t index, const void *data),
			   const void *data)
{
	struct part *part = add_part(result, PART_SERIES);

	part->series.make = make;
	part->series.data = data;
	part->series.count = count;
	return part;
}

/* ---- facts, cells, records ---- */

static const char *copy(struct result *result, const char *text)
{
	return text ? arena_strdup(&result->arena, text) : NULL;
}

struct fact *part_add(struct result *result, struct part *facts, const char *key, const char *label,
		      struct value value)
{
	struct fact *fact = push(result, &facts->facts.record);

	fact->key = copy(result, key);
	fact->label = copy(result, label);
	fact->value = value;
	return fact;
}

void part_set(struct result *result, struct part *facts, const char *key, struct value value)
{
	part_add(result, facts, key, NULL, value)->audience = FOR_PROGRAMS;
}

void part_cell(struct result *result, struct part *list, struct value value)
{
	struct value *cell = grow(&result->arena, (void **)&list->list.cells,
				  &list->list.cell_count, &list->list.capacity, sizeof(*cell));

	*cell = value;
}

struct record *result_record(struct result *result)
{
	return arena_new(&result->arena, struct record);
}

struct record *result_record_of(struct result *result, size_t count)
{
	struct record *record = result_record(result);

	record->items = arena_array(&result->arena, struct fact, count);
	record->capacity = count;
	return record;
}

void record_set(struct result *result, struct record *record, const char *key, struct value value)
{
	*push(result, record) = (struct fact){.key = copy(result, key), .value = value};
}

struct value_list *result_values(struct result *result)
{
	return arena_new(&result->arena, struct value_list);
}

void values_add(struct result *result, struct value_list *list, struct value value)
{
	*push(result, list) = value;
}

/* ---- values ---- */

struct value value_text(struct result *result, const char *text)
{
	if (!text)
		return (struct value){.kind = VALUE_NONE};
	return (struct value){.kind = VALUE_TEXT, .text = copy(result, text)};
}

struct value value_printf(struct result *result, const char *format, ...)
{
	struct value value = {.kind = VALUE_TEXT};
	va_list args;

	va_start(args, format);
	value.text = vprint(result, format, args);
	va_end(args);
	return value;
}

struct value value_texts(struct result *result, const char *const *texts, size_t count)
{
	struct value_list *list = result_values(result);

	for (size_t i = 0; i < count; i++)
		values_add(result, list, value_text(result, texts[i]));
	return value_list(list);
}

struct value value_integer(int64_t integer)
{
	return (struct value){.kind = VALUE_INTEGER, .integer = integer};
}

struct value value_count(uint64_t count)
{
	return (struct value){.kind = VALUE_COUNT, .count = count};
}

struct value value_real(double number, unsigned decimals)
{
	return (struct value){.kind = VALUE_REAL, .number = number, .decimals = decimals};
}

struct value value_flag(bool flag)
{
	return (struct value){.kind = VALUE_FLAG, .flag = flag};
}

struct value value_measure(enum metric_unit unit, double number)
{
	return (struct value){.kind = VALUE_MEASURE, .unit = unit, .number = number};
}

struct value value_part(enum metric_unit unit, double number, double whole)
{
	return (struct value){.kind = VALUE_PART, .unit = unit, .number = number, .whole = whole};
}

struct value value_share(double number, double whole)
{
	return (struct value){.kind = VALUE_SHARE, .number = number, .whole = whole};
}

struct value value_record(struct record *record)
{
	return (struct value){.kind = VALUE_RECORD, .record = record};
}

struct value value_list(struct value_list *list)
{
	return (struct value){.kind = VALUE_LIST, .list = list};
}

struct value value_made(struct result *result, size_t count,
			struct value (*make)(struct result *into, size_t index, const void *data),
			const void *data)
{
	struct made_list *made = arena_new(&result->arena, struct made_list);

	*made = (struct made_list){.make = make, .data = data, .count = count};
	return (struct value){.kind = VALUE_MADE, .made = made};
}

char *metric_key(const struct metric *metric, enum metric_flavor flavor)
{
	static const char letters[] = " eia";

	if (flavor == FLAVOR_STATIC)
		return xstrdup(metric->command);
	return xasprintf("%c.%s", letters[flavor], metric->command);
}
