/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a finished experiment's block files small: docs/format.md, "Blocks". */
#ifndef HELIO_LAUNCH_PACK_H
#define HELIO_LAUNCH_PACK_H

#include <stddef.h>
#include <stdint.h>

enum pack_result {
	PACK_DONE,
	PACK_ABSENT,  /* no such file, or one that is empty or still blank */
	PACK_DAMAGED, /* breaks the format: left as it is, for readers to salvage */
	PACK_FAILED,  /* the system refused, see errno: left as it is */
};

/*
 * Packs the profile, a trace, or stacks: drops what is not in use and the room kept between
 * blocks; stack nodes are coded as varints, with their ids unchanged.  The new
 * file takes the old one's place in one step.  A trace in which there is next to nothing to drop
 * only gets its checksums and loses its end.  Nobody may be writing to it.
 * `path` is the name of a file in the directory `folder`; both sizes in bytes, added to
 * *before and *after, also where the file stays as it is.
 */
enum pack_result pack_blocks(int folder, const char *path, uint64_t *before, uint64_t *after);
enum pack_result pack_traces(int folder, const char *path, uint64_t *before, uint64_t *after);
enum pack_result pack_stacks(int folder, const char *path, uint64_t *before, uint64_t *after);

#endif
