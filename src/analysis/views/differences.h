/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of two experiments, the largest differences first.  Samples are counts: a difference
 * of less than twice its standard error is as likely chance as not worth a look, and is only
 * counted, unless all are asked for.
 */
#ifndef HELIO_ANALYSIS_DIFFERENCES_H
#define HELIO_ANALYSIS_DIFFERENCES_H

#include "analysis/views/table.h"

struct query;
struct session;

/* The columns of the table of changes. */
enum { DIFFERENCES_BASE, DIFFERENCES_NEW, DIFFERENCES_CHANGE, DIFFERENCES_RATIO, DIFFERENCES_NAME };

struct differences {
	struct table both; /* all functions; the first two columns are the experiments */
	struct table
		changes; /* what is to be shown, <Total> first; its names are those of `both` */
	size_t chance;	 /* functions left out because their change may be chance */
};

/* What the query asks for: one metric that is not static, with its errors, of each experiment. */
enum status differences_query(struct session *session, const char *metric, struct query *query,
			      struct diag_list *diags);
/* most: rows of the changes, <Total> among them, 0: all; all: also what may be chance. */
void view_differences(struct session *session, const struct query *query, size_t most, bool all,
		      struct differences *differences);
/* Whoever takes over `changes` empties it. */
void differences_fini(struct differences *differences);

/* By how much the total has grown, and whether it is more than a limit. */
struct growth {
	double percent;
	bool is_more;	     /* than the limit … */
	bool is_sure;	     /* … by so much that it is no chance */
	double sure_percent; /* from which it would be */
};
struct growth differences_growth(const struct differences *differences, double limit_percent);

#endif
