/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine knows of a kind of traced data beside its description in format/kinds.h: what
 * an event is worth, and its metrics.  One row for each, in kind_NAME.c.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_KINDS_H
#define HELIO_ANALYSIS_KINDS_H

#include "analysis/metric/measure.h"
#include "analysis/metric/metric.h"
#include "experiment/heap.h"

typedef void kind_measure(const struct event_run *run, const struct measuring *measuring);

struct kind {
	kind_measure *measure;	      /* adds what a piece of its events is worth */
	kind_measure *square;	      /* … and the squares of that; NULL: it has no errors */
	const struct metric *metrics; /* in the order of the catalogue */
	size_t metric_count;
	bool metrics_first; /* they stand before those of the other kinds */
};

/* heap_kind, … */
#define X(NAME, name) extern const struct kind name##_kind;
FORMAT_KINDS(X)
#undef X

/*
 * What a sampled block or object that stands for `blocks` counts for, whose value is that of all of
 * them: in sums of squares by how much chance makes it vary.
 */
static inline uint64_t kind_worth(const struct measuring *measuring, uint64_t value,
				  uint64_t blocks)
{
	return measuring->squares ? (uint64_t)heap_variance(value, blocks) : value;
}

/* kind_clock.c */
kind_measure measure_clock, square_clock;

const struct kind *kind_of(enum trace_kind kind);
/* The metrics of all kinds, in the order of the catalogue; NULL after the last. */
const struct metric *kinds_metric(size_t index);
size_t kinds_metric_count(void);

#endif
