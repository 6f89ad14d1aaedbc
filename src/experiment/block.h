/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary files of an experiment: their header, and the blocks of profile
 * and stacks (docs/format.md), whatever state they are in.
 *
 * A file is read with pread through one window, not mapped: a file that shrinks
 * while it is read (a running experiment is packed, a disk fills) must not
 * become a SIGBUS, and the window costs one copy at memory speed.
 */
#ifndef HELIO_EXPERIMENT_BLOCK_H
#define HELIO_EXPERIMENT_BLOCK_H

#include "base/status.h"
#include "format/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where messages go and how they name the experiment ("test.1.er/_f1.er"). */
struct read_context {
	int folder;	       /* the experiment's, or one around it (base/folder.h) */
	const char *directory; /* the process's below it; "": the folder itself */
	const char *name;      /* for messages */
	struct diag_list *diags;
	struct context_table *contexts; /* where those of events go; NULL: nowhere */
};

/* How a file was found to be. */
struct block_counts {
	size_t blocks;
	size_t checked; /* with a checksum, which only `helio collect` writes when all is over */
	size_t corrupt; /* … and whose checksum is wrong; their data is delivered all the same */
};

struct block_file {
	int fd;
	uint64_t size;	    /* at the time of opening; what is appended later is not read */
	uint64_t offset;    /* the next block is looked for here */
	unsigned encodings; /* bit set of 1 << enum format_encoding that this file may hold */
	/* what went wrong so far */
	uint64_t skipped; /* bytes that were neither zero nor part of a block */
	size_t cut;	  /* blocks that end beyond the end of the file */
	uint64_t dropped; /* sum of the blocks' drop counts */
	struct block_counts counts;
	/* window of the file in memory */
	uint8_t *window;
	uint64_t window_start;
	size_t window_length;
	size_t window_capacity;
};

struct block {
	struct format_block_header header;
	const uint8_t *data; /* valid until the next call */
	size_t used; /* bytes of data that are there; less than header.used in a cut block */
};

/*
 * Opens a process's regular file for reading; -1: see errno, which is EINVAL where something else
 * than a file is there.  It is reached through descriptors and no link: the experiment may be
 * somebody else's.
 */
int read_context_open(const struct read_context *context, const char *name);
/* What there is instead of a file that cannot be opened, in words. */
const char *read_context_error(int error);

enum file_state { FILE_USABLE, FILE_MISSING, FILE_BLANK, FILE_UNUSABLE };

/*
 * Opens DIRECTORY/NAME and checks its header.  FILE_MISSING is not reported:
 * whether that is a fault depends on the file.  FILE_BLANK (nothing was written
 * yet; no damage by itself) and FILE_UNUSABLE are in the diags.
 */
enum file_state block_file_open(struct block_file *file, const struct read_context *context,
				const char *name, unsigned encodings);
/* The same of a file that has neither a header nor blocks, for block_file_fetch(). */
enum file_state block_file_open_plain(struct block_file *file, const struct read_context *context,
				      const char *name);
void block_file_close(struct block_file *file);

/* The next block, or false at the end. Damage is skipped and counted. */
bool block_file_next(struct block_file *file, struct block *block);

/* At most `length` bytes from `offset`; *available says how many. Valid until the next call. */
const uint8_t *block_file_fetch(struct block_file *file, uint64_t offset, size_t length,
				size_t *available);

/* Moves the offset over a hole that it may be in; false: nothing but the hole follows. */
bool block_file_skip_hole(struct block_file *file);

#endif
