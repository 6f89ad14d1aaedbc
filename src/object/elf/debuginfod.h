/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files and sources from debuginfod servers, only if the user asked for
 * it by DEBUGINFOD_URLS.  libdebuginfod is loaded at the first question, so
 * that nobody else pays for it and its libraries; it keeps what it gets in the
 * user's cache.  Without the variable or the library the answer is NULL.
 */
#ifndef HELIO_OBJECT_DEBUGINFOD_H
#define HELIO_OBJECT_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The debug file of a build-id (hex) in the cache: its path, to be freed, or NULL.  Who waits is
 * told that `name`'s is asked for.
 */
char *debuginfod_debug_file(const char *build_id, const char *name);
/* A source that the debug file names by an absolute path: likewise. */
char *debuginfod_source(const char *build_id, const char *path);
/* From now on a question ends without an answer as soon as that says so. */
void debuginfod_watch(bool (*cancelled)(void));

/* What is asked for while nobody waits for it. */
struct debuginfod_awaited {
	size_t waiting;	  /* debug files that are not there yet, … */
	const char *name; /* … and whose is asked for now; lives as long as the program */
	size_t found;	  /* that came, so far */
	uint64_t put_off; /* answers that were NULL because the file was not there yet */
};

/*
 * From now on a debug file that the library does not keep already is asked for by a thread of its
 * own; until it is there the answer is NULL.  For a front end that shows results meanwhile; before
 * there are other threads.
 */
void debuginfod_put_off(void);
struct debuginfod_awaited debuginfod_awaited(void);
/* Ends what it is at, and what waits. */
void debuginfod_put_off_end(void);

#endif
