/* SPDX-License-Identifier: Apache-2.0 */
#include "base/command_line.h"

#include "base/terminal.h"

#include <stdarg.h>
#include <stdlib.h>

size_t command_line_say(FILE *file, const char *program, struct diag_list *diags)
{
	static const char *const levels[] = {
		[DIAG_NOTE] = "", [DIAG_WARNING] = "Warning: ", [DIAG_ERROR] = ""};
	size_t errors = 0;

	for (size_t i = 0; i < diags->count; i++) {
		terminal_printf(file, "%s: %s%s\n", program, levels[diags->items[i].level],
				diags->items[i].text);
		errors += diags->items[i].level == DIAG_ERROR;
	}
	diag_fini(diags);
	return errors;
}

void command_line_advise(const char *program)
{
	terminal_printf(stderr, "Try `%s --help'.\n", program);
}

void command_line_refuse(const char *program, const char *format, ...)
{
	va_list arguments;
	char *message = NULL;

	va_start(arguments, format);
	if (vasprintf(&message, format, arguments) >= 0)
		terminal_printf(stderr, "%s: %s\n", program, message);
	va_end(arguments);
	free(message);
	command_line_advise(program);
}

size_t command_line_count(char **operands)
{
	size_t count = 0;

	while (operands[count])
		count++;
	return count;
}

void command_line_help(const struct option_syntax *syntax, const char *program)
{
	struct strbuf text = {0};

	option_help(syntax, program, &text);
	fputs(text.text, stdout);
	strbuf_fini(&text);
}

enum command_line command_line_answer(const struct option_parser *parser, bool valid,
				      const char *program)
{
	command_line_say(stderr, program, parser->diags);
	if (!valid) {
		command_line_advise(program);
		return COMMAND_LINE_WRONG;
	}
	if (parser->asked == OPTION_ASKED_HELP)
		command_line_help(parser->syntax, program);
	else if (parser->asked == OPTION_ASKED_VERSION)
		terminal_printf(stdout, "%s (Heliometer) " HELIO_VERSION "\n", program);
	return parser->asked ? COMMAND_LINE_ANSWERED : COMMAND_LINE_OK;
}

enum command_line command_line_read(const struct option_syntax *syntax, const char *program,
				    void *target, char **words, char ***operands)
{
	struct diag_list diags = {0};
	struct option_parser parser = {.syntax = syntax, .target = target, .diags = &diags};
	bool valid = option_parse(&parser, words, operands) == STATUS_OK;

	return command_line_answer(&parser, valid, program);
}
