/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names under which an experiment keeps copies in archives/.  Two files of
 * one name get two copies, because what makes them different is in the name;
 * where only their content does, the second one's name has more.
 */
#ifndef HELIO_FORMAT_ARCHIVE_H
#define HELIO_FORMAT_ARCHIVE_H

#include "format/checksum.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FORMAT_ARCHIVE_SOURCES	"sources" /* in archives/: sources under their absolute paths */
#define FORMAT_FILE_ARCHIVE_LOG "archive.log"
/* Its lines: Copying 'FROM' to 'TO', and FROM cannot be copied to TO: REASON. */
#define FORMAT_ARCHIVE_COPYING	  "Copying '"
#define FORMAT_ARCHIVE_TO	  "' to '"
#define FORMAT_ARCHIVE_NOT_COPIED " cannot be copied to "

/*
 * A load object's: NAME.BUILDID, or NAME.MTIME-SIZE (s and bytes, decimal)
 * where it has no build-id ("" or NULL).  False: it does not fit.
 */
static inline bool format_archive_name(char *name, size_t room, const char *path,
				       const char *build_id, uint64_t mtime, uint64_t size)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash && slash[1] ? slash + 1 : path;
	int length = build_id && *build_id
			     ? snprintf(name, room, "%s.%s", base, build_id)
			     : snprintf(name, room, "%s.%" PRIu64 "-%" PRIu64, base, mtime, size);

	return length > 0 && (size_t)length < room;
}

/*
 * The second one's of two files with the same first name whose content differs (one of them is
 * stripped, or lies): FIRST.SUM, 16 hexadecimal digits over its path, date and size.
 */
static inline bool format_archive_second_name(char *name, size_t room, const char *path,
					      const char *build_id, uint64_t mtime, uint64_t size)
{
	const uint64_t numbers[] = {mtime, size};
	uint64_t sum = checksum_add(checksum_add(0, path, strlen(path)), numbers, sizeof(numbers));

	if (!format_archive_name(name, room, path, build_id, mtime, size))
		return false;
	size_t length = strlen(name);
	int added = snprintf(name + length, room - length, ".%016" PRIx64, sum);

	return added > 0 && (size_t)added < room - length;
}

#endif
