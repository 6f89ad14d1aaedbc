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

/* The founder's directory and /proc, once the program may have moved away from them; -1: not yet.
 */
extern _Atomic int file_place, file_proc;
/* As open and mkdir, for an absolute path in the family's experiment. A descriptor or a negative
 * errno. */
int file_open(const char *path, int flags, int mode);
int file_make_directory(const char *path);

void file_remove(const char *path);
/* lstat(2) of such a path. 0 or a negative errno. */
struct stat;
int file_stat(const char *path, struct stat *to);

/* Opens a path in /proc to be read; that which is not in this root, in the last root that had it.
 */
int file_open_proc(const char *path, int flags);
long file_readlink_proc(const char *path, char *to, size_t size);

/* stat(2) of such a path. 0 or a negative errno. */
int file_stat_proc(const char *path, struct stat *to);

/* Whether a file may be so large in this process. */
bool file_may_reach(uint64_t end);
/* Appends all of it. Returns 0 or a negative errno. */
int file_append(int fd, const void *from, size_t size);

#endif
