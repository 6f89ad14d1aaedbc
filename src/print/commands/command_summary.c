/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsummary, lsummary, psummary and fsingle: every metric of a function, then what it is, one
 * "label: value" per line, in the order of er_print.
 */
#include "print/commands/command_summary.h"

#include "analysis/code/code_find.h"
#include "analysis/session/functions.h"
#include "analysis/views/choice.h"
#include "analysis/views/view_code.h"
#include "analysis/views/view_data.h"
#include "analysis/views/view_functions.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "present/number.h"
#include "present/table.h"
#include "print/commands/command.h"
#include "print/commands/command_views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct labels {
	int label; /* width of the widest label */
	int value; /* width of the widest number */
};

/* Address, size and name have lines of their own. */
static bool has_numbers(const struct session *session, const struct metric *metric)
{
	return !metric->is_static && metric_available(session, metric);
}

static char *metric_label(const struct metric *metric, enum metric_flavor flavor)
{
	const struct metric_choice choice = {.metric = metric, .flavor = flavor};

	return metric_choice_title(&choice);
}

static struct labels measure(struct print *print, uint32_t function)
{
	struct labels widths = {.label = (int)strlen("Mangled Name"), .value = 5};
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		char number[NUMBER_SIZE];
		double exclusive, inclusive, total;

		if (!has_numbers(print->session, metric))
			continue;
		view_function_values(print->session, &print->query, function, metric, &exclusive,
				     &inclusive, &total);
		char *label = metric_label(metric, FLAVOR_EXCLUSIVE);
		int length = (int)strlen(label);
		int width = (int)number_value(number, metric->unit, total);

		widths.label = length > widths.label ? length : widths.label;
		widths.value = width > widths.value ? width : widths.value;
		free(label);
	}
	return widths;
}

/* "\tlabel: value" */
static struct part *add_facts(struct result *into, const struct labels *widths)
{
	struct part *facts = result_facts(into, widths->label);

	facts->facts.layout.before = "\t";
	return facts;
}

static void add_metric(struct result *into, struct part *facts, const struct metric *metric,
		       enum metric_flavor flavor, const struct labels *widths, double value,
		       double total)
{
	char *label = metric_label(metric, flavor), *key = metric_key(metric, flavor);

	part_add(into, facts, key, label, value_part(metric->unit, value, total))->width =
		widths->value;
	free(key);
	free(label);
}

static void add_text(struct result *into, struct part *facts, const char *label, const char *text)
{
	part_add(into, facts, NULL, label, value_text(into, text));
}

static void add_place(struct result *into, struct part *facts, const char *name, uint32_t function,
		      const struct function_summary *summary)
{
	bool mangled = summary->mangled && strcmp(summary->mangled, summary->name) != 0;
	const char *source = summary->source_file, *object = summary->object_file;
	char number[NUMBER_SIZE];

	number_address(number, summary->segment, (double)summary->address);
	part_set(into, facts, "segment", value_count(summary->segment));
	part_set(into, facts, "address", value_count(summary->address));
	part_set(into, facts, "source_file", value_text(into, source));
	part_set(into, facts, "object_file", value_text(into, object));
	part_set(into, facts, "object", value_text(into, summary->load_object));
	part_set(into, facts, "mangled_name", value_text(into, summary->mangled));
	add_text(into, facts, "PC Address", number);
	add_text(into, facts, "Source File", source ? source : "(unknown)");
	add_text(into, facts, "Object File", object ? object : "(unknown)");
	add_text(into, facts, "Load Object",
		 function == FUNCTION_TOTAL ? name
		 : summary->load_object	    ? summary->load_object
					    : "(unknown)");
	add_text(into, facts, "Mangled Name", mangled ? summary->mangled : NULL);
	part_add(into, facts, "aliases", "Aliases", value_text(into, summary->aliases));
}

static void add_summary(struct print *print, struct result *into, const char *name,
			uint32_t function, const struct labels *widths)
{
	struct function_summary summary;
	const struct metric *metric;
	struct part *facts;

	session_function_summary(print->session, function, &summary);
	result_heading(into, "%s", name);
	facts = add_facts(into, widths);
	part_set(into, facts, "name", value_text(into, name));
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		double exclusive, inclusive, total;

		if (!has_numbers(print->session, metric))
			continue;
		view_function_values(print->session, &print->query, function, metric, &exclusive,
				     &inclusive, &total);
		add_metric(into, facts, metric, FLAVOR_EXCLUSIVE, widths, exclusive, total);
		add_metric(into, facts, metric, FLAVOR_INCLUSIVE, widths, inclusive, total);
	}
	part_add(into, facts, "size", "Size", value_count(summary.size))->width = widths->value;
	add_place(into, facts, name, function, &summary);
	result_gap(into);
}

/* All that have data, in both flavours. */
static void list_metrics(const struct print *print, struct metric_list *list)
{
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (!has_numbers(print->session, metric))
			continue;
		*vec_push(list) = (struct metric_choice){metric, FLAVOR_EXCLUSIVE, VISIBLE_VALUE};
		*vec_push(list) = (struct metric_choice){metric, FLAVOR_INCLUSIVE, VISIBLE_VALUE};
	}
}

/* What the elements of a list of summaries are made of. */
struct summaries {
	struct print *print;
	const struct table *table;
	struct labels widths;
};

static void make_function(struct result *into, size_t index, const void *data)
{
	const struct summaries *summaries = data;
	const struct row *row = &summaries->table->rows[index];

	add_summary(summaries->print, into, row->name, row->id, &summaries->widths);
}

static bool command_fsummary(struct print *print, char **arguments, size_t count)
{
	struct summaries summaries = {.print = print};
	char *title = metric_choice_title(&print->query.sort);
	struct result result;
	struct table table;

	view_functions(print->session, &print->query, &table);
	if (table.row_count)
		summaries.widths = measure(print, table.rows[0].id);
	summaries.table = &table;
	result_init(&result, "fsummary", print->session);
	list_metrics(print, &result.metrics);
	result_heading(&result, "Functions sorted by metric: %s", title);
	result_gap(&result);
	result_series(&result, table.row_count, make_function, &summaries);
	print_answer(print, &result);
	table_fini(&table);
	free(title);
	return true;
}

static void make_code(struct result *into, size_t index, const void *data)
{
	const struct summaries *summaries = data;
	const struct table *table = summaries->table;
	struct part *facts;

	result_heading(into, "%s", table->rows[index].name);
	facts = add_facts(into, &summaries->widths);
	for (size_t i = 0; i < table->column_count; i++)
		add_metric(into, facts, table->columns[i].choice.metric,
			   table->columns[i].choice.flavor, &summaries->widths,
			   table->values[index * table->column_count + i], table->base[i]);
	result_gap(into);
}

/* All metrics of the rows of a list of code; their names are all there is to say besides. */
static bool print_code_summary(struct print *print, const char *command, const char *title,
			       void (*view)(struct session *, const struct query *, struct table *))
{
	struct summaries summaries = {.print = print, .widths = measure(print, FUNCTION_TOTAL)};
	char *heading = command_sort_heading(print, title);
	struct query query = print->query;
	struct metric_list all = {0};
	struct result result;
	struct part *part;
	struct table table;

	list_metrics(print, &all);
	query.metrics = all;
	query.compare = COMPARE_OFF;
	view(print->session, &query, &table);
	result_init(&result, command, print->session);
	result_heading(&result, "%s", heading);
	result_gap(&result);
	part = result_table(&result, &table, SHAPE_LIST, heading);
	part->audience = FOR_PROGRAMS;
	summaries.table = &part->table.table;
	part = result_series(&result, summaries.table->row_count, make_code, &summaries);
	part->audience = FOR_PEOPLE;
	print_answer(print, &result);
	vec_fini(&all);
	return true;
}

static bool command_lsummary(struct print *print, char **arguments, size_t count)
{
	return print_code_summary(print, "lsummary", "Lines", view_lines);
}

static bool command_psummary(struct print *print, char **arguments, size_t count)
{
	return print_code_summary(print, "psummary", "PCs", view_pcs);
}

static bool command_fsingle(struct print *print, char **arguments, size_t count)
{
	uint32_t function = FUNCTION_TOTAL;
	struct function_summary summary;
	struct result result;

	if (!command_choose_function(print, "fsingle", arguments, count, &function))
		return false;
	struct labels widths = measure(print, function);

	session_function_summary(print->session, function, &summary);
	result_init(&result, "fsingle", print->session);
	list_metrics(print, &result.metrics);
	add_summary(print, &result, summary.name, function, &widths);
	return print_answer(print, &result);
}

/* functions: they are such; equal names are told apart by their sources. */
static void list_choices(struct print *print, const struct function_match *matches, size_t count,
			 bool functions)
{
	say_note(print, "Available name list:");
	for (size_t i = 0; i < count; i++) {
		struct function_summary summary = {0};

		if (functions)
			session_function_summary(print->session, matches[i].function, &summary);
		say_note(print, "%3zu) %s  %s  0x%08" PRIx64 "%s%s", i + 1, matches[i].name,
			 matches[i].object ? matches[i].object : "", matches[i].address,
			 summary.source_file ? "  " : "",
			 summary.source_file ? summary.source_file : "");
	}
}

/* Asks on the terminal. 0: the person has thought better of it. */
static size_t ask_choice(size_t count)
{
	char line[64];

	for (;;) {
		fprintf(stderr, "Enter selection (1-%zu, 0 cancels): ", count);
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		char *rest;
		unsigned long number = strtoul(line, &rest, 10);

		if (rest != line && strspn(rest, " \t\r\n") == strlen(rest) && number <= count)
			return number;
	}
}

/* The one that [N] means of those found, asking a person where it must; NULL after say_error(). */
static const struct function_match *choose(struct print *print, const char *command,
					   char **arguments, size_t count,
					   const struct function_match *matches, size_t found,
					   const char *what)
{
	const char *number = count > 1 ? arguments[1] : NULL;
	const struct function_match *chosen;
	enum choice choice =
		choice_among(matches, found, number, print->query.compare != COMPARE_OFF, &chosen);
	size_t asked;

	if (choice == CHOICE_MADE)
		return chosen;
	list_choices(print, matches, found, !strcmp(what, "functions"));
	if (choice == CHOICE_NO_NUMBER) {
		say_error(print, "%s: there is no number %s for `%s'", command, number,
			  arguments[0]);
		return NULL;
	}
	asked = print->ask ? ask_choice(found) : 0;
	if (!asked && !print->ask)
		say_error(print,
			  "%zu %s have the name `%s': add a number from the list, as in: %s %s 1",
			  found, what, arguments[0], command, arguments[0]);
	return asked ? &matches[asked - 1] : NULL;
}

/* What a name may have been meant for, the caller's to free; NULL: nothing. */
static char *name_meant(struct print *print, const char *name)
{
	struct name_guess guess;
	struct strbuf text = {0};

	session_guess_name(print->session, name, &guess);
	if (guess.guess == GUESS_NONE)
		return NULL;
	if (guess.guess == GUESS_NEAREST)
		return xasprintf("did you mean %s?", guess.names[0]);
	strbuf_puts(&text, guess.guess == GUESS_BEGINS ? "it begins the names "
						       : "it is part of the names ");
	for (size_t i = 0; i < guess.count && i < GUESS_NAMES; i++)
		strbuf_printf(&text, "%s%s", i ? ", " : "", guess.names[i]);
	if (guess.count > GUESS_NAMES)
		strbuf_puts(&text, ", ...");
	return strbuf_steal(&text);
}

static void complain_function(struct print *print, const char *name)
{
	char *meant = name_meant(print, name);

	say_error(print, "No function with given name `%s' found: %s", name,
		  meant ? meant
			: "`functions' lists them (without its symbols a program's own are "
			  "<static>@ADDRESS)");
	free(meant);
}

static void complain_code(struct print *print, const char *name)
{
	char *meant = name_meant(print, name);

	say_error(print, "No function and no source file has the name `%s': %s", name,
		  meant ? meant
		  : strstr(print->program, "src")
			  ? "-func lists the functions, -source all shows all sources (a "
			    "function that was inlined everywhere is a part of its callers)"
			  : "`functions' and `lines' list them (a function that was inlined "
			    "everywhere is a part of its callers: `inlines on')");
	free(meant);
}

bool command_choose_function(struct print *print, const char *command, char **arguments,
			     size_t count, uint32_t *function)
{
	struct function_match *matches;
	size_t found = view_find_functions(print->session, &print->query, arguments[0], &matches);
	const struct function_match *chosen = NULL;

	if (!found)
		complain_function(print, arguments[0]);
	else
		chosen = choose(print, command, arguments, count, matches, found, "functions");
	if (chosen)
		*function = chosen->function;
	free(matches);
	return chosen;
}

bool command_choose_data(struct print *print, const char *command, char **arguments, size_t count,
			 uint32_t *object)
{
	struct function_match *matches;
	size_t found = session_find_data(print->session, arguments[0], &matches);
	const struct function_match *chosen = NULL;

	if (!found)
		say_error(print, "No data object has the name `%s': data_objects lists them",
			  arguments[0]);
	else
		chosen = choose(print, command, arguments, count, matches, found, "data objects");
	if (chosen)
		*object = chosen->function;
	free(matches);
	return chosen;
}

bool command_choose_code(struct print *print, const char *command, char **arguments, size_t count,
			 struct function_match *out)
{
	struct function_match *matches;
	size_t found = view_find_code(print->session, &print->query, arguments[0], &matches);
	const struct function_match *chosen = NULL;

	if (!found)
		complain_code(print, arguments[0]);
	else
		chosen = choose(print, command, arguments, count, matches, found,
				matches[0].function == CODE_NONE ? "source files" : "functions");
	if (chosen)
		*out = *chosen;
	free(matches);
	return chosen;
}

const struct command command_rows_summary[] = {
	{.name = "fsummary",
	 .group = GROUP_FUNCTIONS,
	 .help = "all metrics of every function",
	 .run = command_fsummary,
	 .code_only = true},
	{.name = "fsingle",
	 .min_arguments = 1,
	 .max_arguments = 2,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_FUNCTIONS,
	 .arguments = "FUNCTION [N]",
	 .help = "all metrics of one function; N picks one of several",
	 .run = command_fsingle,
	 .code_only = true},
	{.name = "psummary",
	 .group = GROUP_CODE,
	 .help = "all metrics of every instruction",
	 .run = command_psummary,
	 .code_only = true},
	{.name = "lsummary",
	 .group = GROUP_CODE,
	 .help = "all metrics of every source line",
	 .run = command_lsummary,
	 .code_only = true},
	{0},
};
