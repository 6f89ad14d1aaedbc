/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of source files, as compilers record them. */
#ifndef HELIO_OBJECT_PATH_H
#define HELIO_OBJECT_PATH_H

/* DIRECTORY/name, or the name alone where it is absolute or there is no directory; to be freed. */
char *path_join(const char *directory, const char *name);
/* Takes "//", "./" and "x/../" out of a path, in place. */
void path_normalize(char *path);

#endif
