/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json.h"

#include "base/memory.h"
#include "base/terminal.h"
#include "print/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number(enum metric_unit unit, double value)
{
	if (!isfinite(value))
		return json_null();
	return unit == UNIT_SECONDS || unit == UNIT_RATIO ? json_real(value)
							  : json_integer((json_int_t)value);
}

char *json_metric_key(const struct metric *metric, enum metric_flavor flavor)
{
	static const char letters[] = " eia";

	if (flavor == FLAVOR_STATIC)
		return xstrdup(metric->command);
	return xasprintf("%c.%s", letters[flavor], metric->command);
}

json_t *json_metric(const struct metric *metric, enum metric_flavor flavor)
{
	const char *prefix = layout_flavor_long(flavor);
	char *key = json_metric_key(metric, flavor);
	char *title = xasprintf("%s%s%s", prefix, *prefix ? " " : "", metric->title);
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", key, "title", title, "unit",
				   number_unit_name(metric->unit));

	free(title);
	free(key);
	return object;
}

static void put_value(struct print *print, const json_t *value)
{
	json_dumpf(value, print->output.file, JSON_COMPACT | JSON_ENCODE_ANY);
}

static json_t *experiments(const struct print *print)
{
	json_t *list = json_array();
	size_t count = print->session ? session_process_count(print->session) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct process_info *process = session_process(print->session, i);

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

static json_t *warnings(const struct print *print)
{
	json_t *list = json_array();

	add_warnings(list, &print->warnings);
	if (print->session)
		add_warnings(list, session_warnings(print->session));
	return list;
}

static void put_member(struct print *print, const char *key, json_t *value)
{
	terminal_printf(print->output.file, "\"%s\":", key);
	put_value(print, value);
	fputc(',', print->output.file);
	json_decref(value);
}

void json_report_begin(struct json_report *report, struct print *print, const char *command,
		       json_t *metrics, json_t *extra)
{
	const char *key;
	json_t *value;

	*report = (struct json_report){.print = print};
	fputc('{', print->output.file);
	put_member(print, "command", json_text(command));
	put_member(print, "experiments", experiments(print));
	json_object_foreach(extra, key, value) put_member(print, key, json_incref(value));
	json_decref(extra);
	put_member(print, "metrics", metrics ? metrics : json_array());
	fputs("\"rows\":[", print->output.file);
}

void json_report_row(struct json_report *report, json_t *row)
{
	if (report->row_count++)
		fputc(',', report->print->output.file);
	put_value(report->print, row);
	json_decref(row);
}

void json_report_end(struct json_report *report)
{
	struct print *print = report->print;

	fputs("],\"warnings\":", print->output.file);
	json_t *list = warnings(print);

	put_value(print, list);
	json_decref(list);
	fputs("}\n", print->output.file);
}
