/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process may ask of its own /proc.  `thread` is the number that the asking thread has in
 * its own namespace, `path` what it asks for, below /proc.
 */
#ifndef HELIO_LAUNCH_BROKER_PROC_H
#define HELIO_LAUNCH_BROKER_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file, to be read; or a negative errno. */
int broker_proc_open(pid_t pid, int thread, const char *path);
/* The text of a link; its length or a negative errno. */
ssize_t broker_proc_link(pid_t pid, int thread, const char *path, char *to, size_t size);
/* Of a directory. 0 or a negative errno. */
int broker_proc_stat(pid_t pid, const char *path, struct stat *info);
/* The numbers of its threads but the first so many; how many, or a negative errno. */
ssize_t broker_proc_tasks(pid_t pid, uint32_t from, int32_t *to, size_t count);
/* Whether that is its effective user still: it may execute a set-user-ID program at any moment. */
bool broker_proc_is_of(pid_t pid, uid_t user);
/*
 * Whether it is the image still that asked, by BROKER_IMAGE; where that is 0, whether that user may
 * look into it.  Another one may have rights that its user has not.
 */
bool broker_proc_is_image(pid_t pid, uid_t user, uint32_t image);
/* The mask of its new files, or -1. */
int broker_proc_umask(pid_t pid);

#endif
