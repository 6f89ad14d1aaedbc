/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands and how a command is found by its word. */
#ifndef HELIO_PRINT_COMMAND_H
#define HELIO_PRINT_COMMAND_H

#include "analysis/kinds/heaps.h"
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
	enum command_setting setting;
	enum command_objects objects;
	bool defines;	    /* it defines such objects: another command shows them */
	bool shows_paths;   /* whole call paths: inlined functions are calls there */
	bool writes_itself; /* a file, or the answers of other commands */
	bool takes_dash;    /* its argument may begin with a dash */
	bool is_help;	    /* who asks for it wants no experiment */
	bool comes_next;    /* report says to type it where there is such data */
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
bool command_check_data(struct print *print, enum command_data data);

/*
 * A command by its name, an alias or a unique beginning of one, without regard
 * to case.  STATUS_AMBIGUOUS: diags names the candidates; STATUS_NOTFOUND:
 * diags says so and may suggest one.  `shown` is how the word is quoted.
 */
enum status command_find(const char *word, const char *shown, const struct command **out,
			 struct diag_list *diags);

/* Whether a word is an option of the command; *with_value: it takes the next word too. */
bool command_option(const struct command *command, const char *word, bool *with_value);

/* Checks what the command needs and runs it. False: it failed, and has said so. */
bool command_run(struct print *print, const struct command *command, char **arguments,
		 size_t count);

/* What files of commands share, by file. command_views.c: */
/* A table is all of the answer: takes over the table and the heading. Returns true. */
bool command_show_table(struct print *print, const char *command, enum table_shape shape,
			struct table *table, char *heading);
/* "Functions sorted by metric: Exclusive Total CPU Time"; the caller's to free. */
char *command_table_heading(const char *what, const struct table *table, bool reverse);
/* The same by the query's metric, for what is no single list. */
char *command_sort_heading(const struct print *print, const char *what);
/* The attributed form of the sort metric, by which call lists are sorted; the caller's to free. */
char *command_attributed_title(const struct print *print);
/* command_stacks.c: */
/* How many of a list: a number, or all as 0. False after say_error(). */
bool command_read_count(struct print *print, const char *command, const char *word,
			uint32_t *count);
/* command_tree.c: */
/*
 * Reads the options of the commands that show a tree and moves the other arguments to the
 * front; *count: how many those are. False after say_error().
 */
bool command_tree_part(struct print *print, const char *command, char **arguments, size_t *count,
		       struct tree_part *part);
/* command_defaults.c: */
/* Makes the default metrics and order those in force. */
void command_use_defaults(struct print *print);
/* command_summary.c: */
/* The function that NAME [N] means, asking a person where it must. False after say_error(). */
bool command_choose_function(struct print *print, const char *command, char **arguments,
			     size_t count, uint32_t *function);
/* The same for data objects. */
bool command_choose_data(struct print *print, const char *command, char **arguments, size_t count,
			 uint32_t *object);
/* The same for FUNCTION, FILE or FUNCTION'FILE'. */
bool command_choose_code(struct print *print, const char *command, char **arguments, size_t count,
			 struct function_match *out);
/* command_source.c: */
void code_settings_init(struct code_settings *settings);
void code_settings_fini(struct code_settings *settings);
/* A function, or a file where function is CODE_NONE. False after say_error(). */
bool code_print_source(struct print *print, const struct function_match *what);
bool code_print_disasm(struct print *print, const struct function_match *what);
bool command_scc(struct print *print, char **arguments, size_t count);
bool command_dcc(struct print *print, char **arguments, size_t count);
bool command_cc(struct print *print, char **arguments, size_t count);
/* Before a command runs: inlined functions are calls, or are not. False after say_error(). */
bool command_show_inlines(struct print *print, const struct command *command);
/* Whether they will be for a command; *inlines is the setting, which the command may change. */
bool command_needs_inlines(const struct command *command, char *const *arguments, size_t count,
			   enum inlines *inlines);
bool command_sthresh(struct print *print, char **arguments, size_t count);
bool command_dthresh(struct print *print, char **arguments, size_t count);
/* command_metrics.c: */
/* What index objects are asked for: their own metrics and order, or those of functions. */
struct query command_index_query(const struct print *print);
/* command_index.c: */
/* The command that the name of an index or memory object stands for, or NULL; session NULL: of
 * those that are always there. */
const char *command_of_object(const struct session *session, const char *name);
/* command_compare.c: */
/*
 * Calls put for all events, or, where experiments are compared, once for those of each; name NULL:
 * of all.  For reports whose parts cannot stand beside each other.
 */
void command_each_group(struct print *print,
			void (*put)(struct print *print, const char *name, void *data), void *data);
/* Above what is of one of several experiments; name NULL: of all, which needs none. */
void command_group_heading(const struct print *print, struct result *result, const char *name);
/* command_settings.c: */
bool command_outfile(struct print *print, char **arguments, size_t count);
/* command_heap.c: */
/* " +- 678" behind a number of bytes that is that of a sample; else NULL. The result's. */
const char *command_heap_error(struct result *result, struct heap_amount amount);
/* … as "BYTES_error", where there is one. */
void command_heap_set_error(struct result *result, struct record *record, const char *bytes,
			    struct heap_amount amount);
/* command_help.c: */
bool command_version(struct print *print, char **arguments, size_t count);

/*
 * Which processes an [ID|all] argument means: no argument and "all": every one.
 * Ids as in experiment_list. False after say_error().
 */
bool command_select_processes(struct print *print, char **arguments, size_t count, size_t *first,
			      size_t *end);

/* The words of a command as one could type them, the caller's to free. NULL: "". */
char *command_words(char *const *arguments);

#endif
