/* SPDX-License-Identifier: Apache-2.0 */
/* The collector library, and the environment that brings it into the program. */
#ifndef HELIO_LAUNCH_ENVIRONMENT_H
#define HELIO_LAUNCH_ENVIRONMENT_H

#include "base/arena.h"
#include "base/status.h"
#include "launch/options.h"

/*
 * Finds a library of the collector (PARAMS_LIBRARY_NAME…): beside the tool, in
 * ../lib/heliometer from there, or where the build was told (HELIO_LIBDIR). NULL: an error says
 * so.
 */
const char *environment_find_library(struct arena *arena, const char *name,
				     struct diag_list *diags);

/* Adds KEY:VALUE; to parameters (format/params.h). */
void environment_add_param(struct arena *arena, char **params, char key, const char *value);
/* The data descriptor of format/params.h; start_ns 0 leaves the start out, for showing. */
char *environment_params(struct arena *arena, const struct options *options, const char *engine,
			 uint64_t start_ns);

/*
 * What goes with it: which directory the experiment is, a folder of base/folder.h, and whether
 * somebody else than the user and root could exchange one on the way to it.
 */
char *environment_place(struct arena *arena, int folder);

struct environment_request {
	const char *library;
	const char *experiment; /* absolute path */
	const char *params;
	const char *follow_regex; /* NULL: none */
	const char *more;	  /* an entry beside them; NULL: none */
};

/* A copy of `old` for the program, with our variables in it and our library first in LD_PRELOAD. */
char **environment_build(struct arena *arena, char **old,
			 const struct environment_request *request);

#endif
