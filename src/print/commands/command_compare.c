/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments beside each other. */
#include "print/commands/command_compare.h"

#include "analysis/session/session.h"
#include "analysis/views/totals.h"
#include "base/array.h"
#include "base/memory.h"
#include "present/number.h"
#include "print/commands/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void command_each_group(struct print *print,
			void (*put)(struct print *print, const char *name, void *data), void *data)
{
	size_t groups = session_group_count(print->session);

	if (print->query.compare == COMPARE_OFF || groups < 2) {
		put(print, NULL, data);
		return;
	}
	for (size_t i = 0; i < groups; i++) {
		print->query.group = (uint32_t)i + 1;
		put(print, session_group_name(print->session, i), data);
	}
	print->query.group = 0;
}

void command_group_heading(const struct print *print, struct result *result, const char *name)
{
	if (name && print->query.group > 1)
		result_gap(result);
	if (name)
		result_heading(result, "Experiment: %s", name);
}

/* ---- sums beside each other ---- */

bool compared_begin(struct compared *compared, struct print *print, struct result *result)
{
	size_t groups = session_group_count(print->session);
	struct list_column *columns;

	*compared = (struct compared){.print = print, .result = result};
	if (print->query.compare == COMPARE_OFF || groups < 2)
		return false;
	columns = xcalloc(groups + 1, sizeof(*columns));
	for (size_t i = 0; i < groups; i++)
		columns[i] = (struct list_column){.title = session_group_name(print->session, i),
						  .right = true};
	columns[groups].title = "Experiments compared";
	compared->list = result_list(result, columns, groups + 1);
	compared->list->audience = FOR_PEOPLE;
	compared->list->list.ruled = true;
	compared->sums = result_values(result);
	free(columns);
	return true;
}

/* How many times as much, as in columns that are compared: nothing is as much as nothing. */
static double ratio_of(double value, double base)
{
	return value == base ? 1 : value / base;
}

/* What people see of a group's value. */
static struct value shown_value(struct compared *compared, enum metric_unit unit,
				const double *values, size_t group)
{
	enum compare_mode mode = group ? compared->print->query.compare : COMPARE_ON;
	double value = values[group], base = values[0];
	char number[NUMBER_SIZE];

	if (isnan(value) || (mode != COMPARE_ON && isnan(base)))
		return value_text(compared->result, "n/a");
	if (mode == COMPARE_DELTA) {
		number_value(number, unit, value - base);
		return value_printf(compared->result, "%s%s", value > base ? "+" : "", number);
	}
	if (mode == COMPARE_RATIO)
		number_ratio(number, ratio_of(value, base));
	else
		number_value(number, unit, value);
	return value_text(compared->result, number);
}

static struct value known_number(double number)
{
	return isfinite(number) ? value_real(number, 9) : (struct value){.kind = VALUE_NONE};
}

static struct value group_record(struct compared *compared, size_t group, double base, double value)
{
	struct record *record = result_record(compared->result);
	const char *name = session_group_name(compared->print->session, group);
	enum compare_mode mode = compared->print->query.compare;

	record_set(compared->result, record, "experiment", value_text(compared->result, name));
	record_set(compared->result, record, "value", known_number(value));
	if (group && mode == COMPARE_DELTA)
		record_set(compared->result, record, "difference", known_number(value - base));
	if (group && mode == COMPARE_RATIO)
		record_set(compared->result, record, "ratio", known_number(ratio_of(value, base)));
	return value_record(record);
}

void compared_add(struct compared *compared, const char *name, const char *title,
		  enum metric_unit unit, const double *values)
{
	struct result *result = compared->result;
	struct record *sum = result_record(result);
	struct value_list *experiments = result_values(result);

	for (size_t i = 0; i < session_group_count(compared->print->session); i++) {
		part_cell(result, compared->list, shown_value(compared, unit, values, i));
		values_add(result, experiments, group_record(compared, i, values[0], values[i]));
	}
	part_cell(result, compared->list,
		  value_printf(result, "%s%s", title, unit == UNIT_SECONDS ? " (sec.)" : ""));
	record_set(result, sum, "name", value_text(result, name));
	record_set(result, sum, "title", value_text(result, title));
	record_set(result, sum, "unit", value_text(result, number_unit_name(unit)));
	record_set(result, sum, "experiments", value_list(experiments));
	values_add(result, compared->sums, value_record(sum));
}

void compared_add_metric(struct compared *compared, const struct metric *metric, const char *title)
{
	struct session *session = compared->print->session;
	size_t groups = session_group_count(session);
	double *values = xcalloc(groups, sizeof(*values));
	struct query query = compared->print->query;

	query.compare = COMPARE_OFF;
	for (size_t i = 0; i < groups; i++) {
		query.group = (uint32_t)i + 1;
		values[i] = metric_available_in(session, metric, i)
				    ? view_total(session, &query, metric)
				    : NAN;
	}
	compared_add(compared, metric->command, title, metric->unit, values);
	free(values);
}

void compared_end(struct compared *compared)
{
	struct part *members = result_line(compared->result, "", "");

	members->facts.of_all = true;
	part_set(compared->result, members, "compared", value_list(compared->sums));
}

static bool command_compare(struct print *print, char **arguments, size_t count)
{
	static const struct {
		const char *word;
		enum compare_mode mode;
	} modes[] = {{"off", COMPARE_OFF},     {"on", COMPARE_ON}, {"delta", COMPARE_DELTA},
		     {"ratio", COMPARE_RATIO}, {"0", COMPARE_OFF}, {"1", COMPARE_ON}};
	enum { MODES = COUNT(modes) };
	size_t i = 0;

	if (count) {
		while (i < MODES && strcasecmp(arguments[0], modes[i].word) != 0)
			i++;
		if (i == MODES)
			return say_error(print,
					 "Invalid argument to command: %s (compare takes off, on, "
					 "delta or ratio)",
					 arguments[0]);
		print->query.compare = modes[i].mode;
	}
	if (print->query.compare != COMPARE_OFF && !print->starting && print->session &&
	    session_group_count(print->session) < 2)
		say_warning(print, "one experiment is open, which is compared with nothing: name "
				   "another one, or add_exp");
	say_note(print, "Compare set to %s", modes[print->query.compare].word);
	return true;
}

const struct command command_rows_compare[] = {
	{.name = "compare",
	 .max_arguments = 1,
	 .group = GROUP_FILTERS,
	 .arguments = "[off|on|delta|ratio]",
	 .help = "a column for each experiment; or how much more, or how many times as much",
	 .run = command_compare,
	 .setting = SETS_GROUPS,
	 .no_session = true},
	{0},
};
