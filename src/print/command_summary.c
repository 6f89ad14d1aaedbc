/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsummary, lsummary, psummary and fsingle: every metric of a function, then what it is, one
 * "label: value" per line, in the order of er_print.
 */
#include "analysis/data_object.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "print/command.h"
#include "print/json.h"
#include "print/number.h"
#include "print/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAMES_SHOWN = 5 }; /* of functions that may be meant */

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

static void put_metric(struct print *print, const struct metric *metric, enum metric_flavor flavor,
		       const struct labels *widths, double value, double total)
{
	char text[2 * NUMBER_SIZE], number[NUMBER_SIZE], whole[NUMBER_SIZE];
	char *label = metric_label(metric, flavor);
	size_t length = number_value(number, metric->unit, value);

	number_summary(whole, metric->unit, value, total);
	snprintf(text, sizeof(text), "%*s%s", widths->value - (int)length, "", whole);
	terminal_printf(print->output.file, "\t%*s: %s\n", widths->label, label, text);
	free(label);
}

static void put_text(struct print *print, const struct labels *widths, const char *label,
		     const char *text)
{
	terminal_printf(print->output.file, "\t%*s:%s%s\n", widths->label, label,
			text && *text ? " " : "", text ? text : "");
}

static void print_summary(struct print *print, const char *name, uint32_t function,
			  const struct labels *widths)
{
	struct function_summary summary;
	char number[NUMBER_SIZE];
	const struct metric *metric;

	session_function_summary(print->session, function, &summary);
	bool mangled = summary.mangled && strcmp(summary.mangled, summary.name) != 0;

	terminal_printf(print->output.file, "%s\n", name);
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		double exclusive, inclusive, total;

		if (!has_numbers(print->session, metric))
			continue;
		view_function_values(print->session, &print->query, function, metric, &exclusive,
				     &inclusive, &total);
		put_metric(print, metric, FLAVOR_EXCLUSIVE, widths, exclusive, total);
		put_metric(print, metric, FLAVOR_INCLUSIVE, widths, inclusive, total);
	}
	terminal_printf(print->output.file, "\t%*s: %*" PRIu64 "\n", widths->label, "Size",
			widths->value, summary.size);
	number_address(number, summary.segment, (double)summary.address);
	put_text(print, widths, "PC Address", number);
	put_text(print, widths, "Source File",
		 summary.source_file ? summary.source_file : "(unknown)");
	put_text(print, widths, "Object File",
		 summary.object_file ? summary.object_file : "(unknown)");
	put_text(print, widths, "Load Object",
		 function == FUNCTION_TOTAL ? name
		 : summary.load_object	    ? summary.load_object
					    : "(unknown)");
	put_text(print, widths, "Mangled Name", mangled ? summary.mangled : NULL);
	put_text(print, widths, "Aliases", summary.aliases);
}

static json_t *summary_metrics(const struct print *print)
{
	json_t *metrics = json_array();
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (!has_numbers(print->session, metric))
			continue;
		json_array_append_new(metrics, json_metric(metric, FLAVOR_EXCLUSIVE));
		json_array_append_new(metrics, json_metric(metric, FLAVOR_INCLUSIVE));
	}
	return metrics;
}

static void set_number(json_t *row, const struct metric *metric, enum metric_flavor flavor,
		       double value)
{
	char *key = json_metric_key(metric, flavor);

	json_object_set_new(row, key, json_number(metric->unit, value));
	free(key);
}

static void json_summary(struct print *print, struct json_report *report, const char *name,
			 uint32_t function)
{
	struct function_summary summary;
	const struct metric *metric;
	json_t *row = json_object();

	session_function_summary(print->session, function, &summary);
	json_object_set_new(row, "name", json_text(name));
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		double exclusive, inclusive, total;

		if (!has_numbers(print->session, metric))
			continue;
		view_function_values(print->session, &print->query, function, metric, &exclusive,
				     &inclusive, &total);
		set_number(row, metric, FLAVOR_EXCLUSIVE, exclusive);
		set_number(row, metric, FLAVOR_INCLUSIVE, inclusive);
	}
	json_object_set_new(row, "size", json_integer((json_int_t)summary.size));
	json_object_set_new(row, "segment", json_integer(summary.segment));
	json_object_set_new(row, "address", json_integer((json_int_t)summary.address));
	json_object_set_new(row, "source_file", json_text(summary.source_file));
	json_object_set_new(row, "object_file", json_text(summary.object_file));
	json_object_set_new(row, "object", json_text(summary.load_object));
	json_object_set_new(row, "mangled_name", json_text(summary.mangled));
	json_object_set_new(row, "aliases", json_text(summary.aliases));
	json_report_row(report, row);
}

bool command_fsummary(struct print *print, char **arguments, size_t count)
{
	struct table table;

	view_functions(print->session, &print->query, &table);
	if (print->mode == MODE_JSON) {
		struct json_report report;

		json_report_begin(&report, print, "fsummary", summary_metrics(print), NULL);
		for (size_t i = 0; i < table.row_count; i++)
			json_summary(print, &report, table.rows[i].name, table.rows[i].id);
		json_report_end(&report);
	} else {
		struct labels widths = {0};
		char *title = metric_choice_title(&print->query.sort);

		terminal_printf(print->output.file, "Functions sorted by metric: %s\n\n", title);
		free(title);
		for (size_t i = 0; i < table.row_count; i++) {
			if (!i)
				widths = measure(print, table.rows[i].id);
			print_summary(print, table.rows[i].name, table.rows[i].id, &widths);
			fputc('\n', print->output.file);
		}
	}
	table_fini(&table);
	return true;
}

/* All metrics of the rows of a list of code; their names are all there is to say besides. */
static bool print_code_summary(struct print *print, const char *command, const char *title,
			       void (*view)(struct session *, const struct query *, struct table *))
{
	struct query query = print->query;
	struct metric_list all = {0};
	const struct metric *metric;
	struct table table;

	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (!has_numbers(print->session, metric))
			continue;
		*vec_push(&all) = (struct metric_choice){metric, FLAVOR_EXCLUSIVE, VISIBLE_VALUE};
		*vec_push(&all) = (struct metric_choice){metric, FLAVOR_INCLUSIVE, VISIBLE_VALUE};
	}
	query.metrics = all;
	query.compare = COMPARE_OFF;
	view(print->session, &query, &table);
	if (print->mode == MODE_JSON) {
		table_print_json(print, &table, SHAPE_LIST, command);
	} else {
		struct labels widths = measure(print, FUNCTION_TOTAL);
		char *heading = command_sort_heading(print, title);

		terminal_printf(print->output.file, "%s\n\n", heading);
		for (size_t row = 0; row < table.row_count; row++) {
			terminal_printf(print->output.file, "%s\n", table.rows[row].name);
			for (size_t i = 0; i < table.column_count; i++)
				put_metric(print, table.columns[i].choice.metric,
					   table.columns[i].choice.flavor, &widths,
					   table.values[row * table.column_count + i],
					   table.base[i]);
			fputc('\n', print->output.file);
		}
		free(heading);
	}
	table_fini(&table);
	vec_fini(&all);
	return true;
}

bool command_lsummary(struct print *print, char **arguments, size_t count)
{
	return print_code_summary(print, "lsummary", "Lines", view_lines);
}

bool command_psummary(struct print *print, char **arguments, size_t count)
{
	return print_code_summary(print, "psummary", "PCs", view_pcs);
}

bool command_fsingle(struct print *print, char **arguments, size_t count)
{
	uint32_t function = FUNCTION_TOTAL;

	if (!command_choose_function(print, "fsingle", arguments, count, &function))
		return false;
	struct function_summary summary;

	session_function_summary(print->session, function, &summary);
	if (print->mode == MODE_JSON) {
		struct json_report report;

		json_report_begin(&report, print, "fsingle", summary_metrics(print), NULL);
		json_summary(print, &report, summary.name, function);
		json_report_end(&report);
	} else {
		struct labels widths = measure(print, function);

		print_summary(print, summary.name, function, &widths);
		fputc('\n', print->output.file);
	}
	return true;
}

/* functions: they are such; equal names are told apart by their sources. */
static void list_choices(struct print *print, const struct function_match *matches, size_t count,
			 bool functions)
{
	fprintf(stderr, "Available name list:\n");
	for (size_t i = 0; i < count; i++) {
		struct function_summary summary = {0};

		if (functions)
			session_function_summary(print->session, matches[i].function, &summary);
		terminal_printf(stderr, "%3zu) %s  %s  0x%08" PRIx64 "%s%s\n", i + 1,
				matches[i].name, matches[i].object ? matches[i].object : "",
				matches[i].address, summary.source_file ? "  " : "",
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
	size_t choice = found == 1 ? 1 : 0;
	char *rest;

	if (count > 1) {
		choice = strtoul(arguments[1], &rest, 10);
		if (!*rest && choice >= 1 && choice <= found)
			return &matches[choice - 1];
		list_choices(print, matches, found, !strcmp(what, "functions"));
		say_error(print, "%s: there is no number %s for `%s'", command, arguments[1],
			  arguments[0]);
		return NULL;
	}
	if (found > 1) {
		list_choices(print, matches, found, !strcmp(what, "functions"));
		choice = print->ask ? ask_choice(found) : 0;
		if (!choice && !print->ask)
			say_error(print,
				  "%zu %s have the name `%s': add a number from the list, as in: "
				  "%s %s 1",
				  found, what, arguments[0], command, arguments[0]);
	}
	return choice ? &matches[choice - 1] : NULL;
}

/* The first few names that begin with a word, or that have it further on; false: none has. */
static bool list_names(struct strbuf *text, const char *const *names, size_t count,
		       const char *word, bool further)
{
	size_t found = 0;

	for (size_t i = 0; i < count && *word; i++) {
		const char *at = strcasestr(names[i], word);

		if (!at || (at > names[i]) != further)
			continue;
		if (!found)
			strbuf_puts(text,
				    further ? "it is part of the names " : "it begins the names ");
		if (found++ < NAMES_SHOWN)
			strbuf_printf(text, "%s%s", found > 1 ? ", " : "", names[i]);
	}
	if (found > NAMES_SHOWN)
		strbuf_puts(text, ", ...");
	return found;
}

/*
 * What a name may have been meant for, the caller's to free: functions whose names begin so, the
 * nearest name, or names that have it in them; NULL: nothing.
 */
static char *name_meant(struct print *print, const char *name)
{
	struct function_match *all;
	size_t count = session_functions(print->session, &all);
	const char **names = xcalloc(count + 1, sizeof(*names)), *closest;
	struct strbuf text = {0};

	for (size_t i = 0; i < count; i++)
		names[i] = all[i].name;
	if (!list_names(&text, names, count, name, false)) {
		closest = suggest_closest(name, names, count);
		if (closest)
			strbuf_printf(&text, "did you mean %s?", closest);
		else
			list_names(&text, names, count, name, true);
	}
	free(names);
	free(all);
	if (text.length)
		return strbuf_steal(&text);
	strbuf_fini(&text);
	return NULL;
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
