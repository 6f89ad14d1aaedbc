/* SPDX-License-Identifier: Apache-2.0 */
/* Which function a name means: the one among several, and what an unknown name may be a slip for.
 */
#ifndef HELIO_ANALYSIS_CHOICE_H
#define HELIO_ANALYSIS_CHOICE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function_match;
struct session;

enum choice {
	CHOICE_MADE,
	CHOICE_OPEN,	  /* several have the name, and no number says which */
	CHOICE_NO_NUMBER, /* the number is none of theirs */
};

/*
 * Chooses among `found` matches of a name, of which there is one at least; number is what a user
 * gave to say which, from 1, or NULL.  compared: functions of one name of several builds of a
 * program are one, for which the first stands.
 */
enum choice choice_among(const struct function_match *matches, size_t found, const char *number,
			 bool compared, const struct function_match **chosen);
/* The number by which the function is chosen, from 1; 0: it is not among them. */
size_t choice_number(const struct function_match *matches, size_t found, uint32_t function);

enum guess {
	GUESS_NONE,
	GUESS_BEGINS,	/* what was given begins the names */
	GUESS_NEAREST,	/* one name, which is near enough for a slip */
	GUESS_CONTAINS, /* … is further on in the names */
};
enum { GUESS_NAMES = 5 };
/* The names of functions that an unknown one may have been meant for. They live as the session. */
struct name_guess {
	enum guess guess;
	const char *names[GUESS_NAMES]; /* the first of them */
	size_t count;			/* of all of them */
};
void session_guess_name(struct session *session, const char *name, struct name_guess *guess);

#endif
