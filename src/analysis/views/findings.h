/* SPDX-License-Identifier: Apache-2.0 */
/* What `report` finds: what matters of an experiment, and what of it is not known. */
#ifndef HELIO_ANALYSIS_FINDINGS_H
#define HELIO_ANALYSIS_FINDINGS_H

#include "analysis/kinds/idle.h"
#include "analysis/views/table.h"

struct metric;
struct process_info;
struct query;
struct session;

/* What is less than so many percent of the whole is not worth a line. */
#define FINDINGS_LEAST_PERCENT 2.0

/* The inclusive value of a function. */
double findings_inclusive(struct session *session, const struct query *query, uint32_t function,
			  const struct metric *metric);
/* What "hot" goes by: CPU time, what lists are sorted by, or their first column that has any. */
const struct metric *findings_metric(struct session *session, const struct query *query);

/*
 * The row of the hottest function of which something can be shown, in a table of functions, most
 * first; 0: there is none.  What stands for code that is not known is passed over.
 */
size_t findings_hottest(const struct table *functions);

/*
 * The rows with the most of the first metric that a table shows, most first, and its column; at
 * most so many.  Their number: 0 where no metric is shown, or none has any of it.
 */
size_t findings_hottest_rows(const struct table *table, size_t *column, size_t *rows, size_t most);

/* The path that most of the metric goes through, without callers that only pass it on. */
struct main_path {
	struct table table; /* of the call tree, with exclusive and inclusive values */
	size_t *rows;	    /* in it, from the root on */
	size_t count;
	size_t skipped; /* callers left out */
};
void view_main_path(struct session *session, const struct query *query, const struct metric *metric,
		    struct main_path *path);
double main_path_value(const struct main_path *path, size_t step);
void main_path_fini(struct main_path *path);

/* How much of the metric is in load objects of which no symbols were found. */
double findings_unnamed(struct session *session, const struct query *query,
			const struct metric *metric);

/* What descendants used of which only that is known, and what stands for them. */
struct unrecorded_use {
	struct table table; /* its first rows[0 … count - 1] name them */
	size_t *rows;
	size_t count;
	double value;
};
void view_unrecorded(struct session *session, const struct query *query,
		     const struct metric *metric, struct unrecorded_use *use);
void unrecorded_use_fini(struct unrecorded_use *use);

/* Why an experiment has no samples, be it that none were asked for. */
enum unasked {
	ASKED,
	UNASKED_PAUSED,	 /* it began paused and was never resumed */
	UNASKED_OUTSIDE, /* all its time was paused, or outside the window of -t */
	UNASKED_CLOCK,	 /* -p off */
};
enum unasked findings_unasked(const struct session *session, const struct process_info *founder);
/*
 * For how much of their lives the processes of an experiment were not recorded: paused, or outside
 * the window of -t; in seconds, summed over processes, and *lives, the sum of their lives.
 */
double findings_paused_seconds(const struct session *session, const struct process_info *founder,
			       double *lives);
/* A setting of the process's log, or NULL. */
const char *process_setting(const struct process_info *process, const char *name);
bool process_has_no_clock(const struct process_info *process);
/* Whether the collector had something to say. */
bool findings_has_messages(const struct session *session);

/* What idle threads have of a state's time, `value`. False: none, or not enough to say. */
struct idle_part {
	bool is_lock; /* of User Lock, else of Sleep */
	size_t threads;
	double seconds, others; /* theirs, and what is left */
};
bool findings_idle_part(const struct idle_threads *idle, const struct metric *metric, double value,
			struct idle_part *part);

/* The state other than running that most time was spent in, if that is much; or NULL. */
const struct metric *findings_main_wait(struct session *session, const struct query *query,
					const struct idle_threads *idle);

#endif
