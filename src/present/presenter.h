/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go, and in which format. */
#ifndef HELIO_PRESENT_PRESENTER_H
#define HELIO_PRESENT_PRESENTER_H

#include "present/output.h"

/* PRESENT_SLAB is for requests alone: what is written must not be a terminal's (slab.h). */
enum present_format { PRESENT_TEXT, PRESENT_JSON, PRESENT_HTML, PRESENT_DELIMITED, PRESENT_SLAB };

/* The page of PRESENT_HTML: page.h. */
struct page {
	bool begun;
	FILE *file; /* where it goes, while the output is memory */
	bool color; /* of that */
	char *text; /* what the command has printed, the first `done` bytes being in the page */
	size_t size, done;
};

struct presenter {
	const char *program; /* "helio print" */
	enum present_format format;
	char delimiter;
	struct output *output;		  /* the caller's */
	const struct diag_list *warnings; /* of opening the experiments: the caller's */
	struct page page;
};

#endif
