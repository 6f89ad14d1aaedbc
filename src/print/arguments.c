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
#include "print/startup_files.h"

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
	struct diag_list found = {0};
	enum status status = command_find(name, word, command, &found);

	if (status == STATUS_NOTFOUND && option)
		diag_add(diags, DIAG_ERROR,
			 "Invalid command: %s (did you mean -%s, an option of %s?)", word, option,
			 before->command->name);
	for (size_t i = 0; i < found.count && !(status == STATUS_NOTFOUND && option); i++)
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

static enum status parse_color(struct arguments *arguments, const char *when,
			       struct diag_list *diags)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(when, words[i])) {
			arguments->color = (enum color_choice)i;
			return STATUS_OK;
		}
	}
	diag_add(diags, DIAG_ERROR, "--color takes auto, always or never, not `%s'", when);
	return STATUS_INVALID;
}

/* One of our own options; STATUS_NOTFOUND: the word is none. */
static enum status parse_option(struct arguments *arguments, const char *word,
				struct diag_list *diags)
{
	if (!strncmp(word, "--color=", 8))
		return parse_color(arguments, word + 8, diags);
	if (!strcmp(word, "--no-pager"))
		arguments->no_pager = true;
	else if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		arguments->help = true;
	else if (!strcmp(word, "--no-startup"))
		arguments->no_startup = true;
	else if (!strcmp(word, "--clear-cache"))
		arguments->clear_cache = true;
	else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		arguments->version = true;
	else
		return STATUS_NOTFOUND;
	return STATUS_OK;
}

static char **last_word(const struct plan *plan)
{
	const struct planned *last = &plan->items[plan->count - 1];

	return last->arguments + last->count - 1;
}

bool arguments_without_startup(int argc, char **argv)
{
	static const char *const words[] = {"--no-startup", "--help", "-h", "--version", "-V"};

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < COUNT(words); k++)
			if (!strcmp(argv[i], words[k]))
				return true;
	return false;
}

enum status arguments_parse(int argc, char **argv, const struct startup *startup,
			    struct arguments *arguments, struct diag_list *diags)
{
	bool words_only = false;

	*arguments = (struct arguments){.startup = startup};
	for (char **word = argv + 1; word < argv + argc; word++) {
		if (words_only || word[0][0] != '-') {
			*vec_push(&arguments->experiments) = xstrdup(*word);
			continue;
		}
		if (!strcmp(*word, "--")) {
			words_only = true;
			continue;
		}
		if (!strcmp(*word, "-")) {
			*vec_push(&arguments->plan) = (struct planned){0};
			continue;
		}
		enum status status = parse_option(arguments, *word, diags);

		if (status == STATUS_NOTFOUND) {
			status = parse_command(arguments, *word, word + 1, diags);
			if (status == STATUS_OK)
				word = last_word(&arguments->plan);
		}
		if (status != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}

void arguments_fini(struct arguments *arguments)
{
	experiment_paths_fini(&arguments->experiments);
	vec_fini(&arguments->plan);
}
