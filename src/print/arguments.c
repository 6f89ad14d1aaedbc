/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dash word is a command and takes the words behind it; all other words are
 * experiments.  The whole line is checked before anything is opened: a slip at
 * its end must not cost the time of what stands before it.
 */
#include "print/arguments.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/suggest.h"
#include "print/commands/command_index.h"
#include "print/startup_files.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool arguments_names_experiment(const char *word)
{
	return path_ends_with(word, ".er") || path_ends_with(word, ".erg");
}

/* Only the words behind a command that may go without an argument are asked this. */
static bool is_experiment(const char *word)
{
	struct stat status;

	if (arguments_names_experiment(word))
		return true;
	return strchr(word, '/') && !stat(word, &status) && S_ISDIR(status.st_mode);
}

static bool is_number(const char *word)
{
	if (!strcasecmp(word, "all"))
		return true;
	return *word && word[strspn(word, "0123456789")] == '\0';
}

/* Arguments without the options among them. */
static size_t plain_count(const struct planned *planned)
{
	size_t count = 0;
	bool with_value = false;

	for (size_t i = 0; i < planned->count; i++)
		count += !command_option(planned->command, planned->arguments[i], &with_value);
	return count;
}

static bool takes(const struct planned *planned, const char *word)
{
	const struct command *command = planned->command;
	bool with_value = false;

	if (planned->count &&
	    command_option(command, planned->arguments[planned->count - 1], &with_value) &&
	    with_value)
		return true;
	if (command_option(command, word, &with_value))
		return true;
	if (plain_count(planned) < command->min_arguments)
		/* A sort metric may begin with a dash, and "-" is standard output. */
		return word[0] != '-' || !word[1] || command->takes_dash;
	if (planned->count >= command->max_arguments || word[0] == '-')
		return false;
	if (command->optional == ARGUMENT_NUMBER)
		return is_number(word);
	if (command->optional == ARGUMENT_PATH)
		return !arguments_names_experiment(word);
	return command->optional == ARGUMENT_ANY && !is_experiment(word);
}

/* The command that shows the object which a command defines under that name; NULL: it does not. */
static const char *command_of_definition(const struct command *command, const char *defined,
					 const char *name)
{
	if (!command || !defined || strcasecmp(defined, name) != 0)
		return NULL;
	if (!command->defines)
		return NULL;
	return command->objects == OBJECTS_INDEX ? "indxobj" : "memobj";
}

/*
 * The command that an object's name stands for, be it there, or defined in a start-up file or on
 * the line; or NULL.
 */
static const char *object_command(const struct arguments *arguments, const char *name)
{
	const struct startup *startup = arguments->startup;
	const char *command = NULL;

	for (size_t i = 0; i < arguments->plan.count && !command; i++) {
		const struct planned *planned = &arguments->plan.items[i];

		command = command_of_definition(
			planned->command, planned->count ? planned->arguments[0] : NULL, name);
	}
	for (size_t i = 0; startup && i < startup->lines.count && !command; i++) {
		const struct startup_line *line = &startup->lines.items[i];

		command = command_of_definition(
			line->command, line->words.count > 1 ? line->words.items[1] : NULL, name);
	}
	return command ? command : command_of_object(NULL, name);
}

/* ---- options ---- */

/* Of rows with which no start-up file is read. */
enum { OPTION_WITHOUT_STARTUP = OPTION_OWN };

static bool take_color(struct option_parser *parser, const char *argument)
{
	static const char *const words[] = {"auto", "always", "never"};
	struct arguments *arguments = parser->target;

	for (int i = 0; i < 3; i++) {
		if (!strcmp(argument, words[i])) {
			arguments->color = (enum color_choice)i;
			return true;
		}
	}
	return option_refuse(parser, "--color takes auto, always or never, not", argument);
}

#define AT(member) offsetof(struct arguments, member)
static const struct option rows[] = {
	{0, "color", "WHEN", 0, take_color, 0, "auto (default), always, never"},
	{0, "no-pager", NULL, 0, option_set_flag, AT(no_pager),
	 "do not start $PAGER on a terminal"},
	{0, "clear-cache", NULL, 0, option_set_flag, AT(clear_cache),
	 "remove the sums that are kept of large experiments"},
	{0, "no-startup", NULL, OPTION_WITHOUT_STARTUP, option_set_flag, AT(no_startup),
	 "do not read the start-up files, .er.rc"},
};
#undef AT
static const struct option_table tables[] = {OPTION_TABLE(rows), OPTION_COMMON};

const struct option_syntax arguments_syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.whole_words = true,
	.usage = "Usage: %s [OPTION]... [-COMMAND [ARGUMENT]...]... EXPERIMENT...\n"
		 "Print what experiments hold.\n"
		 "\n"
		 "  %s -functions test.1.er             the functions, most expensive first\n"
		 "  %s -limit 20 -functions -calltree test.1.er\n"
		 "  %s -metrics e.user:i.user:name -sort i.user -functions test.1.er\n"
		 "  %s -printmode json -functions test.1.er\n"
		 "  %s test.1.er                        read commands from standard input\n"
		 "\n"
		 "Commands run from left to right; -help lists them all. Most used: functions\n"
		 "callers-callees calltree fsingle csingle metrics sort limit header overview.\n"
		 "\n"
		 "  -                  read commands from standard input (also without any "
		 "command)\n"
		 "  -script FILE       read commands from a file\n",
	.notes = "\n"
		 "Exit status: 0 ok, 1 a command failed or no experiment could be read,\n"
		 "2 wrong command line, 3 a script could not be read.\n",
};

static bool is_for_startup(const char *word)
{
	const struct option *option = option_find(&arguments_syntax, word);

	return !option || !(option->flags & OPTION_WITHOUT_STARTUP ||
			    option->take == option_ask_help || option->take == option_ask_version);
}

bool arguments_without_startup(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!is_for_startup(argv[i]))
			return true;
	return false;
}

/* ---- commands ---- */

/* The option of a command that a word may be a slip for, the caller's to free; NULL: none. */
static char *option_meant(const struct command *command, const char *word)
{
	char *options = xstrdup(command && command->options ? command->options : "");
	char *rest = options, *option, *meant;
	VEC(const char *) names = {0};
	const char *closest;

	while ((option = strtok_r(rest, " =", &rest)))
		*vec_push(&names) = option;
	closest = suggest_closest(word, names.items, names.count);
	meant = closest ? xstrdup(closest) : NULL;
	vec_fini(&names);
	free(options);
	return meant;
}

static enum status find_command(const struct arguments *arguments, const char *word,
				const char *name, const struct command **command,
				struct diag_list *diags)
{
	const struct planned *before =
		arguments->plan.count ? &arguments->plan.items[arguments->plan.count - 1] : NULL;
	char *option = before ? option_meant(before->command, name) : NULL;
	const char *own = option_guess(&arguments_syntax, word);
	struct diag_list found = {0};
	enum status status = command_find(name, word, command, &found);
	bool is_slip = status == STATUS_NOTFOUND && (own || option);

	if (is_slip && own)
		diag_add(diags, DIAG_ERROR, "Invalid command: %s (did you mean --%s?)", word, own);
	else if (is_slip)
		diag_add(diags, DIAG_ERROR,
			 "Invalid command: %s (did you mean -%s, an option of %s?)", word, option,
			 before->command->name);
	for (size_t i = 0; i < found.count && !is_slip; i++)
		diag_add(diags, found.items[i].level, "%s", found.items[i].text);
	diag_fini(&found);
	free(option);
	return status;
}

static enum status parse_command(struct arguments *arguments, const char *word, char **rest,
				 struct diag_list *diags)
{
	struct planned planned = {.arguments = rest};
	const char *name = word + strspn(word, "-");

	const char *of_object = object_command(arguments, name);

	if (of_object) { /* the word is the command's argument */
		planned.arguments--;
		planned.count = 1;
		name = of_object;
	}

	enum status status = find_command(arguments, word, name, &planned.command, diags);

	if (status != STATUS_OK)
		return status;
	const struct command *command = planned.command;

	while (*rest && takes(&planned, *rest)) {
		planned.count++;
		rest++;
	}
	if (planned.count < command->min_arguments) {
		diag_add(diags, DIAG_ERROR, "%s needs an argument: -%s %s", word, command->name,
			 command->arguments);
		return STATUS_INVALID;
	}
	*vec_push(&arguments->plan) = planned;
	return STATUS_OK;
}

static char **last_word(const struct plan *plan)
{
	const struct planned *last = &plan->items[plan->count - 1];

	return last->arguments + last->count - 1;
}

/* Leaves *word at the last word of what was taken. */
static enum status parse_word(struct arguments *arguments, struct option_parser *parser,
			      char ***word)
{
	if (!strcmp(**word, "-")) {
		*vec_push(&arguments->plan) = (struct planned){0};
		return STATUS_OK;
	}
	enum status status = option_parse_word(parser, word);

	if (status != STATUS_NOTFOUND)
		return status;
	status = parse_command(arguments, **word, *word + 1, parser->diags);
	if (status == STATUS_OK)
		*word = last_word(&arguments->plan);
	return status;
}

enum status arguments_parse(int argc, char **argv, const struct startup *startup,
			    struct arguments *arguments, struct diag_list *diags)
{
	struct option_parser parser = {
		.syntax = &arguments_syntax, .target = arguments, .diags = diags};
	bool words_only = false;

	*arguments = (struct arguments){.startup = startup};
	for (char **word = argv + 1; word < argv + argc && !parser.is_done; word++) {
		if (words_only || word[0][0] != '-')
			*vec_push(&arguments->experiments) = xstrdup(*word);
		else if (!strcmp(*word, "--"))
			words_only = true;
		else if (parse_word(arguments, &parser, &word) != STATUS_OK)
			return STATUS_INVALID;
	}
	arguments->asked = parser.asked;
	return STATUS_OK;
}

void arguments_fini(struct arguments *arguments)
{
	experiment_paths_fini(&arguments->experiments);
	vec_fini(&arguments->plan);
}
