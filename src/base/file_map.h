/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file that somebody else may cut or rewrite while they are read.  For the tools
 * only.
 *
 * A mapping of a file that shrinks answers with SIGBUS, and one that is rewritten can change
 * between a check and its use.  So only a file that nobody but its owner (this user or root) can
 * write is mapped; of any other a copy is read.  An owner may still cut the file by accident: lost
 * pages of a mapping then read as zeros, and file_map_was_cut says so.
 */
#ifndef HELIO_BASE_FILE_MAP_H
#define HELIO_BASE_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Bytes in private, readable memory: munmap releases a mapping and a copy alike. */
struct file_map {
	uint8_t *data; /* NULL: see errno */
	size_t size;   /* bytes; what the file no longer has is zero */
	bool is_copy;
};

/*
 * The first info->st_size bytes of an open regular file.  No data: the file is empty, or see errno
 * (EFBIG: too large to be copied).
 */
struct file_map file_map(int fd, const struct stat *info);
/*
 * The same as a copy whoever may write to it: where a change of the owner's own must not be seen
 * either.  Not of what is too large for one, or once so much has been copied: one large file may
 * have thousands of names.
 */
struct file_map file_map_copy(int fd, const struct stat *info);
/* Whether nobody but this user and root can write to a file of that owner and mode. */
bool file_is_trusted(const struct stat *info);
/*
 * Whether commands are taken from an open file, or from files in an open directory, which are this
 * user's or root's.  Nobody else can write to the file, but the group of the user's own number as
 * long as it has no other members.  A group may write to the directory, and all where it is sticky:
 * they can put there, by link or name, what is this user's already.
 */
bool file_gives_commands(int fd);
/*
 * Whether nobody but this user and root can put something else in place of what is theirs in a
 * directory of that owner and mode; all may write to it where it is sticky, and so may a private
 * group, as above.
 */
bool file_keeps_its_names(const struct stat *info);
/* From now on lost pages of mapped files, those of libraries too, read as zeros.  Idempotent. */
void file_map_guard(void);
/* Whether a mapped file has lost pages since the process began. */
bool file_map_was_cut(void);

#endif
