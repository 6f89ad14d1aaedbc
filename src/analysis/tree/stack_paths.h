/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as paths of frames, as a query shows them.
 *
 * The functions of a stack are those of the call tree of the query's shape, so that inlined calls,
 * hidden load objects and calls that were made up are as in all views of functions; the addresses
 * are those of the tree of pcs.  Both are known by node of a process's stacks: what a node adds to
 * the path of its parent in the shape are its frames, innermost last.  Stacks are numbered as they
 * are asked for.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_STACK_PATHS_H
#define HELIO_ANALYSIS_STACK_PATHS_H

#include "analysis/code/code.h"

struct frame_list;

/* What a stack is made of. Two of them that differ in a member are two. */
struct path_frame {
	uint32_t function;
	uint32_t pc;	/* NODE_NONE: it stands for no address */
	uint32_t level; /* calls inlined at the pc that are inside of this one */
};

struct stack_paths {
	struct session *session;
	const struct query *query;
	struct shape *shape;
	VEC(struct path_frame) frames;
	struct key_numbers known_frames; /* by a hash of each */
	struct call_tree stacks;	 /* the functions of its nodes are frames */
	struct paths_of_process *processes;
};

/* While the tally is held. */
void stack_paths_init(struct stack_paths *paths, struct tally *tally, const struct query *query);
void stack_paths_fini(struct stack_paths *paths);
/* The stack of a node of the stacks of session->scanned[process]. */
uint32_t stack_paths_find(struct stack_paths *paths, size_t process, uint32_t node);
/* Its innermost function. */
uint32_t stack_paths_leaf(const struct stack_paths *paths, uint32_t stack);
/*
 * These stacks, with all that is known of their frames.  Where those are out of all proportion to
 * what was recorded, the last stacks lack outer ones, in whose place stands <Truncated-stack>.
 */
void stack_paths_list(struct stack_paths *paths, const uint32_t *stacks, size_t count,
		      struct frame_list *list);

#endif
