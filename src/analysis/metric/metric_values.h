/* SPDX-License-Identifier: Apache-2.0 */
/* From weights to values of metrics.  Private to this module. */
#ifndef HELIO_ANALYSIS_METRIC_VALUES_H
#define HELIO_ANALYSIS_METRIC_VALUES_H

#include "analysis/tree/tally.h"

/* Sums per function of one metric, in units of its measure; of the functions that there were. */
struct function_sums {
	const struct metric *metric;
	uint64_t total;
	size_t count;
	uint64_t *exclusive, *inclusive;
};

/* Whether a measure is part of a metric, and what a weight of it is in the value. */
bool values_has(const struct metric *metric, size_t measure);
uint64_t values_part(const struct metric *metric, size_t measure, uint64_t weight);
/* The metric's weight of every node, in units of its measure; the caller frees the array. */
uint64_t *values_of_sums(const struct finished_sums *sums, const struct metric *metric);
/* The metric's value in one place of such sums, in units of its measure. */
uint64_t values_at(const struct measure_sums *sums, size_t place, const struct metric *metric);
uint64_t values_at_finished(const struct finished_sums *sums, size_t place,
			    const struct metric *metric);
/* A static metric's value. */
double values_static(const struct session *session, uint32_t function, const struct metric *metric);
/* Of such units, seconds, bytes or counts. */
double values_convert(const struct metric *metric, uint64_t value);
/* All measures, whatever their units: tells what has been seen at all. */
extern const struct metric values_any;

/* The same of the tree's nodes themselves, without those below. */
uint64_t *values_self(const struct tally *tally, const struct metric *metric);
/* Turns weights of nodes into weights of their subtrees. */
void values_accumulate(const struct tally *tally, uint64_t *values);
/* Per function, computed once. */
const struct function_sums *values_of_functions(struct tally *tally, const struct metric *metric);
/* As view_function_values(). */
void values_of_function(struct tally *tally, uint32_t function, const struct metric *metric,
			double *exclusive, double *inclusive, double *total);
/* The exclusive or inclusive value of a function, in units of the metric's measure. */
uint64_t values_exclusive(const struct function_sums *sums, uint32_t function);
uint64_t values_inclusive(const struct function_sums *sums, uint32_t function);

#endif
