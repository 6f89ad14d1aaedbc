/* SPDX-License-Identifier: Apache-2.0 */
/* Whole trees as queries show them: see tally.h.  Private to this module. */
#ifndef HELIO_ANALYSIS_SHAPE_H
#define HELIO_ANALYSIS_SHAPE_H

#include "analysis/session/session_state.h"

struct query;

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

#endif
