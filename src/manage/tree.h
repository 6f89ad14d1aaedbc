/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and directories as wholes. Functions that fail leave the reason in errno.  EPERM of those
 * that take a path: it leads through a link of another user's.
 */
#ifndef HELIO_MANAGE_TREE_H
#define HELIO_MANAGE_TREE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Copies an open regular file with its mode, less the umask, and times to a path below a folder
 * (base/folder.h), and closes it.  The copy gets its name when it is complete; what had the name
 * before is replaced. Holes stay holes.
 */
bool tree_copy_file(int in, int folder, const char *to);
/*
 * Copies a folder (base/folder.h) with all that is in it; nothing may be at `to`. Symbolic links
 * stay links.  The copy gets its name when it is complete, compared with the original; until then
 * it has one that no reader takes for an experiment.  What others put in the place of either is
 * neither renamed nor removed (ESTALE).  *left: the path of what could not be removed after a
 * failure, for the caller to free, or NULL.
 */
bool tree_copy(int folder, const char *to, char **left);
/* Whether two open files have the same content; closes both.  errno 0: they do not. */
bool tree_same_file(int a, int b);
/* Whether a copy of a folder holds the same files with the same content; errno 0: it does not. */
bool tree_same(int folder, int copy);
/*
 * Removes the folder that `path` led to, or a link to it; ESTALE: that name is another's now,
 * which stays as it is.  It loses its name first, so that nobody reads one that is half gone.
 * *left: after a failure the path of what is there, for the caller to free.
 */
bool tree_remove_folder(const char *path, int folder, char **left);
/*
 * Gives the folder that `from` led to, or a link to it, another name: EEXIST if it is taken, EXDEV:
 * another file system, ESTALE: the name is another's now.
 */
bool tree_rename_folder(const char *from, int folder, const char *to);
/* How a link in `directory` names `path`, both absolute and without links; the caller's to free. */
char *tree_relative(const char *directory, const char *path);
/* The sizes of all files added up. */
uint64_t tree_bytes(const char *path);
/* … of a directory below a folder (base/folder.h). */
uint64_t tree_bytes_below(int folder, const char *path);

#endif
