/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experiment's files: opened by their paths, wherever the program has moved its root, and
 * grown inside a program that may have a limit on the size of
 * files: past it the kernel raises SIGXFSZ, which would be a signal of ours and kills.
 */
#ifndef HELIO_COLLECTOR_FILE_H
#define HELIO_COLLECTOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The founder's directory, once the program may have moved away from it; -1: not yet. */
extern _Atomic int file_place;
/* As open and mkdir, for an absolute path in the family's experiment. A descriptor or a negative
 * errno. */
int file_open(const char *path, int flags, int mode);
int file_make_directory(const char *path);

/* Whether a file may be so large in this process. */
bool file_may_reach(uint64_t end);
/* Appends all of it. Returns 0 or a negative errno. */
int file_append(int fd, const void *from, size_t size);

#endif
