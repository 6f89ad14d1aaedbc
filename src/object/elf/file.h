/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_OBJECT_FILE_H
#define HELIO_OBJECT_FILE_H

#include "base/status.h"

#include <sys/stat.h>

/*
 * Opens a regular file for reading: *fd is the caller's to close.  STATUS_IO: see errno;
 * STATUS_INVALID: something else than a file, which is not even opened for long.
 */
enum status file_open_regular(const char *path, int *fd, struct stat *info);

#endif
