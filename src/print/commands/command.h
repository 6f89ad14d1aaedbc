/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands and how a command is found by its word. */
#ifndef HELIO_PRINT_COMMAND_H
#define HELIO_PRINT_COMMAND_H

#include "print/context.h"

/* Which words of a command line an argument that may be missing takes (script lines take any). */
enum argument_kind {
	ARGUMENT_ANY,	 /* one that begins with no dash and is no experiment */
	ARGUMENT_PATH,	 /* the same, but it may be a directory */
	ARGUMENT_NUMBER, /* a number, or "all" */
	ARGUMENT_NONE,	 /* none but its options */
};

enum command_group {
	GROUP_FUNCTIONS,
	GROUP_CALLS,
	GROUP_CODE,
	GROUP_TRACES,
	GROUP_INDEX,
	GROUP_LISTS,
	GROUP_FILTERS,
	GROUP_METRICS,
	GROUP_OUTPUT,
	GROUP_DEFAULTS,
	GROUP_OTHER,
	GROUP_COUNT,
};

/* Data without which a command has nothing to show: none, of a kind of trace, or unrecorded. */
#define X(NAME, name) DATA_##NAME,
enum command_data {
	DATA_ANY, /* whatever there is */
	FORMAT_KINDS(X) DATA_COUNTS,
	DATA_RACES,
	DATA_DEADLOCKS,
};
#undef X

/* What a command sets that has to be known before the first one runs. */
enum command_setting { SETS_OTHER, SETS_METRICS, SETS_GROUPS, SETS_FORMAT, SETS_INLINES };

/* Objects that a command shows or defines. */
enum command_objects { OBJECTS_NONE, OBJECTS_INDEX, OBJECTS_MEMORY };

struct command {
	const char *name;
	const char *aliases; /* space-separated, or NULL */
	unsigned min_arguments, max_arguments;
	enum argument_kind optional; /* kind of the arguments beyond min_arguments */
	enum command_group group;
	const char *arguments; /* for help: "NAME [N]"; NULL: none */
	const char *help;
	/* False after say_error(). NULL: known, but nothing records the data that it is for. */
	bool (*run)(struct print *print, char **arguments, size_t count);
	bool no_session; /* needs no experiment */
	bool sums_only;	 /* what analysis/cache/cache.h keeps is enough for it */
	bool code_only;	 /* the same, with what it keeps of code */
	enum command_data data;
	enum command_data or_data; /* with which it has something to show, too */
	enum command_setting setting;
	enum command_objects objects;
	bool defines;	    /* it defines such objects: another command shows them */
	bool shows_paths;   /* whole call paths: inlined functions are calls there */
	bool writes_itself; /* a file, or the answers of other commands */
	bool takes_dash;    /* its argument may begin with a dash */
	bool is_help;	    /* who asks for it wants no experiment */
	bool comes_next;    /* report says to type it where there is such data */
	bool not_asked;	    /* not in a request (answer.h): writes a file, reads another, leaves */
	bool alters;	    /* the session: no other request may be at work */
	const char
		*options; /* "inverted depth=": words with a dash, `=`: a word follows; or NULL */
};

/* Words of the commands that show a tree, which command_tree_part reads. */
#define COMMAND_TREE_OPTIONS "inverted depth= percent= hottest"

/* All commands, those not available at the end. NULL after the last. */
const struct command *command_at(size_t index);
const char *command_group_title(enum command_group group);
/* TRACE_KINDS: of none. */
enum trace_kind command_data_kind(enum command_data data);
/* Whether the experiments hold the data. False after say_error(), which says how to record it. */
bool command_check_data(struct print *print, const struct command *command);

/*
 * A command by its name, an alias or a unique beginning of one, without regard
 * to case.  STATUS_AMBIGUOUS: diags names the candidates; STATUS_NOTFOUND:
 * diags says so and may suggest one.  `shown` is how the word is quoted.
 */
enum status command_find(const char *word, const char *shown, const struct command **out,
			 struct diag_list *diags);

/* Whether a word is an option of the command; *with_value: it takes the next word too. */
bool command_option(const struct command *command, const char *word, bool *with_value);

/* What of the experiments a command needs. */
enum command_need {
	NEED_SUMS, /* what analysis/cache/cache.h keeps */
	NEED_CODE, /* with code */
	NEED_ALL,
};
enum command_need command_needs(const struct command *command, char *const *arguments,
				size_t count);

/* Checks what the command needs and runs it. False: it failed, and has said so. */
bool command_run(struct print *print, const struct command *command, char **arguments,
		 size_t count);

/*
 * Which processes an [ID|all] argument means: no argument and "all": every one.
 * Ids as in experiment_list. False after say_error().
 */
bool command_select_processes(struct print *print, char **arguments, size_t count, size_t *first,
			      size_t *end);

/* The words of a command as one could type them, the caller's to free. NULL: "". */
char *command_words(char *const *arguments);

#endif
