/* SPDX-License-Identifier: Apache-2.0 */
/* What `helio check` finds out about one experiment. */
#ifndef HELIO_MANAGE_CHECK_H
#define HELIO_MANAGE_CHECK_H

#include "manage/objects.h"

struct check {
	struct experiment *experiment; /* NULL: it cannot be opened at all */
	struct object_list objects;
	struct diag_list damage;   /* something that was recorded is not there any more, or wrong */
	struct diag_list warnings; /* something was never recorded, or cannot be had */
	struct diag_list notes;
};

/* Files in archives/: each must be whole, and what its name says. */
void check_archives(struct check *check);
/* Load objects of which addresses were recorded: can their functions be named, here and now? */
void check_objects(struct check *check);
/* Files that are not as they were when the recording ended. */
void check_sums(struct check *check);
/* The whole file of sums, with a NUL behind it; NULL: see errno. */
char *check_read_sums(int folder, const char *name, size_t *size);
/* Descendants that a log tells of must have a directory. */
void check_descendants(struct check *check);

#endif
