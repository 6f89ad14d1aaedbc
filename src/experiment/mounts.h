/* SPDX-License-Identifier: Apache-2.0 */
/* The files `mounts` and `mounts.own`: file systems and the places where processes saw them. */
#ifndef HELIO_EXPERIMENT_MOUNTS_H
#define HELIO_EXPERIMENT_MOUNTS_H

#include "base/arena.h"
#include "experiment/block.h"

struct mount {
	const char *place; /* absolute */
	size_t length;	   /* of it; of "/" none */
	const char *type;
};

struct experiment_mounts {
	struct mount *items;
	size_t count, capacity;
};

/* Of one file; false: there is none. Strings live in the arena. */
bool experiment_mounts_read(struct experiment_mounts *mounts, const char *file, struct arena *arena,
			    const struct read_context *context);
void experiment_mounts_fini(struct experiment_mounts *mounts);

/* The type of the file system that an absolute path lies on, links not followed; NULL: not known.
 */
const char *experiment_mounts_type(const struct experiment_mounts *mounts, const char *path);

#endif
