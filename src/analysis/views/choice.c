/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/views/choice.h"

#include "analysis/code/code_find.h"
#include "analysis/session/functions.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

/* Of builds of one program, while experiments are compared. */
static bool are_one(const struct function_match *matches, size_t found)
{
	for (size_t i = 1; i < found; i++)
		if (strcmp(matches[i].name, matches[0].name) != 0 || !matches[i].object ||
		    !matches[0].object || !strcmp(matches[i].object, matches[0].object) ||
		    strcmp(path_name(matches[i].object), path_name(matches[0].object)) != 0)
			return false;
	return true;
}

enum choice choice_among(const struct function_match *matches, size_t found, const char *number,
			 bool compared, const struct function_match **chosen)
{
	unsigned long which = 1;
	char *rest;

	*chosen = NULL;
	if (!number && found != 1 && !(compared && are_one(matches, found)))
		return CHOICE_OPEN;
	if (number) {
		which = strtoul(number, &rest, 10);
		if (*rest || which < 1 || which > found)
			return CHOICE_NO_NUMBER;
	}
	*chosen = &matches[which - 1];
	return CHOICE_MADE;
}

size_t choice_number(const struct function_match *matches, size_t found, uint32_t function)
{
	for (size_t i = 0; i < found; i++)
		if (matches[i].function == function)
			return i + 1;
	return 0;
}

/* The names that begin with a word, or that have it further on. */
static bool find_names(struct name_guess *guess, const struct function_match *all, size_t count,
		       const char *word, enum guess as)
{
	for (size_t i = 0; i < count && *word; i++) {
		const char *at = strcasestr(all[i].name, word);

		if (!at || (at == all[i].name) != (as == GUESS_BEGINS))
			continue;
		if (guess->count < GUESS_NAMES)
			guess->names[guess->count] = all[i].name;
		guess->count++;
	}
	if (guess->count)
		guess->guess = as;
	return guess->count;
}

static bool find_nearest(struct name_guess *guess, const struct function_match *all, size_t count,
			 const char *word)
{
	const char **names = xcalloc(count + 1, sizeof(*names));
	const char *closest;

	for (size_t i = 0; i < count; i++)
		names[i] = all[i].name;
	closest = suggest_closest(word, names, count);
	free(names);
	if (!closest)
		return false;
	*guess = (struct name_guess){GUESS_NEAREST, {closest}, 1};
	return true;
}

void session_guess_name(struct session *session, const char *name, struct name_guess *guess)
{
	struct function_match *all;
	size_t count = session_functions(session, &all);

	*guess = (struct name_guess){0};
	if (!find_names(guess, all, count, name, GUESS_BEGINS) &&
	    !find_nearest(guess, all, count, name))
		find_names(guess, all, count, name, GUESS_CONTAINS);
	free(all);
}
