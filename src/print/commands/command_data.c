/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data objects.  How much of the metric is known at all stands above each list: an analysis of
 * instructions never knows everything, and nobody should have to add that up.
 */
#include "analysis/data/data_object.h"
#include "analysis/session/session.h"
#include "analysis/views/view_data.h"
#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/commands/command_summary.h"
#include "print/commands/command_views.h"

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

static bool command_data_objects(struct print *print, char **arguments, size_t count)
{
	return print_view(print, view_data_objects, "data_objects");
}

static bool command_data_layout(struct print *print, char **arguments, size_t count)
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

static void add_metrics(struct result *result, struct part *facts, const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;

		if (choice->metric->is_static)
			continue;
		char *key = metric_key(choice->metric, choice->flavor);
		char *title = metric_choice_title(choice);

		*vec_push(&result->metrics) = *choice;
		part_add(result, facts, key, title,
			 value_part(choice->metric->unit, table->values[i], table->base[i]));
		free(title);
		free(key);
	}
}

/* What is not known, or empty, has no line. */
static void add_text(struct result *result, struct part *facts, const char *label, const char *text)
{
	if (text && *text)
		part_add(result, facts, NULL, label, value_text(result, text));
}

static void add_object(struct result *result, struct part *facts,
		       const struct data_object_info *info)
{
	const char *kind = data_object_kind_name(info->kind);

	part_set(result, facts, "name", value_text(result, info->name));
	part_set(result, facts, "kind", value_text(result, kind));
	part_set(result, facts, "size", value_count(info->size));
	part_set(result, facts, "address", value_count(info->address));
	part_set(result, facts, "scope", value_text(result, info->scope));
	part_set(result, facts, "object", value_text(result, info->load_object));
	part_set(result, facts, "frames", value_texts(result, info->frames, info->depth));
	add_text(result, facts, "Kind", kind);
	add_text(result, facts, "Meaning", info->description);
	if (info->size)
		part_add(result, facts, NULL, "Size", value_count(info->size));
	if (info->address)
		part_add(result, facts, NULL, "Address",
			 value_printf(result, "0x%08" PRIx64, info->address));
	add_text(result, facts, "Scope", info->scope);
	add_text(result, facts, "Load Object", info->load_object);
	for (size_t i = 0; i < info->depth; i++)
		add_text(result, facts, i ? "from" : "Allocated by", info->frames[i]);
}

static bool command_data_single(struct print *print, char **arguments, size_t count)
{
	struct query query = print->query;
	struct diag_list diags = {0};
	struct data_object_info info;
	struct result result;
	struct part *facts;
	struct table table;
	uint32_t object;

	query.compare = COMPARE_OFF;
	if (!command_choose_data(print, "data_single", arguments, count, &object))
		return false;
	if (view_data_object(print->session, &query, object, &table, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	session_data_object(print->session, object, &info);
	result_init(&result, "data_single", print->session);
	result_heading(&result, "%s", info.name);
	facts = result_facts(&result, label_width(&table));
	facts->facts.layout.before = "\t";
	add_metrics(&result, facts, &table);
	add_object(&result, facts, &info);
	result_gap(&result);
	table_fini(&table);
	return print_answer(print, &result);
}

const struct command command_rows_data[] = {
	{.name = "data_objects",
	 .group = GROUP_INDEX,
	 .help = "variables, types and their members, by the counters' data addresses",
	 .run = command_data_objects},
	{.name = "data_single",
	 .min_arguments = 1,
	 .max_arguments = 2,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_INDEX,
	 .arguments = "DATA [N]",
	 .help = "all about one data object; N picks one of several",
	 .run = command_data_single},
	{.name = "data_layout",
	 .group = GROUP_INDEX,
	 .help = "structures with all their members by offset",
	 .run = command_data_layout},
	{0},
};
