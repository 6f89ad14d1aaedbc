/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `helio print`: options, commands with a dash, experiments. */
#ifndef HELIO_PRINT_ARGUMENTS_H
#define HELIO_PRINT_ARGUMENTS_H

#include "base/option.h"
#include "experiment/group.h"
#include "present/output.h"
#include "print/commands/command.h"

/* A command to run; arguments point into argv. command NULL: read commands from stdin ("-"). */
struct planned {
	const struct command *command;
	char **arguments;
	size_t count;
};

struct plan {
	struct planned *items;
	size_t count;
	size_t capacity;
};

struct startup;

struct arguments {
	struct plan plan;
	struct experiment_paths experiments; /* owned */
	enum color_choice color;
	enum option_asked asked; /* then nothing else is to be done */
	bool no_pager;
	bool clear_cache;
	bool no_startup;
	const struct startup *startup; /* the start-up files, or NULL: they define objects */
};

/* The options that are no commands, and the help. */
extern const struct option_syntax arguments_syntax;

/* Whether the start-up files are not wanted, or nothing is that they are for. */
bool arguments_without_startup(int argc, char **argv);
/*
 * startup: the objects that these files define are commands; or NULL.
 * STATUS_INVALID: the command line makes no sense; diags says why.  Nothing
 * has been opened then.
 */
enum status arguments_parse(int argc, char **argv, const struct startup *startup,
			    struct arguments *arguments, struct diag_list *diags);
/* Whether a word has the form of an experiment's or a group's name. */
bool arguments_names_experiment(const char *word);
void arguments_fini(struct arguments *arguments);

#endif
