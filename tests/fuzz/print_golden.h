/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio print` in this process over a copy of an experiment that make_corpus.py has made (GOLDEN
 * names its directory).  It lies in a new directory, which is home, cache and current directory.
 */
#ifndef HELIO_FUZZ_PRINT_GOLDEN_H
#define HELIO_FUZZ_PRINT_GOLDEN_H

#include <stddef.h>

/* Makes the directory, the experiment in it and the program that was measured; once. */
void golden_begin(void);
/* A file below the directory, whole; folders on the way are made. */
void golden_write(const char *name, const void *data, size_t size);
/* A file of GOLDEN, there by the name `to`. */
void golden_copy(const char *name, const char *to);
/* The measured program; as `stripped` it has no debug information. */
#define GOLDEN_PROGRAM	"program"
#define GOLDEN_STRIPPED "stripped"
/* `helio` with these words, the last one NULL. */
void golden_print_words(const char *const *words);
/* The experiment once more, by another name. */
void golden_copy_experiment(const char *name);
/* Functions, callers, trees, lines, instructions, listings, with inlined calls and without. */
void golden_print_sums(void);
/* … and what the cache does not have. */
void golden_print(void);

#endif
