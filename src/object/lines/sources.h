/* SPDX-License-Identifier: Apache-2.0 */
/* The source files that an object's line tables name, and what compilers recorded of them. */
#ifndef HELIO_OBJECT_SOURCES_H
#define HELIO_OBJECT_SOURCES_H

#include "base/hash.h"

/*
 * Adds absolute paths to the table: of all files in the line tables, or, with
 * addresses (ELF addresses, sorted), of those only whose lines hold one.
 * The path is that of the object or of its separate debug file; without line
 * tables nothing is added.  Records of the compilers' optimisations (remarks.h) that lie
 * where these sources were compiled, beside them or beside the object, are added too.
 */
void object_sources(const char *path, const uint64_t *addresses, size_t count,
		    struct string_table *paths);

#endif
