/* SPDX-License-Identifier: Apache-2.0 */
/* What `overview` sums: times of experiments and of threads, and the total of each metric. */
#ifndef HELIO_ANALYSIS_TOTALS_H
#define HELIO_ANALYSIS_TOTALS_H

#include <stdbool.h>
#include <stddef.h>

struct metric;
struct process_info;
struct query;
struct session;

/* From a founder's start to the last end among it and its descendants, in seconds. */
double session_family_seconds(const struct process_info *founder);
/* The sum of that over all experiments. */
double session_seconds(const struct session *session);
/* Every thread's every moment is in one state: their sum is the time of all threads. */
double session_thread_seconds(const struct session *session);
/* How many descendants a founder has. */
size_t session_descendants(const struct session *session, const struct process_info *founder);

/* A metric of <Total>. */
double view_total(struct session *session, const struct query *query, const struct metric *metric);
/* value as percent of whole; 0 of nothing. */
double totals_percent(double value, double whole);
/* Whether it is much of all the threads' time, `whole`. */
bool totals_is_hot(const struct metric *metric, double total, double whole);
/* "Clock Profiling": the kind of data that a metric is of. */
const char *totals_kind(const struct metric *metric);

#endif
