/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as JSON: names and numbers as the engine has them, in base units and
 * unrounded.  A metric is one member of a row however often it is shown
 * (e.%totalcpu is one number); hidden metrics are left out.
 */
#include "base/memory.h"
#include "print/json.h"
#include "print/table.h"

#include <stdlib.h>

struct member {
	char *key;
	char *error_key; /* or NULL */
	size_t column;
	enum metric_unit unit;
};

struct members {
	struct member *items;
	size_t count;
	size_t capacity;
};

static bool is_shown(const struct table *table, size_t column)
{
	const struct metric_choice *choice = &table->columns[column].choice;

	if (choice->visibility & VISIBLE_HIDDEN)
		return false;
	for (size_t i = 0; i < column; i++) {
		const struct metric_choice *other = &table->columns[i].choice;

		if (other->metric == choice->metric && other->flavor == choice->flavor &&
		    table->columns[i].group == table->columns[column].group &&
		    !(other->visibility & VISIBLE_HIDDEN))
			return false;
	}
	return true;
}

/* "e.totalcpu", where experiments are compared "e.totalcpu.2". */
static char *column_key(const struct column *column)
{
	char *key = json_metric_key(column->choice.metric, column->choice.flavor);
	char *full = column->group ? xasprintf("%s.%u", key, column->group) : xstrdup(key);

	free(key);
	return full;
}

static json_t *column_metric(const struct column *column)
{
	static const char *const forms[] = {[COLUMN_VALUE] = "value",
					    [COLUMN_DIFFERENCE] = "difference",
					    [COLUMN_RATIO] = "ratio"};
	json_t *metric = json_metric(column->choice.metric, column->choice.flavor);
	char *key = column_key(column);

	if (column->group) {
		json_object_set_new(metric, "name", json_string(key));
		json_object_set_new(metric, "experiment", json_text(column->label));
		json_object_set_new(metric, "form", json_string(forms[column->form]));
	}
	free(key);
	return metric;
}

static json_t *find_members(struct members *members, const struct table *table)
{
	json_t *metrics = json_array();

	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;

		if (!is_shown(table, i))
			continue;
		json_array_append_new(metrics, column_metric(&table->columns[i]));
		if (choice->metric->unit == UNIT_TEXT) /* every row has its name */
			continue;
		struct member *member = vec_push(members);

		member->key = column_key(&table->columns[i]);
		member->error_key = table->errors && choice->visibility & VISIBLE_ERROR
					    ? xasprintf("%s~", member->key)
					    : NULL;
		member->column = i;
		member->unit =
			table->columns[i].form == COLUMN_RATIO ? UNIT_RATIO : choice->metric->unit;
	}
	return metrics;
}

static void add_line(json_t *object, const struct row *row)
{
	static const char *const kinds[] = {
		[ROW_LISTED] = "row",	 [ROW_SOURCE] = "source",
		[ROW_INDEX] = "index",	 [ROW_INSTRUCTION] = "instruction",
		[ROW_REMARK] = "remark",
	};

	json_object_set_new(object, "kind", json_string(kinds[row->kind]));
	json_object_set_new(object, "line", row->line ? json_integer(row->line) : json_null());
	if (row->kind == ROW_INSTRUCTION)
		json_object_set_new(object, "address", json_integer((json_int_t)row->address));
	json_object_set_new(object, "hot", json_boolean(row->hot));
}

/* Up to 2^63 exactly, which whole numbers of JSON readers end at. */
static json_t *index_value(uint64_t value)
{
	if (value == UINT64_MAX)
		return json_null();
	return value > INT64_MAX ? json_real((double)value) : json_integer((json_int_t)value);
}

static void add_place(json_t *object, const struct row *row, enum table_shape shape)
{
	static const char *const roles[] = {
		[ROW_PLAIN] = "function",
		[ROW_CENTER] = "center",
		[ROW_CALLER] = "caller",
		[ROW_CALLEE] = "callee",
	};

	if (shape == SHAPE_LISTING) {
		add_line(object, row);
	} else if (shape == SHAPE_TREE) {
		json_object_set_new(object, "id", json_integer(row->id));
		json_object_set_new(object, "parent",
				    row->depth ? json_integer(row->parent) : json_null());
		json_object_set_new(object, "depth", json_integer(row->depth));
	} else if (shape != SHAPE_LIST) {
		json_object_set_new(object, "block", json_integer(row->block));
		json_object_set_new(object, "role", json_string(roles[row->mark]));
	}
}

/* extent: NULL for <Total>. */
static void add_extent(json_t *object, const struct row_extent *extent)
{
	bool has_size = extent && extent->name;

	json_object_set_new(object, "element", json_text(has_size ? extent->name : NULL));
	json_object_set_new(object, "offset", extent ? index_value(extent->offset) : json_null());
	json_object_set_new(object, "size", has_size ? index_value(extent->size) : json_null());
	json_object_set_new(object, "depth", json_integer(extent ? extent->depth : 0));
}

/* What stands above a listing as text. */
static json_t *header_members(const struct listing_header *header)
{
	json_t *source = json_object(), *object = json_object(), *listing = json_object();

	json_object_set_new(source, "path", json_text(header->source));
	json_object_set_new(source, "found_as", json_text(header->source_found));
	json_object_set_new(source, "missing", json_boolean(header->source_missing));
	json_object_set_new(source, "newer", json_boolean(header->source_newer));
	json_object_set_new(object, "path", json_text(header->load_object));
	json_object_set_new(object, "state", json_text(header->provenance));
	json_object_set_new(listing, "source", source);
	json_object_set_new(listing, "object_file", json_text(header->unit));
	json_object_set_new(listing, "load_object", object);
	return listing;
}

void table_print_json(struct print *print, const struct table *table, enum table_shape shape,
		      const char *command)
{
	struct members members = {0};
	struct json_report report;
	json_t *extra = json_object();

	if (table->sort.metric) {
		char *key = json_metric_key(table->sort.metric, table->sort.flavor);

		json_object_set_new(extra, "sort", json_text(key));
		free(key);
	}
	if (table->index)
		json_object_set_new(extra, "index", json_text(table->index));
	if (table->has_resolved) {
		json_object_set_new(extra, "resolved", json_real(table->resolved));
		json_object_set_new(extra, "resolved_of_addresses",
				    json_real(table->resolved_of_addresses));
	}
	if (table->header)
		json_object_set_new(extra, "listing", header_members(table->header));
	json_t *metrics = find_members(&members, table);

	json_report_begin(&report, print, command, metrics, extra);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];
		json_t *object = json_object();

		add_place(object, row, shape);
		json_object_set_new(object, "name", json_text(row->name));
		json_object_set_new(object, "object", json_text(row->object));
		if (table->index)
			json_object_set_new(object, "value", index_value(row->value));
		if (table->has_extents)
			add_extent(object, row->extent);
		for (size_t k = 0; k < members.count; k++) {
			const struct member *member = &members.items[k];
			size_t cell = i * table->column_count + member->column;

			if (row->no_values)
				continue;
			json_object_set_new(object, member->key,
					    json_number(member->unit, table->values[cell]));
			if (member->error_key)
				json_object_set_new(object, member->error_key,
						    json_real(table->errors[cell]));
		}
		json_report_row(&report, object);
	}
	json_report_end(&report);
	for (size_t i = 0; i < members.count; i++) {
		free(members.items[i].key);
		free(members.items[i].error_key);
	}
	vec_fini(&members);
}
