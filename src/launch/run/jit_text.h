/* SPDX-License-Identifier: Apache-2.0 */
/* The code and the lines of functions that a compiler at run time told perf of, as records of
 * dyntext. */
#ifndef HELIO_LAUNCH_JIT_TEXT_H
#define HELIO_LAUNCH_JIT_TEXT_H

#include "base/strbuf.h"
#include "launch/run/family.h"

#include <stdbool.h>
#include <stdint.h>

/* What a dump has of a function; all of it lies in the dump. */
struct jit_code {
	const char *bytes;    /* NULL: none */
	const char *lines;    /* a record of lines, from its entries on; NULL: none */
	size_t lines_size;    /* bytes that there are */
	uint64_t lines_count; /* as the record says */
	uint64_t lines_ahead; /* bytes by which its addresses are too large */
};

/* Bytes from a function's beginning to its first line; false: no lines. */
bool jit_code_first_line(const struct jit_code *code, uint64_t address, uint64_t *offset);

/* Records to be added to a file; zero-initialised is none. */
struct jit_text {
	int fd;		      /* -1: nothing can be kept */
	uint64_t end;	      /* where the records will begin */
	struct strbuf header; /* of a file that was not there */
	struct strbuf records;
};

void jit_text_open(struct jit_text *text, const struct family *family, const struct member *member);
/*
 * Adds the record of a function and returns where in the file it is; 0: it has no code, or there
 * is no room left.  *source: its source file, to be freed, or NULL where no lines are known.
 */
uint64_t jit_text_add(struct jit_text *text, uint64_t address, uint64_t size,
		      const struct jit_code *code, char **source);
/* Writes the records.  False: errno says why not, and the places that were told have nothing. */
bool jit_text_close(struct jit_text *text);

#endif
