/* SPDX-License-Identifier: Apache-2.0 */
#include "present/stacks.h"

#include "analysis/views/result.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "present/json_value.h"
#include "present/number.h"

#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static void put_values(FILE *file, const struct table *table, const double *values)
{
	bool begun = false;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric *metric = table->columns[i].choice.metric;
		char number[NUMBER_SIZE];

		if (metric->is_static)
			continue;
		if (table->columns[i].not_recorded)
			snprintf(number, sizeof(number), "n/a");
		else
			number_summary(number, metric->unit, values[i], table->base[i]);
		terminal_printf(file, "%s%s %s", begun ? ", " : ": ", metric->title, number);
		begun = true;
	}
	fputc('\n', file);
}

static void put_frame(FILE *file, const struct stack_frame *frame)
{
	const char *name = frame->file ? strrchr(frame->file, '/') : NULL;

	if (frame->file)
		terminal_printf(file, "  %s, %s:%u\n", frame->name, name ? name + 1 : frame->file,
				frame->line);
	else
		terminal_printf(file, "  %s\n", frame->name);
}

void stacks_text(const struct output *output, const struct stack_list *list)
{
	const struct table *table = &list->table;
	FILE *file = output->file;

	terminal_printf(file, "<Total>");
	put_values(file, table, table->values);
	for (size_t row = 1; row < table->row_count; row++) {
		const struct listed_stack *stack = &list->frames.stacks[row];

		terminal_printf(file, "\nStack %zu", row);
		put_values(file, table, &table->values[row * table->column_count]);
		for (uint32_t i = 0; i < stack->depth; i++)
			put_frame(file, &list->frames.frames[stack->frames[i]]);
	}
	if (list->rest_count) {
		terminal_printf(file, "\n%zu more", list->rest_count);
		put_values(file, table, list->rest);
	}
	fputc('\n', file);
}

/* ---- JSON ---- */

static json_t *frame_json(const struct stack_frame *frame)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(frame->name));
	json_object_set_new(object, "object", json_text(frame->object));
	json_object_set_new(object, "address",
			    frame->has_address ? json_u64(frame->address) : json_null());
	json_object_set_new(object, "file", json_text(frame->file));
	json_object_set_new(object, "line", frame->line ? json_integer(frame->line) : json_null());
	json_object_set_new(object, "inlined", json_boolean(frame->inlined));
	return object;
}

json_t *frames_json(const struct frame_list *list)
{
	json_t *frames = json_array();

	for (size_t i = 0; i < list->frame_count; i++)
		json_array_append_new(frames, frame_json(&list->frames[i]));
	return frames;
}

json_t *stack_json(const struct listed_stack *stack)
{
	json_t *frames = json_array();

	for (uint32_t i = 0; i < stack->depth; i++)
		json_array_append_new(frames, json_integer(stack->frames[i]));
	return frames;
}

void stacks_add_members(json_t *object, const struct stack_list *list)
{
	json_t *total = json_object(), *rest = json_object();
	char *sort = metric_key(list->table.sort.metric, list->table.sort.flavor);

	json_add_values(total, &list->table, list->table.values);
	json_object_set_new(rest, "count", json_integer((json_int_t)list->rest_count));
	json_add_values(rest, &list->table, list->rest);
	json_object_set_new(object, "sort", json_string(sort));
	json_object_set_new(object, "callers_first", json_boolean(list->callers_first));
	json_object_set_new(object, "frames", frames_json(&list->frames));
	json_object_set_new(object, "total", total);
	json_object_set_new(object, "rest", rest);
	free(sort);
}

json_t *stacks_row(const struct stack_list *list, size_t row)
{
	json_t *object = json_object();

	json_object_set_new(object, "stack", stack_json(&list->frames.stacks[row]));
	json_add_values(object, &list->table, &list->table.values[row * list->table.column_count]);
	return object;
}
