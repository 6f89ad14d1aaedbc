/* SPDX-License-Identifier: Apache-2.0 */
/* A new experiment: its name, its directory, and the part of log.xml that the launcher knows. */
#ifndef HELIO_LAUNCH_NEW_EXPERIMENT_H
#define HELIO_LAUNCH_NEW_EXPERIMENT_H

#include "base/status.h"
#include "launch/options.h"

#include <stdint.h>

/* The machine, as log.xml and the dry run show it. */
struct new_experiment_system {
	char hostname[65];
	char os[140];
	char arch[65];
	uint64_t page_size;
	uint64_t pages;
	unsigned cpus;
	unsigned clock_mhz; /* 0: not known */
};

void new_experiment_read_system(struct new_experiment_system *system);

/* What is written into log.xml besides the options. */
struct new_experiment_log {
	const struct options *options;
	const struct new_experiment_system *system;
	const char *engine_reason; /* "" where the first choice works */
	char **words;		   /* the whole command line, from the subcommand's name on */
	char **argv;		   /* the program and its arguments */
	uint64_t mono_ns;	   /* time 0 of the family */
	uint64_t wall_ns;
	bool attached;		    /* the program ran already */
	uint64_t attached_after_ns; /* … for so long */
};

/* The path of what the user calls `name`, in the directory of -d if it is relative; to be freed. */
char *new_experiment_place(const struct options *options, const char *name);

/*
 * The experiment's name: test.N.er, or the one asked for, with its number
 * raised where it is in use (a warning says so).  Creates nothing.  The name
 * is the caller's to free, NULL unless STATUS_OK.
 */
enum status new_experiment_name(const struct options *options, char **name,
				struct diag_list *diags);

/*
 * Removes the experiment that is in the place of a new one, for -O; false: it may not be, or
 * cannot, as diags says.  What may be removed is for the tools to judge that change experiments.
 */
typedef bool launch_replace(const char *path, struct diag_list *diags);

/*
 * Makes the directory; with -O, what is in its place goes first.
 * If somebody else took a numbered name meanwhile, *name is replaced.  *folder is a descriptor of
 * the directory, the caller's to close; -1 unless STATUS_OK.
 */
enum status new_experiment_create(const struct options *options, launch_replace *replace,
				  char **name, int *folder, struct diag_list *diags);

/* Appends the beginning of log.xml: the head, system, settings, arguments. */
void new_experiment_add_log(struct strbuf *out, const struct new_experiment_log *log);

/* Writes log.xml up to the arguments, and notes where there are comments. */
enum status new_experiment_write(int folder, const char *name, const struct new_experiment_log *log,
				 struct diag_list *diags);

/*
 * The absolute path of an experiment that was made by that name, to be freed.  NULL: it cannot be
 * found again, as diags says.
 */
char *new_experiment_path(int folder, const char *name, struct diag_list *diags);

/*
 * Removes an experiment that was made by that path, with all that is in it; false: something stays,
 * see errno.  Of the path only the last component counts: it is sought where the folder is now.
 */
bool new_experiment_remove(int folder, const char *path);

/* Appends the words as one would type them to a shell. */
void new_experiment_add_words(struct strbuf *out, char **words);

#endif
