/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experiment's files, and the kernel's: opened by their paths, wherever the program has moved
 * its root.  The former are grown inside a program that may have a limit on the size of files:
 * past it the kernel raises SIGXFSZ, which would be a signal of ours and kills.
 */
#ifndef HELIO_COLLECTOR_FILE_H
#define HELIO_COLLECTOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A socket to the launcher, which is asked for files once the program may have moved its root (a
 * directory would lead out of there), or is not root any more.  -1: not so.
 */
extern _Atomic int file_broker;
/* Opens that socket, unless it is there. 0 or a negative errno. */
int file_reach_launcher(void);
/*
 * The program goes on as another user: that one may pass through the directories of root's to the
 * files that become its own.  It gets no right to make, remove or list anything there.
 */
void file_let_pass(void);
/*
 * "DEVICE,INODE" of the founder's directory: each time it is looked at whether the path leads to
 * that one.  With PARAMS_PLACE_EXPOSED behind it somebody else could exchange one on the way to it.
 */
void file_read_param(const char *value);
/* From now on the experiment's path may mean something else; it does not yet. */
void file_moves(void);
bool file_has_moved(void);

/* As open and mkdir, for an absolute path in the family's experiment, which may be no link. A
 * descriptor or a negative errno. */
int file_open(const char *path, int flags, int mode);
int file_make_directory(const char *path);

void file_remove(const char *path);
/* Of such a file; a link is not followed. 0 or a negative errno. */
int file_size(const char *path, uint64_t *size);
/* Opens a file of this process in /proc to be read, also where this root has none. */
int file_open_proc(const char *path, int flags);
long file_readlink_proc(const char *path, char *to, size_t size);

/* Device and inode of such a directory, at least. 0 or a negative errno. */
struct stat;
int file_stat_proc(const char *path, struct stat *to);
/* The numbers of this process's threads, but the first so many; how many there are. */
long file_list_tasks(uint32_t from, int32_t *to, size_t count);

/* Whether a file may be so large in this process. */
bool file_may_reach(uint64_t end);
/* Appends all of it. Returns 0 or a negative errno. */
int file_append(int fd, const void *from, size_t size);

#endif
