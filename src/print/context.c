/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: what is said about the data, never mixed with it. */
#include "print/context.h"

#include "analysis/session/session.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "object/lines/remarks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void print_init(struct print *print, const char *program)
{
	*print = (struct print){.program = program};
	output_init(&print->output, COLOR_AUTO);
	print->presenter = (struct presenter){
		.program = program, .output = &print->output, .warnings = &print->warnings};
}

enum { THRESHOLD = 75 }; /* percent, as in er_print */

void code_settings_init(struct code_settings *settings)
{
	*settings = (struct code_settings){.source_threshold = THRESHOLD,
					   .code_threshold = THRESHOLD,
					   .source_remarks = REMARK_BASIC,
					   .code_remarks = REMARK_BASIC};
	*vec_push(&settings->path) = xstrdup("$expts");
	*vec_push(&settings->path) = xstrdup(".");
}

void code_settings_empty_path(struct code_settings *settings)
{
	for (size_t i = 0; i < settings->path.count; i++)
		free(settings->path.items[i]);
	settings->path.count = 0;
}

void code_settings_fini(struct code_settings *settings)
{
	code_settings_empty_path(settings);
	vec_fini(&settings->path);
	for (size_t i = 0; i < settings->maps.count; i++) {
		free((char *)settings->maps.items[i].old_prefix);
		free((char *)settings->maps.items[i].new_prefix);
	}
	vec_fini(&settings->maps);
	string_table_fini(&settings->warned);
}

void print_fini(struct print *print)
{
	if (print->session) {
		query_fini(&print->query);
		vec_fini(&print->index_metrics);
	}
	vec_fini(&print->fragment);
	free(print->default_metrics.text);
	free(print->default_sort.text);
	code_settings_fini(&print->code);
	diag_fini(&print->warnings);
}

bool print_answer(struct print *print, struct result *result)
{
	present(&print->presenter, result);
	result_fini(result);
	return true;
}

/*
 * An end of line in a name is shown, but a message may have more lines of its own: they begin with
 * two blanks (the place in a filter).
 */
static void put_message(struct strbuf *line, const char *text)
{
	for (const char *end; (end = strstr(text, "\n  ")); text = end + 1) {
		char *part = xstrndup(text, (size_t)(end - text));

		strbuf_put_in_line(line, part);
		strbuf_puts(line, "\n");
		free(part);
	}
	strbuf_put_in_line(line, text);
}

/* Data that was printed before stays before the message when both go to one terminal. */
static void say(struct print *print, enum diag_level level, const char *text)
{
	static const char *const colors[] = {
		[DIAG_NOTE] = "", [DIAG_WARNING] = "\033[1;33m", [DIAG_ERROR] = "\033[1;31m"};
	static const char *const prefixes[] = {
		[DIAG_NOTE] = "", [DIAG_WARNING] = "Warning: ", [DIAG_ERROR] = "Error: "};
	bool is_note = level == DIAG_NOTE, colored = print->output.error_color && !is_note;
	struct strbuf line = {0};

	if (print->output.file == stdout)
		fflush(stdout);
	if (colored)
		terminal_control(stderr, colors[level]);
	fputs(prefixes[level], stderr);
	if (colored)
		terminal_control(stderr, "\033[0m");
	if (!is_note && print->script_name)
		terminal_printf(stderr, "%s, line %u: ", print->script_name, print->script_line);
	put_message(&line, text);
	fprintf(stderr, "%s\n", line.text ? line.text : "");
	strbuf_fini(&line);
}

/* What is said of an answer in part is of no use. */
__attribute__((format(printf, 3, 0))) static void
say_format(struct print *print, enum diag_level level, const char *format, va_list args)
{
	static const char cut[] = "...";
	enum { LONGEST = 4096 }; /* bytes of a message */

	if (print->progress.kept)
		return;
	char *text = xvasprintf(format, args);

	if (strlen(text) > LONGEST) { /* nobody reads on: a line of a script may have megabytes */
		size_t end = LONGEST - sizeof(cut);

		while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
			end--; /* no character is cut */
		memcpy(text + end, cut, sizeof(cut));
	}
	if (print->said)
		diag_add(print->said, level, "%s", text);
	else
		say(print, level, text);
	free(text);
}

bool say_error(struct print *print, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_format(print, DIAG_ERROR, format, args);
	va_end(args);
	print->failed = true;
	return false;
}

void say_warning(struct print *print, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_format(print, DIAG_WARNING, format, args);
	va_end(args);
}

void say_note(struct print *print, const char *format, ...)
{
	va_list args;

	if (print->starting)
		return;
	va_start(args, format);
	say_format(print, DIAG_NOTE, format, args);
	va_end(args);
}

void say_lasting(struct print *print, size_t first)
{
	const struct diag_list *warnings = session_warnings(print->session);

	for (size_t i = first; !present_has_warnings(&print->presenter) && i < warnings->count; i++)
		say_warning(print, "%s", warnings->items[i].text);
}

void say_unknown(struct print *print)
{
	size_t known = session_warnings(print->session)->count;

	session_warn_unknown(print->session, &print->query.metrics);
	say_lasting(print, known);
}

bool say_diags(struct print *print, struct diag_list *diags)
{
	bool ok = true;

	for (size_t i = 0; i < diags->count; i++) {
		const char *text = diags->items[i].text;

		switch (diags->items[i].level) {
		case DIAG_ERROR:
			ok = say_error(print, "%s", text);
			break;
		case DIAG_WARNING:
			say_warning(print, "%s", text);
			break;
		case DIAG_NOTE:
			say_note(print, "%s", text);
			break;
		}
	}
	diag_fini(diags);
	return ok;
}
