/* SPDX-License-Identifier: Apache-2.0 */
/* What came of one recording, and the last lines about it. */
#ifndef HELIO_LAUNCH_SUM_UP_H
#define HELIO_LAUNCH_SUM_UP_H

#include "launch/run/new_experiment.h"
#include "launch/run/show.h"

#include <stdbool.h>

struct launch_call;
/* Says what came of a recording: calls launch_sum_up with what the experiment tells. */
typedef void launch_ending(struct launch_call *call);

struct launch_call {
	bool old_name;		 /* in: called as collect(1), and says what that says */
	launch_ending *attached; /* … for each process of -P */
	launch_replace *replace; /* … for -O */
	/* out: */
	char *experiment;    /* the one that was made, to be freed; or NULL */
	int folder;	     /* … its directory, to be closed; else -1 */
	const char *program; /* "helio collect" */
	char *name; /* … as the user knows it, to be freed; NULL: no run to be summed up */
	const char *archive; /* what to keep in it: a word of -A, or where archive_newer, of -a */
	bool archive_newer;
	bool quiet;
	bool view; /* … and then shown in a browser */
	struct show_limit limit;
	struct finish_summary summary;
	double seconds; /* that the program ran */
};

/* The last lines, if there was a run and it was not asked to be quiet; once for a call. */
void launch_sum_up(struct launch_call *call, const struct show_more *more);

#endif
