/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as texts: no file is looked at. */
#ifndef HELIO_BASE_PATH_H
#define HELIO_BASE_PATH_H

#include <stdbool.h>

/*
 * What is behind the last slash, a part of the path.  A path that ends in a slash is its own name:
 * nothing is to have an empty one.
 */
const char *path_name(const char *path);
/* Whether the name ends so, with something before it: ".er" is no "NAME.er".  Slashes at the
 * path's end do not count. */
bool path_ends_with(const char *path, const char *ending);
/* Whether a directory's entry is "." or "..". */
bool path_is_dots(const char *name);

#endif
