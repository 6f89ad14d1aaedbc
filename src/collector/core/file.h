/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing the experiment's files inside a program that may have a limit on the size of
 * files: past it the kernel raises SIGXFSZ, which would be a signal of ours and kills.
 */
#ifndef HELIO_COLLECTOR_FILE_H
#define HELIO_COLLECTOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a file may be so large in this process. */
bool file_may_reach(uint64_t end);
/* Appends all of it. Returns 0 or a negative errno. */
int file_append(int fd, const void *from, size_t size);

#endif
