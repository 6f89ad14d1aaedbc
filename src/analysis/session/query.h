/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: values that say all that a view is asked for.  What a session is asked does not change
 * it: two queries asked at once give what they give one after the other.
 *
 * Which events count is said by an expression over their properties, as in
 *
 *   TSTAMP >= 5000000000 && FNAME("lock.*") SOME IN STACK
 *
 * and beside it by selections of samples, threads, processors and processes as lists of numbers;
 * an event counts when all of them say so.  The language is that of filter.h.
 */
#ifndef HELIO_ANALYSIS_QUERY_H
#define HELIO_ANALYSIS_QUERY_H

#include "analysis/metric/metric.h"
#include "analysis/session/view_mode.h"
#include "base/status.h"
#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;
struct watch;

/* What becomes of the metrics where there are several experiments; the first is the base. */
enum compare_mode {
	COMPARE_OFF,   /* one column: the sum of all */
	COMPARE_ON,    /* one column per experiment */
	COMPARE_DELTA, /* the base, and how much more it is in the others */
	COMPARE_RATIO, /* the base, and how many times as much it is in the others */
};

enum selection {
	SELECT_SAMPLES,
	SELECT_THREADS,
	SELECT_LWPS,
	SELECT_CPUS,
	SELECT_PROCESSES,
	SELECTIONS
};

/* How the functions of a load object appear in all views; what counts does not change. */
enum object_showing {
	OBJECT_SHOWN,  /* each by itself */
	OBJECT_HIDDEN, /* all of them as one, <NAME> */
	OBJECT_ENTRY,  /* only those that others call; what these call in turn is part of them */
};

enum { QUERY_FILTERS = 1 + SELECTIONS };

/* What a view is asked for.  A copy of the structure borrows what the original owns. */
struct query {
	struct metric_list metrics; /* functions, calltree, …: flavours as the view can use them */
	struct metric_choice sort;
	bool sort_reverse;
	bool sort_chosen; /* else index objects of a natural order, as of time, come in that */
	uint32_t limit;	  /* rows with <Total>; 0: all */
	enum name_style name_style;
	bool name_soname; /* "f [libc.so.6]" */
	enum compare_mode compare;
	bool callers_first; /* frames of call stacks: from the outermost one on */
	const char
		*default_metrics; /* what `default` means, the caller's; NULL: what was recorded */
	/* the selecting part: set by the functions below */
	char *filters[QUERY_FILTERS];	  /* the expression, then lists; NULL: all */
	char *expressions[QUERY_FILTERS]; /* the lists as expressions too */
	uint8_t *showing;		  /* enum object_showing by load object, … */
	size_t showing_count;		  /* … of the first ones; the rest are shown */
	bool inlines;			  /* inlined functions are calls: query_show_inlines() */
	enum view_mode mode;		  /* query_show_mode() */
	struct watch *watch;		  /* the caller's, or NULL: see watch.h */
	uint32_t group;			  /* only what was opened by one name, from 1; 0: all */
};

/* Sets the default metrics: e.%totalcpu:i.%totalcpu:name, sorted by e.totalcpu. */
void query_init(struct query *query, const struct session *session);
/* The metrics and their order as query_init() has them; all else stays. */
void query_set_default_metrics(struct query *query, const struct session *session);
/* Whether nobody has chosen any: what shows one kind of data has those of that kind then. */
bool query_has_default_metrics(const struct query *query, const struct session *session);
void query_fini(struct query *query);
/* Tables can be sorted only by what they show: where that is gone, by the first number left. */
void query_repair_sort(struct query *query);
/*
 * The same events by these choices alone, sorted by the one of the index, without a limit, of all
 * experiments together.  It borrows the choices and the original.
 */
struct query query_of_choices(const struct query *query, struct metric_choice *choices,
			      size_t count, size_t sort);
/* The metrics and their order in the words of another session, or the default ones: diags says so.
 */
void query_carry_metrics(struct query *query, const struct session *to, struct diag_list *diags);

/*
 * Sets what was selected again, for another session: diags says what that does not know, which is
 * left out.  Load objects are all shown.
 */
void query_carry(struct query *query, struct session *session, struct diag_list *diags);

/*
 * Sets the filter; "", blanks and TRUE clear it.  STATUS_INVALID: diags says what is wrong, with
 * the place marked in a copy of the text; the filter stays as it was.
 */
enum status query_filter(struct query *query, struct session *session, const char *expression,
			 struct diag_list *diags);
/* The expression in force as it was given, or NULL. Lives until the next call that sets it. */
const char *query_filter_text(const struct query *query);
/*
 * Selects by number: "all", or "1,3-5", or for some experiments only, "1-2:1,3-5+3:7" (ids of
 * experiment_list, numbers; an experiment that is not named has nothing selected).
 */
enum status query_select(struct query *query, struct session *session, enum selection selection,
			 const char *list, struct diag_list *diags);
/* The list in force, or "all". */
const char *query_selected(const struct query *query, enum selection selection);
/* Whether the process of an id is among the selected. */
bool query_process_selected(const struct query *query, uint32_t id);
/* Whether anything that is counted is chosen by the filter and the selections. */
bool query_chooses_any(const struct query *query, struct session *session);
/* Of the filter (0) and the selections (1 + enum selection), in the language; NULL: all. */
const char *query_filter_expression(const struct query *query, size_t index);

/*
 * For the load objects of a list "NAME,PATH,…", or "all".  STATUS_NOTFOUND: diags names
 * those that there are not; the others are set.
 */
enum status query_show_objects(struct query *query, struct session *session, const char *list,
			       enum object_showing showing, struct diag_list *diags);
/* Of a load object by its number in the session: 0 is <Unknown>. */
enum object_showing query_object_showing(const struct query *query, uint32_t object);

/*
 * Whether inlined functions are calls in call stacks: functions, callers and the call tree then
 * have them, "f (inlined)".  A filter that names functions which are no longer there is cleared.
 */
void query_show_inlines(struct query *query, struct session *session, bool shown,
			struct diag_list *diags);
/* The same of a view mode. */
void query_show_mode(struct query *query, struct session *session, enum view_mode mode,
		     struct diag_list *diags);

#endif
