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
#include "analysis/session/session.h"

struct shape {
	struct session *session;
	char *key;
	unsigned references; /* of tallies */
	bool united;	     /* functions of one name are one in all builds of a load object */
	struct whole_tree *whole;
	struct call_tree folded; /* empty: it is the whole one */
	uint32_t *shown;	 /* node of the whole tree → node of `folded`; NULL: the same */
	struct call_tree *tree;	 /* what views see: one of the two */
	const char **namesakes;	 /* of shape_namesake(), once asked for, … */
	size_t namesake_count;	 /* … so many, then as many of one load object */
};

struct tally {
	struct session *session;
	struct shape *shape;
	char *key;
	unsigned references;
	uint64_t used_at; /* the session's count of requests when it was last asked for */
	uint32_t group;	  /* only events of this group count; 0: of all */
	bool squares;	  /* events count for the squares of their values, see compare.h */
	struct filter_program *filters[QUERY_FILTERS]; /* NULL: all are chosen */
	struct measure_sums weights;		       /* by node of the shape's tree */
	bool has_code_weights;
	struct measure_sums code_weights; /* by node of the tree of pcs, once asked for: code.h */
	VEC(struct function_sums *) sums; /* per metric, once asked for */
	struct arena arena;		  /* theirs */
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
/*
 * Sums of all chosen events, by nodes_of() a process's stacks, what it makes for that being freed
 * by *owned.
 */
void tally_count(const struct tally *tally, struct measure_sums *out,
		 const uint32_t *(*nodes_of)(const struct tally *tally, size_t process,
					     uint32_t **owned));
/* Drops all that is kept: at the session's end. */
void tallies_fini(struct session *session);

/* shape.c */
/* A new one, without references; shape_put() takes one back and frees it after the last. */
struct shape *shape_get(struct session *session, const struct query *query, bool united);
void shape_put(struct shape *shape);
/* The nodes of its tree for those of a process's stacks: the caller's to free with *owned. */
const uint32_t *shape_nodes(const struct shape *shape, size_t process, uint32_t **owned);
/* Bytes. */
size_t shape_size(const struct shape *shape);

/*
 * namesakes.c: what tells a function from others of its name, as far as they are in call stacks:
 * the name of its load object's file, or the path where the files have one name too; its source
 * file, likewise, or address where the others are in the same load object; both.  NULL: there are
 * no others.  in_object: from others in its load object.  Lives as long as the session.
 */
const char *shape_namesake(struct shape *shape, uint32_t function, bool in_object);

/* metric_values.c */
/* The metric's weight of every node itself, in units of its measure; the caller frees the array. */
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

/* table.c: what all views do with their rows */
void table_name_row(struct tally *tally, const struct query *query, struct table *table,
		    uint32_t function, struct row *row);
/*
 * The functions that any event touched, without <Total>, in the order of the
 * query; `sort` is its metric with a flavour that functions have.  The caller
 * frees the array.
 */
struct sort_key *functions_ordered(struct tally *tally, const struct query *query,
				   const struct metric_choice *sort, size_t *count);

#endif
