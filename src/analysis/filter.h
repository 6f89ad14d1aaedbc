/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters: which events count.  An expression over the properties of an event, as in
 *
 *   TSTAMP >= 5000000000 && FNAME("lock.*") SOME IN STACK
 *
 * and beside it selections of samples, threads and processors by lists of numbers; an event
 * counts when all of them say so.  Every view obeys them.
 *
 * Language.  Numbers are unsigned 64-bit (decimal, 0x…, octal with a leading 0), names are
 * those of `filter_property_at`, letters' case aside.  Operators and their precedence are those
 * of C; IN, SOME IN and ORDERED IN bind as < does, and a comma between what stands after
 * them makes a list.  A property that an event does not have is unknown: so is what is computed
 * from it, unless the rest decides alone (`x || TRUE`); an unknown result does not count.
 */
#ifndef HELIO_ANALYSIS_FILTER_H
#define HELIO_ANALYSIS_FILTER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

/*
 * Sets the filter; "", blanks and TRUE clear it.  STATUS_INVALID: diags says what is wrong, with
 * the place marked in a copy of the text; the filter stays as it was.
 */
enum status session_filter(struct session *session, const char *expression,
			   struct diag_list *diags);
/* The expression in force as it was given, or NULL. Lives until the next call that sets it. */
const char *session_filter_text(const struct session *session);

enum selection {
	SELECT_SAMPLES,
	SELECT_THREADS,
	SELECT_LWPS,
	SELECT_CPUS,
	SELECT_PROCESSES,
	SELECTIONS
};

/*
 * Selects by number: "all", or "1,3-5", or for some experiments only, "1-2:1,3-5+3:7" (ids of
 * experiment_list, numbers; an experiment that is not named has nothing selected).
 */
enum status session_select(struct session *session, enum selection selection, const char *list,
			   struct diag_list *diags);
/* The list in force, or "all". */
const char *session_selected(const struct session *session, enum selection selection);

/* Whether anything that is counted is chosen by the filter and the selections. */
bool session_chooses_any(const struct session *session);

/* Whether the process of an id is among the selected. */
bool session_process_selected(const struct session *session, uint32_t id);

/* How many processors a process (its index) had events on. */
size_t session_cpu_count(const struct session *session, size_t process);

/* A word of the language. */
struct filter_property_info {
	const char *name;
	const char *description;
	const char *kinds; /* "clock, heap", or "" where no kind of data has it */
};
/* False after the last. */
bool filter_property_at(size_t index, struct filter_property_info *info);
/* The functions of the language: FNAME("re") and so on. */
bool filter_function_at(size_t index, struct filter_property_info *info);

#endif
