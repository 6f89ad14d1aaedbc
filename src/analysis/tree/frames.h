/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that an address in a call stack stands for. Private to this module. */
#ifndef HELIO_ANALYSIS_FRAMES_H
#define HELIO_ANALYSIS_FRAMES_H

#include "analysis/session/session_state.h"

/* Of location i, functions first[i] … first[i + 1] - 1, callers first. */
struct frames {
	uint32_t *single; /* … or this one, where each location is one function; else NULL */
	VEC(uint32_t) first;
	VEC(uint32_t) functions;
	VEC(bool) outlined; /* the first one only if its caller is another function */
};

/* inlines: functions inlined at an address are calls. */
void frames_find(struct session *session, bool inlines, const struct experiment *experiment,
		 const struct process *process, struct frames *out);
void frames_fini(struct frames *frames);
/* The function that has the code of a location. */
uint32_t frames_physical(const struct frames *frames, uint32_t location);

/* The function that a part was taken from, or NODE_NONE. */
uint32_t frames_outlined_from(struct session *session, uint32_t function);

#endif
