/* SPDX-License-Identifier: Apache-2.0 */
/* What `helio collect` says to people, apart from errors. */
#ifndef HELIO_LAUNCH_SHOW_H
#define HELIO_LAUNCH_SHOW_H

#include "launch/run/finish.h"
#include "launch/run/new_experiment.h"

#include <stdio.h>
#include <sys/types.h>

/* What the parameters' text is made of. */
struct show_run {
	const struct options *options;
	const struct new_experiment_system *system;
	const char *name;   /* of the experiment */
	const char *engine; /* the one chosen: perf, monitor */
	const char *engine_reason;
	const char *params; /* the data descriptor */
	char **argv;	    /* the program and its arguments */
};

/* "Collection parameters:" and what follows, in the seeds' shape. */
void show_parameters(FILE *file, const struct show_run *run);
/* What a dry run says besides: the directory that would be made, and the program. */
void show_dry_end(FILE *file, const struct show_run *run);
void show_version(FILE *file);
/*
 * One line when the program is about to run, written with one call; for the old name of the
 * command the line that the old command shows.
 */
void show_start(FILE *file, const struct show_run *run, pid_t pid, bool old_name);
/* What the launcher itself does not know. */
struct show_more {
	uint64_t archive_bytes;
	const char *unrecorded;	   /* who was not recorded and what they used, or NULL */
	const char *failed;	   /* what the collector could not do and why, or NULL */
	uint64_t uncounted;	   /* events that are not in the summary */
	uint64_t uncounted_us;	   /* … and CPU time of the processes that they are of */
	uint64_t uncounted_own_us; /* … and what measuring took in them */
	uint64_t uncounted_traced[TRACE_KINDS]; /* … and their events of each kind of trace */
};

/* What bounds the overhead. */
struct show_limit {
	uint32_t max_overhead;
	uint32_t clock_us, clock_first_us; /* as the options have them */
};

/* What measuring came to, where the bound on it was in force, or it took more than that without
 * one. */
struct show_limit show_limit_of(const struct options *options);
void show_overhead(FILE *file, const char *program, const char *name,
		   const struct show_limit *limit, const struct finish_summary *summary,
		   const struct show_more *more);
/* The last line of a run: what came out, and what to type next. */
void show_summary(FILE *file, const char *program, const char *name, double seconds,
		  const struct show_limit *limit, const struct finish_summary *summary,
		  const struct show_more *more);
/* Prints and empties the list, each line with the name of `helio collect`. */
void show_diags(FILE *file, struct diag_list *diags);

#endif
