/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of commands, whoever writes them. */
#include "print/script.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "print/commands/command.h"
#include "print/commands/command_index.h"
#include "print/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_DEPTH = 16 };

static const char blanks[] = " \t\r\n";

/* Reads one word; NULL: a quote is not closed. */
static const char *read_word(const char *line, struct strbuf *word)
{
	char quote = '\0';

	for (; *line && (quote || !strchr(blanks, *line)); line++) {
		if (quote && *line == quote)
			quote = '\0';
		else if (!quote && (*line == '"' || *line == '\''))
			quote = *line;
		else if (quote == '"' && *line == '\\' && line[1])
			strbuf_putc(word, *++line);
		else
			strbuf_putc(word, *line);
	}
	return quote ? NULL : line;
}

enum status words_split(const char *line, struct words *words)
{
	*words = (struct words){0};
	for (;;) {
		struct strbuf word = {0};

		line += strspn(line, blanks);
		if (!*line)
			return STATUS_OK;
		if (words->count == SCRIPT_WORDS) {
			words->cut = true;
			return STATUS_OK;
		}
		line = read_word(line, &word);
		words->items[words->count++] = strbuf_steal(&word);
		if (!line)
			return STATUS_INVALID;
	}
}

void words_fini(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	words->count = 0;
}

static bool run_words(struct print *print, struct words *words)
{
	struct diag_list diags = {0};
	const struct command *command = NULL;

	/* by its name alone */
	const char *of_object = command_of_object(print->session, words->items[0]);
	const char *word = of_object ? of_object : words->items[0];
	enum status status = command_find(word, word, &command, &diags);

	say_diags(print, &diags);
	if (status != STATUS_OK)
		return false;
	if (words->cut)
		say_warning(print, "only the first %d arguments are used", SCRIPT_WORDS - 1);
	if (of_object)
		return command_run(print, command, words->items, 1);
	return command_run(print, command, words->items + 1, words->count - 1);
}

bool script_run_line(struct print *print, const char *line)
{
	struct words words;
	bool ok = true;

	line += strspn(line, blanks);
	if (*line == '#') {
		size_t length = strcspn(line, "\r\n");

		say_note(print, "%.*s", (int)length, line);
		return true;
	}
	if (words_split(line, &words) != STATUS_OK)
		ok = say_error(print, "A quotation mark is not closed: %.*s",
			       (int)strcspn(line, "\r\n"), line);
	else if (words.count)
		ok = run_words(print, &words);
	words_fini(&words);
	return ok;
}

void script_run_file(struct print *print, FILE *file, const char *name)
{
	const char *outer_name = print->script_name;
	unsigned outer_line = print->script_line;
	char *line = NULL;
	size_t capacity = 0;

	print->script_name = name;
	print->script_line = 0;
	while (!print->quit && getline(&line, &capacity, file) >= 0) {
		print->script_line++;
		script_run_line(print, line);
	}
	free(line);
	print->script_name = outer_name;
	print->script_line = outer_line;
}

static bool command_script(struct print *print, char **arguments, size_t count)
{
	bool from_stdin = !strcmp(arguments[0], "-");

	if (print->script_depth == SCRIPT_DEPTH)
		return say_error(print, "Scripts call each other more than %d deep", SCRIPT_DEPTH);
	FILE *file = from_stdin ? stdin : fopen(arguments[0], "re");

	if (!file) {
		print->exit_status = PRINT_EXIT_SCRIPT;
		print->quit = !print->ask;
		return say_error(print, "Script file cannot be opened: %s: %s", arguments[0],
				 strerror(errno));
	}
	print->script_depth++;
	script_run_file(print, file, arguments[0]);
	print->script_depth--;
	if (!from_stdin)
		fclose(file);
	return true;
}

const struct command command_rows_script[] = {
	{.name = "script",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_OTHER,
	 .arguments = "FILE",
	 .help = "run the commands in a file",
	 .run = command_script,
	 .writes_itself = true,
	 .not_asked = true},
	{0},
};
