/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data objects.  How much of the metric is known at all stands above each list: an analysis of
 * instructions never knows everything, and nobody should have to add that up.
 */
#include "analysis/data_object.h"
#include "base/terminal.h"
#include "present/json.h"
#include "present/number.h"
#include "print/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 16 };

typedef enum status data_view(struct session *session, const struct query *query,
			      struct table *table, struct diag_list *diags);

static bool print_view(struct print *print, data_view *view, const char *command)
{
	size_t known = session_warnings(print->session)->count;
	struct diag_list diags = {0};
	struct table table;

	if (view(print->session, &print->query, &table, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	say_lasting(print, known); /* what arose when the events were led to their objects */

	char *first = command_table_heading(table.title, &table, print->query.sort_reverse);
	char *heading =
		terminal_text("%s\nResolved: %.1f %%; of what has a data address: %.1f %%", first,
			      100 * table.resolved, 100 * table.resolved_of_addresses);

	free(first);
	return command_show_table(print, command, SHAPE_LIST, &table, heading);
}

bool command_data_objects(struct print *print, char **arguments, size_t count)
{
	return print_view(print, view_data_objects, "data_objects");
}

bool command_data_layout(struct print *print, char **arguments, size_t count)
{
	return print_view(print, view_data_layout, "data_layout");
}

/* ---- data_single ---- */

static int label_width(const struct table *table)
{
	int width = LABEL_WIDTH;

	for (size_t i = 0; i < table->column_count; i++) {
		char *title = metric_choice_title(&table->columns[i].choice);
		int length = (int)strlen(title);

		width = length > width ? length : width;
		free(title);
	}
	return width;
}

static void text_metrics(FILE *file, const struct table *table, int width)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;
		char number[NUMBER_SIZE];

		if (choice->metric->is_static)
			continue;
		char *title = metric_choice_title(choice);

		number_summary(number, choice->metric->unit, table->values[i], table->base[i]);
		terminal_printf(file, "\t%*s: %s\n", width, title, number);
		free(title);
	}
}

static void put_text(FILE *file, int width, const char *label, const char *text)
{
	if (text && *text)
		terminal_printf(file, "\t%*s: %s\n", width, label, text);
}

static void text_object(FILE *file, const struct data_object_info *info, const struct table *table)
{
	int width = label_width(table);

	terminal_printf(file, "%s\n", info->name);
	text_metrics(file, table, width);
	put_text(file, width, "Kind", data_object_kind_name(info->kind));
	put_text(file, width, "Meaning", info->description);
	if (info->size)
		terminal_printf(file, "\t%*s: %" PRIu64 "\n", width, "Size", info->size);
	if (info->address)
		terminal_printf(file, "\t%*s: 0x%08" PRIx64 "\n", width, "Address", info->address);
	put_text(file, width, "Scope", info->scope);
	put_text(file, width, "Load Object", info->load_object);
	for (size_t i = 0; i < info->depth; i++)
		put_text(file, width, i ? "from" : "Allocated by", info->frames[i]);
	fputc('\n', file);
}

static void json_object_info(struct print *print, const struct data_object_info *info,
			     const struct table *table)
{
	struct json_report report;
	json_t *metrics = json_array(), *row = json_object(), *frames = json_array();

	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;

		if (choice->metric->is_static)
			continue;
		char *key = metric_key(choice->metric, choice->flavor);

		json_array_append_new(metrics, json_metric(choice->metric, choice->flavor));
		json_object_set_new(row, key, json_number(choice->metric->unit, table->values[i]));
		free(key);
	}
	for (size_t i = 0; i < info->depth; i++)
		json_array_append_new(frames, json_text(info->frames[i]));
	json_object_set_new(row, "name", json_text(info->name));
	json_object_set_new(row, "kind", json_string(data_object_kind_name(info->kind)));
	json_object_set_new(row, "size", json_integer((json_int_t)info->size));
	json_object_set_new(row, "address", json_integer((json_int_t)info->address));
	json_object_set_new(row, "scope", json_text(info->scope));
	json_object_set_new(row, "object", json_text(info->load_object));
	json_object_set_new(row, "frames", frames);
	json_report_begin(&report, &print->presenter, print->session, "data_single", metrics, NULL);
	json_report_row(&report, row);
	json_report_end(&report);
}

bool command_data_single(struct print *print, char **arguments, size_t count)
{
	struct query query = print->query;
	struct diag_list diags = {0};
	struct data_object_info info;
	struct table table;
	uint32_t object;

	query.compare = COMPARE_OFF;
	if (!command_choose_data(print, "data_single", arguments, count, &object))
		return false;
	if (view_data_object(print->session, &query, object, &table, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	session_data_object(print->session, object, &info);
	if (print->presenter.format == PRESENT_JSON)
		json_object_info(print, &info, &table);
	else
		text_object(print->output.file, &info, &table);
	table_fini(&table);
	return true;
}
