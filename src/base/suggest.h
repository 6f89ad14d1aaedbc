/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean …?" for words that people type. */
#ifndef HELIO_BASE_SUGGEST_H
#define HELIO_BASE_SUGGEST_H

#include <stddef.h>

/*
 * The restricted Damerau-Levenshtein distance without regard to case: how many
 * insertions, deletions, replacements and swaps of neighbours lead from one
 * word to the other.
 */
size_t suggest_distance(const char *left, const char *right);

/*
 * The name nearest to the word, the first of several equally near ones, or
 * NULL when none is near enough to be a slip: one edit, and one more per three
 * letters of the word.  A name that begins with the word is one edit away.
 */
const char *suggest_closest(const char *word, const char *const *names, size_t count);

#endif
