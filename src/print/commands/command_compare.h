/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of experiments that are compared: one after the other, or sums beside each other. */
#ifndef HELIO_PRINT_COMMAND_COMPARE_H
#define HELIO_PRINT_COMMAND_COMPARE_H

#include "analysis/views/result.h"
#include "print/context.h"

/*
 * Calls put for all events, or, where experiments are compared, once for those of each; name NULL:
 * of all.  For reports whose parts cannot stand beside each other.
 */
void command_each_group(struct print *print,
			void (*put)(struct print *print, const char *name, void *data), void *data);
/* Above what is of one of several experiments; name NULL: of all, which needs none. */
void command_group_heading(const struct print *print, struct result *result, const char *name);

/*
 * Sums beside each other: a list for people, with a column for each experiment, and "compared" for
 * programs.  What was not recorded is NAN.
 */
struct compared {
	struct print *print;
	struct result *result;
	struct part *list;
	struct value_list *sums;
};
/* Whether experiments are compared: then it begins the list. */
bool compared_begin(struct compared *compared, struct print *print, struct result *result);
/* values: one for each group of the session; name: what programs call it. */
void compared_add(struct compared *compared, const char *name, const char *title,
		  enum metric_unit unit, const double *values);
/* The totals of a metric. */
void compared_add_metric(struct compared *compared, const struct metric *metric, const char *title);
void compared_end(struct compared *compared);

#endif
