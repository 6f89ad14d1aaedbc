/* SPDX-License-Identifier: Apache-2.0 */
/* help, version, quit: the commands about the program itself. */
#include "base/memory.h"
#include "base/terminal.h"
#include "print/command.h"
#include "print/json.h"

#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 34 };

static void put_command(FILE *file, const struct command *command)
{
	char *usage =
		xasprintf("%s%s%s%s %s", command->name, command->aliases ? "[" : "",
			  command->aliases ? command->aliases : "", command->aliases ? "]" : "",
			  command->arguments ? command->arguments : "");

	if (strlen(usage) > HELP_COLUMN - 2)
		terminal_printf(file, "    %s\n    %*s%s\n", usage, HELP_COLUMN, "", command->help);
	else
		terminal_printf(file, "    %-*s%s\n", HELP_COLUMN, usage, command->help);
	free(usage);
}

static void put_all(FILE *file)
{
	const struct command *command;

	fprintf(file, "Other spellings of a command stand in []. Every command may be shortened to "
		      "a unique beginning.\n");
	for (int group = 0; group < GROUP_COUNT; group++) {
		terminal_printf(file, "\n%s\n", command_group_title((enum command_group)group));
		for (size_t i = 0; (command = command_at(i)); i++)
			if (command->run && (int)command->group == group)
				put_command(file, command);
	}
}

static void json_command(struct json_report *report, const struct command *command)
{
	json_t *aliases = json_array();

	for (const char *alias = command->aliases; alias && *alias;) {
		size_t length = strcspn(alias, " ");

		json_array_append_new(aliases, json_stringn(alias, length));
		alias += length + strspn(alias + length, " ");
	}
	json_report_row(report,
			json_pack("{s:s, s:o, s:s, s:s, s:s}", "name", command->name, "aliases",
				  aliases, "arguments",
				  command->arguments ? command->arguments : "", "help",
				  command->help, "group", command_group_title(command->group)));
}

static void json_help(struct print *print, const struct command *only)
{
	struct json_report report;
	const struct command *command;

	json_report_begin(&report, print, "help", NULL, NULL);
	for (size_t i = 0; (command = command_at(i)); i++)
		if (command->run && (!only || only == command))
			json_command(&report, command);
	json_report_end(&report);
}

bool command_help(struct print *print, char **arguments, size_t count)
{
	const struct command *command = NULL;

	if (count) {
		struct diag_list diags = {0};
		enum status status = command_find(arguments[0], arguments[0], &command, &diags);

		say_diags(print, &diags);
		if (status != STATUS_OK)
			return false;
		if (!command->run)
			return command_run(print, command, NULL, 0);
	}
	if (print->mode == MODE_JSON)
		json_help(print, command);
	else if (command)
		put_command(print->output.file, command);
	else
		put_all(print->output.file);
	return true;
}

bool command_version(struct print *print, char **arguments, size_t count)
{
	if (print->mode == MODE_JSON) {
		struct json_report report;

		json_report_begin(&report, print, "version", NULL, NULL);
		json_report_row(&report, json_pack("{s:s, s:s}", "name", "heliometer", "version",
						   HELIO_VERSION));
		json_report_end(&report);
		return true;
	}
	fprintf(print->output.file, "heliometer %s\n", HELIO_VERSION);
	return true;
}

bool command_quit(struct print *print, char **arguments, size_t count)
{
	print->quit = true;
	return true;
}
