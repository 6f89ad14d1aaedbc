/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a timeline while they are filled.  Private to this module. */
#ifndef HELIO_ANALYSIS_TIMELINE_CELLS_H
#define HELIO_ANALYSIS_TIMELINE_CELLS_H

#include "analysis/views/timeline_index.h"

struct timeline_cells {
	struct lanes lanes; /* events: as those of timeline */
	struct timeline_range range;
	uint64_t cell_ns;
	size_t cell_count;	     /* of a lane */
	struct timeline_cell *cells; /* function: of the session's; CODE_NONE: none so far */
	bool *seen;		     /* by lane: whether some of its time is in the range */
};

static inline size_t cell_at(const struct timeline_cells *to, uint64_t ns)
{
	return (ns - to->range.begin_ns) / to->cell_ns;
}

static inline bool cells_have_in_one(const struct timeline_cells *to, uint64_t begin_ns,
				     uint64_t end_ns)
{
	return begin_ns >= to->range.begin_ns && end_ns < to->range.end_ns &&
	       cell_at(to, begin_ns) == cell_at(to, end_ns);
}

/*
 * Calls add(arg, cell, us) for the part of a clock event in each cell that it goes through: the
 * borders deal out whole us.
 */
static inline __attribute__((always_inline)) void
cells_deal_out(const struct timeline_cells *to, uint64_t begin, uint64_t end,
	       void (*add)(void *arg, size_t cell, uint64_t us), void *arg)
{
	const struct timeline_range *range = &to->range;
	uint64_t from = begin > range->begin_ns ? begin : range->begin_ns;
	uint64_t last = end < range->end_ns ? end : range->end_ns;

	while (from < last) {
		uint64_t left = to->cell_ns - (from - range->begin_ns) % to->cell_ns;
		uint64_t until = left < last - from ? from + left : last;

		add(arg, cell_at(to, from), (until - begin) / 1000 - (from - begin) / 1000);
		from = until;
	}
}

/* The lanes of a timeline from this moment on. */
void cells_lanes(struct timeline_cells *to, const struct timeline_index *index,
		 const struct session *session, uint64_t begin_ns);
/* Fills the cells; lanes are those of cells_lanes(). */
void cells_fill(struct timeline_cells *to, const struct timeline_index *index,
		const struct session *session);

/* The same of processors. */
void cells_lanes_of_cpus(struct timeline_cells *to, const struct timeline_index *index);
void cells_fill_of_cpus(struct timeline_cells *to, const struct timeline_index *index,
			const struct session *session);

/* As view_timeline() and view_timeline_cpus(), of all events one by one: what there is no index of,
 * and tests. */
void view_timeline_directly(struct session *session, const struct query *query,
			    struct timeline_range range, size_t cells, struct timeline *timeline);
void view_timeline_cpus_directly(struct session *session, const struct query *query,
				 struct timeline_range range, size_t cells,
				 struct timeline *timeline);

#endif
