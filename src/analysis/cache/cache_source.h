/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a source file's code is kept: reading it takes all line tables that name the file, and
 * all symbols of the load object.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_CACHE_SOURCE_H
#define HELIO_ANALYSIS_CACHE_SOURCE_H

#include "analysis/views/listing.h"

#define CACHE_SOURCE_ENDING ".source"

/* A function with code from the file: address and line of the first such instruction. */
struct source_entry {
	const char *name;   /* as the listing shows it */
	const char *symbol; /* NULL: none */
	uint64_t address;
	uint32_t line;
};

/* The code of a source file in a load object. */
struct source_code {
	VEC(uint32_t) lines;		  /* those that have code, upwards */
	VEC(struct source_entry) entries; /* by line */
	char *kept;			  /* the file that they come from: names point into it */
};
void source_code_fini(struct source_code *code);

/* False: it is not kept. */
bool cache_load_source(const struct listing *listing, struct source_code *out);
/* Keeps it if that is worth a file. */
void cache_keep_source(const struct listing *listing, const struct source_code *code);

#endif
