/* SPDX-License-Identifier: Apache-2.0 */
/* Commands as lines of text: from scripts, from a pipe, from a person. */
#ifndef HELIO_PRINT_SCRIPT_H
#define HELIO_PRINT_SCRIPT_H

#include "print/context.h"

enum { SCRIPT_WORDS = 21 }; /* a command and 20 arguments; more are ignored with a warning */

struct words {
	char *items[SCRIPT_WORDS];
	size_t count;
	bool cut; /* there were more */
};

/*
 * Splits a line at blanks.  "…" and '…' keep blanks; in "…" a backslash takes
 * the next character as it is.  STATUS_INVALID: a quote is not closed.
 */
enum status words_split(const char *line, struct words *words);
void words_fini(struct words *words);

/* Runs one line. Lines that begin with '#' are echoed to stderr. False: the command failed. */
bool script_run_line(struct print *print, const char *line);
/* Runs lines until the end or `quit`. name: for messages. */
void script_run_file(struct print *print, FILE *file, const char *name);
/* Reads commands from stdin, with a prompt, line editing and history where a person types. */
void script_run_interactive(struct print *print);

/*
 * What the word before the cursor could become: commands, or what the command
 * of the line takes.  The list's strings are the caller's to free.
 */
struct completions {
	char **items;
	size_t count;
	size_t capacity;
};
void complete_line(struct print *print, const char *line, size_t cursor,
		   struct completions *completions);
void completions_fini(struct completions *completions);
/* Where the word that ends at the cursor begins. */
size_t complete_word_start(const char *line, size_t cursor);

#endif
