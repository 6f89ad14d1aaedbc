/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a directory that somebody else may own, for the tools only.
 *
 * A path can mean another file at each use: its owner may swap any directory of it for a link, and
 * put a pipe or a device where a file was.  So a directory is opened once, and what is in it is
 * reached through the descriptor, one component at a time, through no link.
 *
 * A folder is a descriptor, or AT_FDCWD.  Paths below it are relative, without "..", which is
 * refused (EINVAL).  Functions that answer a descriptor answer -1 on failure, those that answer a
 * bool false; errno says why.
 */
#ifndef HELIO_BASE_FOLDER_H
#define HELIO_BASE_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A directory; flags: O_NOFOLLOW where the last component may not be a link, or 0. */
int folder_open(const char *path, int flags);
/* Closes a folder or a file, if it is one (not negative); errno stays as it is. */
void folder_close(int fd);
/* The directory below a folder; "" is the folder itself. */
int folder_open_below(int folder, const char *path);
/*
 * A regular file below a folder; flags and mode as open(2) has them.  Anything else than a file
 * is EINVAL, and is not waited for; EMLINK: it would be written, but has another name elsewhere;
 * EFBIG: nearly all of it is a hole.
 */
int folder_open_file(int folder, const char *path, int flags, mode_t mode);
/*
 * A file in a folder that is to be renamed when it is whole, under a name of folder_half_name.  It
 * is locked (flock) as long as it is open, which tells it from what a killed writer has left: that
 * is replaced.  EEXIST: somebody writes it.
 */
int folder_open_half(int folder, const char *half, mode_t mode);
/* NAME.PID.part, the caller's to free. */
char *folder_half_name(const char *name);
/* Whether it is such a name, of any process. */
bool folder_is_half_name(const char *name);
/* Whether nobody writes it, as far as can be told: who did was killed. */
bool folder_is_left(int folder, const char *half);
/* Removes what killed writers have left in a folder; name: of that file alone, or NULL. */
void folder_remove_left(int folder, const char *name);
/* … and in all directories below it. */
void folder_remove_left_below(int folder);
/*
 * Made to look large: it would be read for hours, into memory that is not there.  Nothing that is
 * measured or recorded has so few blocks for its size, compressed file systems included.
 */
bool file_is_hollow(const struct stat *info);
/* Writes a file, which is there as a whole or stays as it was; false: errno. */
bool folder_write_whole(int folder, const char *name, const char *text, size_t length);
/* The directory that `path` lies in; *name is the last component, a part of `path`. */
int folder_open_parent(int folder, const char *path, const char **name);
/*
 * A regular file for reading, by a path that the user or a record has named: links are followed.
 * Anything else is EINVAL, a file that is nearly all a hole EFBIG; a pipe is not waited for, and a
 * device is not even opened, for that alone may do something.  info, of what was opened, may be
 * NULL.
 */
int folder_open_named(const char *path, struct stat *info);
/* The names in a folder, the reading of which is the caller's to close; NULL: see errno. */
DIR *folder_list(int folder, const char *path);
/* Information about what is below a folder, a link itself. */
bool folder_stat(int folder, const char *path, struct stat *info);
/* Makes a directory below a folder, and those above it. */
bool folder_make_directories(int folder, const char *path);
/* Removes a file, or a directory with all that is in it. */
bool folder_remove(int folder, const char *name);
/* Whether that name in a directory is the folder itself, and no link to it; else errno. */
bool folder_is(int folder, int parent, const char *name);
/* Removes a folder that was opened as `name`, with all that is in it: nothing else of that name. */
bool folder_remove_itself(int folder, const char *name);
/* Whether a path, links in it followed, leads to a folder. */
bool folder_is_at(int folder, const char *path);
/*
 * Whether a path names a folder without going through a link that is neither this user's nor
 * root's (EPERM): another user's could lead to anything, at any moment.  ESTALE: it names another.
 */
bool folder_is_named_by(int folder, const char *path);

/* A handle (O_PATH) of the directory of a path, which need not be readable, through no such link.
 */
int folder_open_way(const char *path);
/*
 * The directory of a path, made with those above it where it is not there (mode 0: it is not made),
 * through no link that folder_is_named_by would refuse.
 */
int folder_make_named(const char *path, mode_t mode);
/* An absolute path of the directory without links, the caller's to free; NULL: errno. */
char *folder_path(int folder);
/*
 * A file that the user has named for output, emptied, or made, through no such link either; NULL:
 * errno.  What it is the user knows: it may be a device or a pipe.
 */
FILE *folder_write_named(const char *path, bool append);

/*
 * Where this process is root and the folder or file another user's, files are from now on opened
 * and made with that user's rights.  folder_be_oneself ends that.  Of this thread only.
 */
void folder_be_owner(int folder);
void folder_be_oneself(void);

#endif
