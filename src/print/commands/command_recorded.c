/* SPDX-License-Identifier: Apache-2.0 */
#include "print/commands/command_recorded.h"

#include "analysis/session/session.h"
#include "analysis/views/findings.h"
#include "base/array.h"
#include "base/memory.h"
#include "print/commands/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What each group's first process has of something, as texts; NULL: nothing. */
struct recorded {
	struct print *print;
	struct result *result;
	struct part *list;
	struct value_list *rows;
	const struct process_info **of; /* by group */
	size_t groups;
	const char **texts;
};

static const struct process_info *founder_of(const struct session *session, size_t group)
{
	for (size_t i = 0; i < session_process_count(session); i++)
		if (session_process(session, i)->group == group + 1)
			return session_process(session, i);
	return NULL;
}

static bool is_same(const char *x, const char *y)
{
	return x && y ? !strcmp(x, y) : x == y;
}

static struct value group_record(struct recorded *recorded, size_t group)
{
	struct result *result = recorded->result;
	struct record *record = result_record(result);
	const char *name = session_group_name(recorded->print->session, group);

	record_set(result, record, "experiment", value_text(result, name));
	record_set(result, record, "value", value_text(result, recorded->texts[group]));
	return value_record(record);
}

/* A row of what `texts` has now; where all have the same it says nothing. */
static void add_row(struct recorded *recorded, const char *name)
{
	struct result *result = recorded->result;
	struct value_list *texts;
	struct record *row;
	bool differs = false;

	for (size_t i = 1; i < recorded->groups; i++)
		differs |= !is_same(recorded->texts[0], recorded->texts[i]);
	if (!differs)
		return;
	texts = result_values(result);
	part_cell(result, recorded->list, value_text(result, name));
	for (size_t i = 0; i < recorded->groups; i++) {
		const char *text = recorded->texts[i] ? recorded->texts[i] : "-";

		part_cell(result, recorded->list, value_text(result, text));
		values_add(result, texts, group_record(recorded, i));
	}
	row = result_record(result);
	record_set(result, row, "name", value_text(result, name));
	record_set(result, row, "experiments", value_list(texts));
	values_add(result, recorded->rows, value_record(row));
}

static void add_texts(struct recorded *recorded)
{
#define ROW(field)                                                                                 \
	for (size_t i = 0; i < recorded->groups; i++)                                              \
		recorded->texts[i] = recorded->of[i]->field;                                       \
	add_row(recorded, #field);
	ROW(target)
	ROW(executable)
	ROW(cwd)
	ROW(hostname)
	ROW(os)
	ROW(arch)
	ROW(version)
	ROW(engine)
#undef ROW
}

static void add_numbers(struct recorded *recorded)
{
#define ROW(field)                                                                                 \
	for (size_t i = 0; i < recorded->groups; i++)                                              \
		recorded->texts[i] =                                                               \
			value_printf(recorded->result, "%" PRIu64, recorded->of[i]->field).text;   \
	add_row(recorded, #field);
	ROW(cpus)
	ROW(clock_mhz)
	ROW(page_size)
	ROW(pages)
#undef ROW
}

static void add_command_line(struct recorded *recorded)
{
	for (size_t i = 0; i < recorded->groups; i++) {
		char *words = command_words(recorded->of[i]->arguments);

		recorded->texts[i] = value_text(recorded->result, words).text;
		free(words);
	}
	add_row(recorded, "arguments");
}

static void add_setting(struct recorded *recorded, const char *name)
{
	for (size_t i = 0; i < recorded->groups; i++)
		recorded->texts[i] = process_setting(recorded->of[i], name);
	add_row(recorded, name);
}

/* Whether one of the groups before has it: then there is a row. */
static bool is_known(const struct recorded *recorded, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++)
		if (process_setting(recorded->of[i], name))
			return true;
	return false;
}

static void add_settings(struct recorded *recorded)
{
	for (size_t i = 0; i < recorded->groups; i++)
		for (size_t k = 0; k < recorded->of[i]->setting_count; k++) {
			const char *name = recorded->of[i]->settings[k].name;

			if (strcmp(name, "ancestors") != 0 && !is_known(recorded, i, name))
				add_setting(recorded, name);
		}
}

static void begin_list(struct recorded *recorded)
{
	struct list_column *columns = xcalloc(recorded->groups + 1, sizeof(*columns));

	columns[0].title = "Recorded otherwise";
	for (size_t i = 0; i < recorded->groups; i++)
		columns[i + 1].title = session_group_name(recorded->print->session, i);
	recorded->list = result_list(recorded->result, columns, recorded->groups + 1);
	recorded->list->audience = FOR_PEOPLE;
	recorded->list->list.ruled = true;
	recorded->rows = result_values(recorded->result);
	free(columns);
}

static void end_list(struct recorded *recorded)
{
	struct part *members = result_line(recorded->result, "", "");

	members->facts.of_all = true;
	part_set(recorded->result, members, "differences", value_list(recorded->rows));
	result_gap(recorded->result);
}

void recorded_compare(struct print *print, struct result *result)
{
	size_t groups = session_group_count(print->session);
	struct recorded recorded = {.print = print, .result = result, .groups = groups};
	bool all = true;

	if (print->query.compare == COMPARE_OFF || groups < 2)
		return;
	recorded.of = xcalloc(groups, sizeof(struct process_info *));
	recorded.texts = xcalloc(groups, sizeof(char *));
	for (size_t i = 0; i < groups; i++)
		all &= (recorded.of[i] = founder_of(print->session, i)) != NULL;
	if (all) {
		begin_list(&recorded);
		add_command_line(&recorded);
		add_texts(&recorded);
		add_numbers(&recorded);
		add_settings(&recorded);
		end_list(&recorded);
	}
	free(recorded.texts);
	free(recorded.of);
}
