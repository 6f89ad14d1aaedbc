/* SPDX-License-Identifier: Apache-2.0 */
/* What processes used before their recording began. */
#ifndef HELIO_EXPERIMENT_BEFORE_H
#define HELIO_EXPERIMENT_BEFORE_H

#include "experiment/process.h"

/*
 * Adds it to the first thread of each process, at <before recording>; not where the process was a
 * program between that was not recorded.
 */
void before_add(struct experiment *experiment);

/* A program that was not recorded, and was, in one process, between two images that were. */
struct between {
	const struct process
		*teller; /* what executed it: the image before, or who began the process */
	const struct log_event *exec; /* … in its log; it has a name */
	const struct process *next;   /* the image after */
	uint64_t user_us, system_us;  /* with what the next one took to be loaded: nobody knows how
					 much of it that is */
};
struct between_list {
	VEC(struct between) items;
};

/* To be freed with vec_fini. */
void before_find_between(const struct experiment *experiment, struct between_list *list);

#endif
