/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and numbers as the engine has them, in base units and unrounded.  A metric is one member
 * of a row however often it is shown (e.%totalcpu is one number); hidden metrics are left out.
 */
#include "present/json.h"

#include "analysis/session/session.h"
#include "analysis/views/view_code.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "present/json_value.h"
#include "present/layout.h"
#include "present/slab.h"
#include "present/stacks.h"
#include "present/table.h"
#include "present/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The object that is being written. */
struct report {
	struct presenter *presenter;
	const struct session *session;
	size_t row_count;
};

static void put_value(const struct report *report, const json_t *value)
{
	json_dumpf(value, report->presenter->output->file, JSON_COMPACT | JSON_ENCODE_ANY);
}

static json_t *experiments(const struct session *session)
{
	json_t *list = json_array();
	size_t count = session ? session_process_count(session) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct process_info *process = session_process(session, i);

		if (process->founder == process->id)
			json_array_append_new(list, json_text(process->path));
	}
	return list;
}

static void add_warnings(json_t *list, const struct diag_list *diags)
{
	for (size_t i = 0; i < diags->count; i++) {
		json_t *text = json_text(diags->items[i].text);
		bool known = false;

		for (size_t k = 0; k < json_array_size(list); k++)
			known |= json_equal(json_array_get(list, k), text);
		if (known)
			json_decref(text);
		else
			json_array_append_new(list, text);
	}
}

static json_t *warnings(const struct report *report)
{
	json_t *list = json_array();

	add_warnings(list, report->presenter->warnings);
	if (report->session)
		add_warnings(list, session_warnings(report->session));
	return list;
}

static void put_member(const struct report *report, const char *key, json_t *value)
{
	terminal_printf(report->presenter->output->file, "\"%s\":", key);
	put_value(report, value);
	fputc(',', report->presenter->output->file);
	json_decref(value);
}

/* Takes over metrics (an array) and extra (an object). */
static void begin(struct report *report, struct presenter *presenter, const struct session *session,
		  const char *command, json_t *metrics, json_t *extra)
{
	const char *key;
	json_t *value;

	*report = (struct report){.presenter = presenter, .session = session};
	fputc('{', presenter->output->file);
	put_member(report, "command", json_text(command));
	put_member(report, "experiments", experiments(session));
	json_object_foreach(extra, key, value) put_member(report, key, json_incref(value));
	json_decref(extra);
	put_member(report, "metrics", metrics);
	fputs("\"rows\":[", presenter->output->file);
}

/* Takes over row. */
static void put_row(struct report *report, json_t *row)
{
	if (report->row_count++)
		fputc(',', report->presenter->output->file);
	put_value(report, row);
	json_decref(row);
}

static void end(struct report *report)
{
	FILE *file = report->presenter->output->file;
	json_t *list = warnings(report);

	fputs("],\"warnings\":", file);
	put_value(report, list);
	json_decref(list);
	fputs("}\n", file);
}

/* ---- tables ---- */

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
	char *key = metric_key(column->choice.metric, column->choice.flavor);
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
		if (column->not_recorded)
			json_object_set_new(metric, "recorded", json_false());
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
	json_object_set_new(object, "line",
			    row_detail(row)->line ? json_integer(row_detail(row)->line)
						  : json_null());
	if (row->kind == ROW_INSTRUCTION)
		json_object_set_new(object, "address",
				    json_integer((json_int_t)row_detail(row)->address));
	json_object_set_new(object, "hot", json_boolean(row->hot));
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
				    row_depth(row) ? json_integer(row_parent(row)) : json_null());
		json_object_set_new(object, "depth", json_integer(row_depth(row)));
	} else if (shape != SHAPE_LIST) {
		json_object_set_new(object, "block", json_integer(row_block(row)));
		json_object_set_new(object, "role", json_string(roles[row->mark]));
	}
}

/* extent: NULL for <Total>. */
static void add_extent(json_t *object, const struct row_extent *extent)
{
	bool has_size = extent && extent->name;

	json_object_set_new(object, "element", json_text(has_size ? extent->name : NULL));
	json_object_set_new(object, "offset", extent ? json_u64(extent->offset) : json_null());
	json_object_set_new(object, "size", has_size ? json_u64(extent->size) : json_null());
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

static void add_extra(json_t *extra, const struct table *table)
{
	if (table->sort.metric) {
		char *key = metric_key(table->sort.metric, table->sort.flavor);

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
}

static json_t *table_row(const struct table *table, size_t i, enum table_shape shape,
			 const struct members *members)
{
	const struct row *row = &table->rows[i];
	json_t *object = json_object();

	add_place(object, row, shape);
	json_object_set_new(object, "name", json_text(row->name));
	json_object_set_new(object, "object", json_text(row_object(row)));
	if (table->index)
		json_object_set_new(object, "value", json_u64(row_detail(row)->value));
	if (table->has_extents)
		add_extent(object, row_detail(row)->extent);
	for (size_t k = 0; k < members->count && !row->no_values; k++) {
		const struct member *member = &members->items[k];
		size_t cell = i * table->column_count + member->column;

		if (table->columns[member->column].not_recorded) {
			json_object_set_new(object, member->key, json_null());
			continue;
		}
		json_object_set_new(object, member->key,
				    json_number(member->unit, table->values[cell]));
		if (member->error_key)
			json_object_set_new(object, member->error_key,
					    json_real(table->errors[cell]));
	}
	return object;
}

static void members_fini(struct members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		free(members->items[i].key);
		free(members->items[i].error_key);
	}
	vec_fini(members);
}

/* ---- values ---- */

static json_t *value_json(const struct value *value);

static json_t *record_json(const struct record *record)
{
	json_t *object = json_object();

	for (size_t i = 0; i < record->count; i++) {
		const struct fact *fact = &record->items[i];

		if (fact->key && fact->audience != FOR_PEOPLE)
			json_object_set_new(object, fact->key, value_json(&fact->value));
	}
	return object;
}

static json_t *list_json(const struct value_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, value_json(&list->items[i]));
	return array;
}

static json_t *made_json(const struct made_list *made)
{
	json_t *array = json_array();

	for (size_t i = 0; i < made->count; i++) {
		struct result one;

		result_init(&one, NULL, NULL);
		struct value value = made->make(&one, i, made->data);

		json_array_append_new(array, value_json(&value));
		result_fini(&one);
	}
	return array;
}

static json_t *value_json(const struct value *value)
{
	switch (value->kind) {
	case VALUE_NONE:
		break;
	case VALUE_TEXT:
		return json_text(value->text);
	case VALUE_INTEGER:
		return json_integer(value->integer);
	case VALUE_COUNT:
		return json_integer((json_int_t)value->count);
	case VALUE_REAL:
		return json_real(value->number);
	case VALUE_FLAG:
		return json_boolean(value->flag);
	case VALUE_MEASURE:
	case VALUE_PART:
		return json_number(value->unit, value->number);
	case VALUE_SHARE:
		return json_real(number_share(value->number, value->whole));
	case VALUE_LIST:
		return list_json(value->list);
	case VALUE_RECORD:
		return record_json(value->record);
	case VALUE_MADE:
		return made_json(value->made);
	}
	return json_null();
}

/* ---- parts ---- */

struct rendering {
	struct report report;
	json_t *extra, *metrics;
	struct members members; /* of the table, if there is one */
	struct slab *slab;	/* takes what else were rows; or NULL */
};

static bool is_for_programs(const struct part *part)
{
	return part->audience == FOR_ALL || part->audience == FOR_PROGRAMS;
}

static void add_columns(struct rendering *rendering, const struct part *part)
{
	const struct table *table = &part->table.table;
	json_t *columns = json_object();

	slab_add_places(rendering->slab, columns, table, part->table.shape);
	for (size_t k = 0; k < rendering->members.count; k++) {
		const struct member *member = &rendering->members.items[k];

		json_object_set_new(
			columns, member->key,
			slab_values(rendering->slab, table, table->values, member->column));
		if (member->error_key)
			json_object_set_new(
				columns, member->error_key,
				slab_values(rendering->slab, table, table->errors, member->column));
	}
	json_object_set_new(rendering->extra, "columns", columns);
}

/* What stands before the rows. */
static void add_head(struct rendering *rendering, const struct part *part)
{
	if (!is_for_programs(part))
		return;
	if (part->kind == PART_TABLE) {
		add_extra(rendering->extra, &part->table.table);
		json_decref(rendering->metrics);
		rendering->metrics = find_members(&rendering->members, &part->table.table);
		if (rendering->slab)
			add_columns(rendering, part);
	} else if (part->kind == PART_STACKS) {
		stacks_add_members(rendering->extra, &part->stacks);
		json_decref(rendering->metrics);
		rendering->metrics = json_columns(&part->stacks.table);
	} else if (part->kind == PART_TIMELINE) {
		timeline_add_members(rendering->extra, &part->timeline);
		if (rendering->slab)
			slab_add_timeline(rendering->slab, rendering->extra, &part->timeline);
	} else if (part->kind == PART_EVENTS) {
		events_add_members(rendering->extra, &part->events);
		json_decref(rendering->metrics);
		rendering->metrics = json_columns(&part->events.table);
	} else if (part->kind == PART_FACTS && part->facts.of_all) {
		json_t *members = record_json(&part->facts.record);

		json_object_update(rendering->extra, members);
		json_decref(members);
	}
}

static void put_list(struct report *report, const struct part *part)
{
	size_t count = part->list.column_count;

	for (size_t cell = 0; cell + count <= part->list.cell_count; cell += count) {
		json_t *row = json_object();

		for (size_t i = 0; i < count; i++)
			if (part->list.columns[i].key)
				json_object_set_new(row, part->list.columns[i].key,
						    value_json(&part->list.cells[cell + i]));
		put_row(report, row);
	}
}

static void put_rows(struct rendering *rendering, const struct result *result,
		     const struct part *part);

static void put_series(struct rendering *rendering, const struct result *result,
		       const struct part *series)
{
	for (size_t i = 0; i < series->series.count; i++) {
		struct result element;

		result_init(&element, result->view, result->session);
		series->series.make(&element, i, series->series.data);
		for (const struct part *part = element.first; part; part = part->next)
			put_rows(rendering, &element, part);
		result_fini(&element);
	}
}

static bool is_in_slab(const struct part *part)
{
	return part->kind == PART_TABLE || part->kind == PART_TIMELINE;
}

static void put_rows(struct rendering *rendering, const struct result *result,
		     const struct part *part)
{
	struct report *report = &rendering->report;
	json_t *row;

	if (!is_for_programs(part) || (rendering->slab && is_in_slab(part)))
		return;
	switch (part->kind) {
	case PART_FACTS:
		row = part->facts.of_all ? NULL : record_json(&part->facts.record);
		if (row && json_object_size(row))
			put_row(report, row);
		else
			json_decref(row);
		break;
	case PART_LIST:
		put_list(report, part);
		break;
	case PART_TABLE:
		for (size_t i = 0; i < part->table.table.row_count; i++)
			put_row(report, table_row(&part->table.table, i, part->table.shape,
						  &rendering->members));
		break;
	case PART_STACKS:
		for (size_t i = 1; i < part->stacks.table.row_count; i++)
			put_row(report, stacks_row(&part->stacks, i));
		break;
	case PART_TIMELINE:
		for (size_t i = 0; i < part->timeline.lane_count * part->timeline.cell_count; i++)
			if ((row = timeline_row(&part->timeline, i)))
				put_row(report, row);
		break;
	case PART_EVENTS:
		for (size_t i = 0; i < part->events.table.row_count; i++)
			put_row(report, events_row(&part->events, i));
		break;
	case PART_SERIES:
		put_series(rendering, result, part);
		break;
	case PART_HEADING:
	case PART_NOTE:
	case PART_FRAMES:
		break;
	}
}

static void put_result(struct presenter *presenter, const struct result *result, struct slab *slab)
{
	struct rendering rendering;

	if (result->audience == FOR_PEOPLE)
		return;
	rendering =
		(struct rendering){.extra = json_object(), .metrics = json_array(), .slab = slab};
	for (size_t i = 0; i < result->metrics.count; i++)
		json_array_append_new(rendering.metrics,
				      json_metric(result->metrics.items[i].metric,
						  result->metrics.items[i].flavor));
	for (const struct part *part = result->first; part; part = part->next)
		add_head(&rendering, part);
	if (slab)
		json_object_set_new(rendering.extra, "bytes",
				    json_integer((json_int_t)slab->bytes.length));
	begin(&rendering.report, presenter, result->session, result->view, rendering.metrics,
	      rendering.extra);
	for (const struct part *part = result->first; part; part = part->next)
		put_rows(&rendering, result, part);
	end(&rendering.report);
	members_fini(&rendering.members);
}

void json_result(struct presenter *presenter, const struct result *result)
{
	put_result(presenter, result, NULL);
}

void json_result_slab(struct presenter *presenter, const struct result *result)
{
	FILE *file = presenter->output->file;
	struct slab slab = {0};
	char *header = NULL;
	size_t size = 0;

	presenter->output->file = open_memstream(&header, &size);
	if (presenter->output->file) {
		put_result(presenter, result, &slab);
		fclose(presenter->output->file);
	}
	presenter->output->file = file;
	if (size && *header == '{')
		slab_write(&slab, header, size, file);
	else
		strbuf_fini(&slab.bytes);
	free(header);
}
