/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the selecting part of a query counts.
 *
 *   whole tree   all call stacks as a tree of functions; one, and one with inlined calls
 *   shape        a whole tree as a query shows it: functions folded into others, or not
 *   tally        the chosen events, summed by node of a shape
 *
 * A whole tree lives as long as the session.  Shapes and tallies are shared by the queries that
 * select the same and kept for those that come, within a bound on their memory; which of them are
 * there makes no difference to any answer.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_TALLY_H
#define HELIO_ANALYSIS_TALLY_H

#include "analysis/filter/filter_program.h"
#include "analysis/session/query.h"
#include "analysis/session/session_state.h"
#include "analysis/tree/shape.h"

struct lock_holds_index;
struct timeline_index;

struct tally {
	struct session *session;
	struct shape *shape;
	char *key;
	unsigned references;
	uint64_t used_at; /* the session's count of requests when it was last asked for */
	uint32_t group;	  /* only events of this group count; 0: of all */
	bool squares;	  /* events count for the squares of their values, see compare.h */
	struct filter_program *filters[QUERY_FILTERS]; /* NULL: all are chosen */
	struct finished_sums weights;		       /* by node of the shape's tree */
	bool has_code_weights;
	struct finished_sums code_weights; /* by node of the tree of pcs, once asked for: code.h */
	bool has_compiled;
	struct finished_sums compiled;	  /* by function, once asked for: code_count_compiled() */
	VEC(struct function_sums *) sums; /* per metric, once asked for */
	struct arena arena;		  /* theirs */
	/* timeline_index.c, of threads and of processors; NULL: not asked for yet, … */
	struct timeline_index *timelines[2];
	bool no_timeline[2]; /* … or it cannot be made */
	size_t timeline_size;
	void (*free_timeline)(struct timeline_index *timeline); /* what made it sets it */
	/* lock_holds_index.c; NULL: not asked for yet */
	struct lock_holds_index *lock_holds;
	size_t lock_holds_size;
	void (*free_lock_holds)(struct lock_holds_index *index);
};

/*
 * The tally of a query, all compared groups together; or the part of it that one group is, or the
 * squares of its values.  Takes the session's lock, which tally_release() gives back.
 */
struct tally *tally_of(struct session *session, const struct query *query);
struct tally *tally_part(struct session *session, const struct query *query, uint32_t group,
			 bool squares);
void tally_release(struct tally *tally);
/* Whether the events of a process count at all. */
static inline bool tally_looks_at(const struct tally *tally, const struct session_process *process)
{
	return !tally->group || tally->group == process->group;
}
/* Whether filters choose among its events. */
static inline bool tally_is_filtered(const struct tally *tally)
{
	for (size_t i = 0; i < QUERY_FILTERS; i++)
		if (tally->filters[i])
			return true;
	return false;
}
/*
 * Sums of all chosen events by `nodes` nodes, those that nodes_of() has for a process's stacks,
 * what it makes for that being freed by *owned.
 */
void tally_count(const struct tally *tally, size_t nodes, struct finished_sums *out,
		 const uint32_t *(*nodes_of)(const struct tally *tally, size_t process,
					     uint32_t **owned));
/* Drops all that is kept: at the session's end. */
void tallies_fini(struct session *session);

#endif
