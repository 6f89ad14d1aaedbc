/* SPDX-License-Identifier: Apache-2.0 */
/* Files in archives of the zip format: Java's, with sources of programs and of the JDK. */
#ifndef HELIO_OBJECT_ARCHIVE_H
#define HELIO_OBJECT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands between the name of an archive and that of a file in it: "src.zip!/java.base/A.java".
 */
#define ARCHIVE_SEPARATOR "!/"

/* Whether a name is that of such an archive. */
bool archive_is_named(const char *path);
/*
 * The name that a file has in an archive, to be freed: "pkg/A.java", or below a module,
 * "java.base/pkg/A.java".  NULL: it has none, or is damaged.
 */
char *archive_find(const char *path, const char *file);
/*
 * The bytes of a file by its name there, to be freed, with a NUL behind them; NULL: it has no such
 * file, or is damaged, or the file is larger than sources are (4 MB).
 */
char *archive_read(const char *path, const char *name, size_t *size);

#endif
