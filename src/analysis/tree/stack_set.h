/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as lists of stacks show them: each frame with its source line, inlined calls as
 * frames of their own.  Stacks are one row where their functions and lines are the same, of
 * whichever processes and at whichever of a line's instructions.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_STACK_SET_H
#define HELIO_ANALYSIS_STACK_SET_H

#include "analysis/session/session_state.h"

/* Zero-initialised but for `session`, `style` and `mode` is empty. */
struct stack_set {
	struct session *session;
	enum name_style style;
	enum view_mode mode;
	/* its own */
	struct arena arena;
	VEC(struct stack_set_process) processes;
	VEC(struct stack_set_place) places;
	VEC(const char *) texts;  /* of the places */
	struct string_table keys; /* what tells places apart */
	struct hash_map frames;	  /* (caller, key) → frame; 0 is the stack without frames */
	struct hash_map row_of;	  /* frame → row */
	VEC(struct stack_set_row) rows;
	struct hash_map announced; /* function → its place in … */
	VEC(struct line_rows) lines;
};

/* The row of a node's stack: rows are numbered from 0 as they are met. */
uint32_t stack_set_add(struct stack_set *set, const struct experiment *experiment,
		       const struct process *process, uint32_t node);
/*
 * The frames of a row, leaf first: "f + 0x0000001c, a.c:12", "g (inlined), a.h:3".  Of a row of
 * several stacks each has the first of their instructions.
 */
const char **stack_set_frames(const struct stack_set *set, uint32_t row, struct arena *arena,
			      size_t *depth);
void stack_set_fini(struct stack_set *set);

#endif
