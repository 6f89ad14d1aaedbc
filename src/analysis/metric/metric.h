/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics: what can be shown, and the language in which the user picks them. */
#ifndef HELIO_ANALYSIS_METRIC_H
#define HELIO_ANALYSIS_METRIC_H

#include "base/memory.h"
#include "base/status.h"
#include "format/kinds.h"

#include <stdbool.h>
#include <stdint.h>

enum metric_unit { UNIT_SECONDS, UNIT_COUNT, UNIT_BYTES, UNIT_RATIO, UNIT_ADDRESS, UNIT_TEXT };

/* One row of the catalogue: "totalcpu", "Total CPU Time". */
struct metric {
	const char *command; /* the word in a metric specification */
	const char *title;   /* "Total CPU Time" */
	const char *aliases; /* older words for it, space-separated, or NULL */
	enum metric_unit unit;
	bool is_static;		 /* size, address, name: no flavour */
	uint32_t states;	 /* clock metrics: bit set of enum format_state that it adds up */
	const char *description; /* one sentence for help and metric_list */
	unsigned measure;	 /* else: enum measure of the engine */
	bool if_data;		 /* available only where the experiments hold some of it */
	bool has_address;	 /* a counter whose events have data addresses */
	double hz;		 /* a counter of cycles: so many a second, where known */
	unsigned divisor;	 /* UNIT_RATIO: the measure that `measure` is divided by */
	unsigned scale;		 /* … both are shifted down by so many bits */
};

enum metric_flavor { FLAVOR_STATIC, FLAVOR_EXCLUSIVE, FLAVOR_INCLUSIVE, FLAVOR_ATTRIBUTED };

enum metric_visibility {
	VISIBLE_TIME = 1,    /* . */
	VISIBLE_PERCENT = 2, /* % */
	VISIBLE_VALUE = 4,   /* + */
	VISIBLE_HIDDEN = 8,  /* ! : kept, not shown */
	VISIBLE_ERROR = 16,  /* ~ : with the standard error */
};

/* One column that the user asked for. */
struct metric_choice {
	const struct metric *metric;
	enum metric_flavor flavor;
	unsigned visibility; /* enum metric_visibility bits */
};

struct metric_list {
	struct metric_choice *items;
	size_t count;
	size_t capacity;
};

struct session;

/*
 * The catalogue: all metrics that exist, in its order, the session's counters among them;
 * NULL after the last.
 */
const struct metric *metric_catalogue(const struct session *session, size_t index);
/* The metric of that name or alias, letters' case aside; NULL: none. */
const struct metric *metric_find(const struct session *session, const char *name);

/* Whether the session's experiments hold the data for a metric: what `metric_list` shows and `any`
 * means. */
bool metric_available(const struct session *session, const struct metric *metric);
/* The same of what was opened by one name (session_group_name), from 0. */
bool metric_available_in(const struct session *session, const struct metric *metric, size_t group);
/* The kind of trace that a metric is of, or TRACE_KINDS: of the clock, or static. */
enum trace_kind metric_trace(const struct metric *metric);

/*
 * Reads "e.user:i%total:name".  On an error the list stays
 * as it is and diags says which part is wrong and why.  `any` stands for all
 * available metrics with a flavour, `default` for query_init's list, or what `defaults` says; a
 * list without `name` gets it at its end.  What is written for one metric and one flavour in
 * several places is one choice, at the first place.
 *
 * A metric of time is shown as time for `+` too, any other as value for `.`.
 */
enum status metric_list_parse(const struct session *session, const char *defaults, const char *spec,
			      struct metric_list *list, struct diag_list *diags);
/* One metric for `sort`, with an optional leading '-'; of a list the first with data counts. */
enum status metric_sort_parse(const struct session *session, const char *spec,
			      struct metric_choice *choice, bool *reverse, struct diag_list *diags);
/* "e.%totalcpu:i.%totalcpu:name"; "e.%totalcpu" for one: the caller's to free. */
char *metric_list_text(const struct metric_list *list);
char *metric_choice_text(const struct metric_choice *choice);
/* "Exclusive Total CPU Time": the caller's to free. */
char *metric_choice_title(const struct metric_choice *choice);

/* The metrics to begin with, of what was recorded; or those of the specification. */
void session_default_metrics(const struct session *session, const char *spec,
			     struct metric_list *list);

/* metric_list.c */
/* Whether a list has the metric as a column, in this flavour or, of FLAVOR_ANY, in one. */
enum { FLAVOR_ANY = -1 };
bool metric_list_shows(const struct metric_list *list, const struct metric *metric, int flavor);
/* The choice in a view that has one flavour only; what is static stays so. */
struct metric_choice metric_choice_in(struct metric_choice choice, enum metric_flavor flavor);
/* Adds the metrics of the list as such a view has them, each once with all that was visible. */
void metric_list_in(const struct metric_list *from, enum metric_flavor flavor,
		    struct metric_list *to);
/*
 * A list and its order in the words of another session.  False: that does not know them all, which
 * diags says, and both are empty.
 */
bool metric_list_carry(struct metric_list *metrics, struct metric_choice *sort,
		       const struct session *to, struct diag_list *diags);

#endif
