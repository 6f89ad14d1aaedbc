/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio collect`: runs a program with the collector inside, and does what there
 * is to do around it.  The collector itself is a library that the program loads; the
 * two talk through the environment (format/params.h) and the files of the
 * experiment (docs/format.md) and in no other way.
 */
#ifndef HELIO_LAUNCH_LAUNCH_H
#define HELIO_LAUNCH_LAUNCH_H

#include "launch/run/show.h"

#include <stdbool.h>

/* Exit codes besides the program's own; those above 1 as env(1) has them. */
enum launch_exit {
	LAUNCH_EXIT_USAGE = 1,		/* the command line makes no sense */
	LAUNCH_EXIT_FAILED = 125,	/* helio itself failed before the program ran */
	LAUNCH_EXIT_NOT_RUNNABLE = 126, /* the program is there, but cannot be run or measured */
	LAUNCH_EXIT_NOT_FOUND = 127,	/* no such program */
	LAUNCH_EXIT_SIGNAL = 128,	/* + the signal that killed the program */
};

struct launch_call;
/* Says what came of a recording: calls launch_sum_up with what the experiment tells. */
typedef void launch_ending(struct launch_call *call);

struct launch_call {
	bool old_name;		 /* in: called as collect(1), and says what that says */
	launch_ending *attached; /* … for each process of -P */
	/* out: */
	char *experiment;    /* the one that was made, to be freed; or NULL */
	int folder;	     /* … its directory, to be closed; else -1 */
	const char *program; /* "helio collect" */
	char *name; /* … as the user knows it, to be freed; NULL: no run to be summed up */
	const char *archive; /* what to keep in it: a word of -A, or where archive_newer, of -a */
	bool archive_newer;
	bool quiet;
	struct show_limit limit;
	struct finish_summary summary;
	double seconds; /* that the program ran */
};

/*
 * argv[0] is the subcommand's name; options begin at argv[1].  Prints its
 * messages to stderr and returns the exit status for main().
 */
int launch_collect(char **argv, struct launch_call *call);
/* The last lines, if there was a run and it was not asked to be quiet; once for a call. */
void launch_sum_up(struct launch_call *call, const struct show_more *more);

#endif
