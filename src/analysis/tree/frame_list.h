/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks as lists of frames, each of which is there once. */
#ifndef HELIO_ANALYSIS_FRAME_LIST_H
#define HELIO_ANALYSIS_FRAME_LIST_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call of a stack. */
struct stack_frame {
	uint32_t function;
	const char *name;   /* "f", "g (inlined)" */
	const char *object; /* path of the load object, or NULL */
	const char *file;   /* or NULL: the line is not known */
	uint32_t line;
	bool inlined;	  /* a call that was inlined: the address is that of what it is part of */
	bool has_address; /* else it stands for several, or for none */
	uint64_t address; /* in the load object; of a caller that of the last byte of the call */
};
struct listed_stack {
	const uint32_t *frames; /* leaf first, or as the query says */
	uint32_t depth;
};
/* Call stacks, and the frames that they are made of. */
struct frame_list {
	struct stack_frame *frames;
	size_t frame_count;
	struct listed_stack *stacks;
	size_t stack_count;
	struct arena arena; /* owns all of the above */
};
void frame_list_fini(struct frame_list *list);

#endif
