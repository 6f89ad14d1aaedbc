/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that the commands of one `helio print` share: what is looked at,
 * how it is to look, and where it goes.  Data goes to the output, everything
 * that is said about it goes to stderr, or to a list (answer.h).
 */
#ifndef HELIO_PRINT_CONTEXT_H
#define HELIO_PRINT_CONTEXT_H

#include "analysis/session/watch.h"
#include "object/lines/source.h"
#include "present/present.h"

/* Of the command that runs: progress.h. */
struct progress {
	double begin; /* seconds on the monotonic clock */
	bool is_terminal, is_shown;
	FILE *kept; /* the output, while it goes nowhere; or NULL */
};

/* How code is listed: command_source.c. */
struct code_settings {
	unsigned source_threshold, code_threshold;  /* percent */
	unsigned source_remarks, code_remarks;	    /* enum remark_class */
	bool intel, hex, no_source, source_metrics; /* of disassembly */
	VEC(char *) path;			    /* directories with sources */
	VEC(struct source_map) maps;		    /* their strings are ours */
	struct string_table warned;		    /* the sources that a warning was about */
};

/* What start-up files say one after the other: the nearest file's lines first. */
struct default_text {
	char *text;	  /* or NULL */
	size_t nearest;	  /* how much of it is of … */
	const char *file; /* the file that was read last */
};

/* Where inlined functions are calls. */
enum inlines {
	INLINES_IN_TREES, /* in those that show whole paths: calltree, stacks, flamegraph */
	INLINES_OFF,
	INLINES_ON,
};

struct print {
	const char *program;	 /* "helio print" or "er_print": begins the messages */
	struct session *session; /* NULL: no experiment is open */
	struct query query;
	struct watch watch; /* of the queries */
	struct progress progress;
	struct metric_list index_metrics; /* of index objects; none: those of the query */
	struct metric_choice index_sort;  /* likewise; metric NULL: that of the query */
	bool index_sort_reverse;
	enum inlines inlines;
	struct output output;
	struct presenter presenter; /* of what goes to the output */
	struct code_settings code;
	VEC(uint32_t) fragment;				   /* functions of csingle, cprepend, … */
	struct default_text default_metrics, default_sort; /* of the start-up files */
	bool starting;		   /* they are running: settings are not echoed */
	struct diag_list warnings; /* of opening the experiments */
	struct diag_list *said;	   /* takes what is said instead of stderr; or NULL */
	bool ask;		   /* a person sits at stdin: questions may be asked */
	bool failed;		   /* a command has failed */
	bool quit;		   /* no further command is wanted */
	const char *script_name;   /* of the script that is running, or NULL: goes into messages */
	unsigned script_line;
	unsigned script_depth;
	int exit_status; /* what a script that could not be read asks for, else 0 */
};

/* Of a program of that name, with its output. */
void print_init(struct print *print, const char *program);

/* Ends all but the session, which the caller may still need, and the output. */
void print_fini(struct print *print);
void code_settings_init(struct code_settings *settings);
void code_settings_fini(struct code_settings *settings);
/* No directory is left in which sources are looked for. */
void code_settings_empty_path(struct code_settings *settings);

/* Prints the answer and lets go of it. Returns true. */
bool print_answer(struct print *print, struct result *result);

/* "Error: TEXT" on stderr; the process will exit with a failure. Always returns false. */
bool say_error(struct print *print, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_warning(struct print *print, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A plain line on stderr: the echo of a setting. */
void say_note(struct print *print, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The session's warnings from this one on; in JSON mode they are in each object. */
void say_lasting(struct print *print, size_t first);
/* Says what the metrics shown are missing, unless that has been said. */
void say_unknown(struct print *print);
/* Prints and empties the list; true when it held no error. */
bool say_diags(struct print *print, struct diag_list *diags);

#endif
