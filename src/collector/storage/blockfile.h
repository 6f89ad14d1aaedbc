/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data file of the experiment that many threads fill at once.
 *
 * The file grows in arenas: ranges of it that are set aside on disk (fallocate,
 * so that a full disk is an error code and not a SIGBUS) and mapped shared.
 * Blocks are cut from the current arena with one atomic addition.  Whatever
 * was written is in the page cache: it survives the death of the process, and
 * no file descriptor stays open.  Everything here may be called in a handler.
 */
#ifndef HELIO_COLLECTOR_BLOCKFILE_H
#define HELIO_COLLECTOR_BLOCKFILE_H

#include "collector/storage/blockfile_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The file is made when the first block is taken, if that ever happens: many processes end before
 * they have anything to write.  `name` and `description` must live until then.
 */
void blockfile_plan(struct blockfile *file, const char *directory, const char *name,
		    const char *description);

/* Makes a file that is planned, if it is not there yet. */
void blockfile_make(struct blockfile *file);

/* Creates the file at once, with its header. Returns 0 or a negative errno. */
int blockfile_create(struct blockfile *file, const char *directory, const char *name,
		     const char *description);

/*
 * A zeroed block of at least `size` bytes (a multiple of FORMAT_BLOCK_ALIGN)
 * at such a multiple in the file, or NULL: the disk is full.  Waits, 1 s at
 * most, where a dozen threads wait for the disk already.
 * arena: where the caller's previous block lies, at first 0.  This one lies behind it, so that who
 * takes one after the other has them in the file in this order.
 */
void *blockfile_take(struct blockfile *file, size_t size, uint32_t *arena);

/*
 * Somebody has cut the file, and an access at `address` has found no page: if that is one of its
 * own, memory of nobody's comes in its place.  In the handler of SIGBUS.
 */
bool blockfile_mend(struct blockfile *file, uint64_t address);
/* Looks whether the file is still as long as it was made, and mends it if not. */
void blockfile_look(struct blockfile *file);

/* Calls visit for all blocks of a file in which each has this size. Others may be filling some. */
void blockfile_for_each(struct blockfile *file, size_t size,
			void (*visit)(const void *block, void *arg), void *arg);

/*
 * Forgets the file and unmaps it: in the child of a fork.  in_use: code that a handler has
 * interrupted may still write to it, which must do no harm.
 */
void blockfile_abandon(struct blockfile *file, bool in_use);

#endif
