/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function can answer besides its result: a status code, and a
 * diagnostic for people.  Library code never prints; it fills a diag.
 */
#ifndef HELIO_BASE_STATUS_H
#define HELIO_BASE_STATUS_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

enum status {
	STATUS_OK = 0,
	STATUS_IO,	  /* the system refused: see the text */
	STATUS_NOTFOUND,  /* the thing asked for does not exist */
	STATUS_INVALID,	  /* the argument makes no sense */
	STATUS_DAMAGED,	  /* the data breaks its own format */
	STATUS_AMBIGUOUS, /* several things fit */
	STATUS_CANCELLED, /* who asked has ended it */
};

enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };
/* "note", "warning", "error", as JSON has it. */
const char *diag_level_name(enum diag_level level);

/* One message: a sentence without a trailing full stop or newline. */
struct diag {
	enum diag_level level;
	char *text;	/* owned by the list */
	uint32_t about; /* the list's when it was added */
};

/* Messages in the order in which they arose. Zero-initialised is empty. */
struct diag_list {
	struct diag *items;
	size_t count;
	size_t capacity;
	uint32_t about; /* a number by which who fills it knows of whom it tells; 0: nobody */
	struct hash_map by_text; /* of the first `indexed` ones, for diag_add_once */
	size_t indexed;
};

/* Appends a formatted message. Out of memory is ignored: a lost message must not become a crash. */
void diag_add(struct diag_list *list, enum diag_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As diag_add, but only once for the same text about the same one. */
void diag_add_once(struct diag_list *list, enum diag_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void diag_fini(struct diag_list *list);

#endif
