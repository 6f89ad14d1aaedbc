/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edit distance by the textbook table, three rows at a time.  Swaps of
 * neighbours count as one edit because they are the commonest slip in typing;
 * plain Levenshtein would call "evnet" as far from "event" as "eat" is.
 */
#include "base/suggest.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int lower(char c)
{
	return tolower((unsigned char)c);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t suggest_distance(const char *left, const char *right)
{
	size_t rows = strlen(left), columns = strlen(right);
	size_t *memory = xcalloc(3 * (columns + 1), sizeof(*memory));
	size_t *before = memory, *last = memory + columns + 1, *row = last + columns + 1;

	for (size_t j = 0; j <= columns; j++)
		last[j] = j;
	for (size_t i = 1; i <= rows; i++) {
		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			size_t replaced = last[j - 1] + (lower(left[i - 1]) != lower(right[j - 1]));

			row[j] = smaller(replaced, smaller(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && lower(left[i - 1]) == lower(right[j - 2]) &&
			    lower(left[i - 2]) == lower(right[j - 1]))
				row[j] = smaller(row[j], before[j - 2] + 1);
		}
		size_t *reused = before;

		before = last;
		last = row;
		row = reused;
	}
	size_t distance = last[columns];

	free(memory);
	return distance;
}

const char *suggest_closest(const char *word, const char *const *names, size_t count)
{
	size_t length = strlen(word);
	size_t best = length / 3 + 2; /* one more than what is still a slip */
	const char *closest = NULL;

	for (size_t i = 0; length && i < count; i++) {
		if (length >= strlen(names[i]) + best) /* it may have megabytes */
			continue;
		size_t distance =
			strncasecmp(names[i], word, length) ? suggest_distance(word, names[i]) : 1;

		if (distance < best) {
			best = distance;
			closest = names[i];
		}
	}
	return closest;
}
