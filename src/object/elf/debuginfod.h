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

/*
 * The debug file of a build-id (hex) in the cache: its path, to be freed, or NULL.  Who waits is
 * told that `name`'s is asked for.
 */
char *debuginfod_debug_file(const char *build_id, const char *name);
/* A source that the debug file names by an absolute path: likewise. */
char *debuginfod_source(const char *build_id, const char *path);
/* From now on a question ends without an answer as soon as that says so. */
void debuginfod_watch(bool (*cancelled)(void));

#endif
