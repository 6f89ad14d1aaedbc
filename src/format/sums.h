/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sums`: the size and the checksum of each file that a recording has left, so that damage to any
 * byte is noticed.  Text, a line each: `SIZE CHECKSUM NAME`, the last one `- CHECKSUM -` over all
 * before it.  Written when all is packed; before, from when the log names it, it is SUMS_BEGUN, so
 * that who is killed in between leaves no damage.  `archive.sums` is the same of those copies
 * in archives/ that `sums` does not have, and of archive.log; `sums` has its line.
 */
#ifndef HELIO_FORMAT_SUMS_H
#define HELIO_FORMAT_SUMS_H

#include "base/strbuf.h"
#include "format/checksum.h"
#include "format/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_FILE_SUMS	 "sums"
#define FORMAT_FILE_ARCHIVE_SUMS "archive.sums"
#define FORMAT_EVENT_SUMS	 "sums" /* in the founder's log: there is such a file */
#define SUMS_PIECE		 32768	/* a file is summed in pieces of so many bytes */
#define SUMS_BEGUN		 "- - -\n"

/* A file's line; a name with an end of line has none. */
static inline void sums_add_line(struct strbuf *lines, uint64_t size, uint64_t sum,
				 const char *directory, const char *name)
{
	if (!strchr(name, '\n'))
		strbuf_printf(lines, "%" PRIu64 " %016" PRIx64 " %s%s\n", size, sum, directory,
			      name);
}

/* The last line. */
static inline void sums_add_last(struct strbuf *lines)
{
	uint64_t sum = checksum_add(0, lines->text ? lines->text : "", lines->length);

	strbuf_printf(lines, "- %016" PRIx64 " -\n", sum);
}

/* The name in a line, which ends with a NUL, and what else it tells; NULL: it is none. */
static inline const char *sums_read_line(const char *line, uint64_t *size, uint64_t *sum)
{
	int name = 0;

	if (sscanf(line, "%" SCNu64 " %16" SCNx64 " %n", size, sum, &name) != 2 || !name)
		return NULL;
	return line + name;
}

/*
 * Where the last line begins, which is about those before it; NULL: they are not what was written.
 * There is a NUL behind the text.
 */
static inline char *sums_last_line(char *text, size_t size)
{
	uint64_t sum;
	int end = 0;
	char *last = size && text[size - 1] == '\n' ? memrchr(text, '\n', size - 1) : NULL;

	last = last ? last + 1 : text;
	/* no name has a NUL, behind which no end of a line would be found */
	if (memchr(text, '\0', size) || sscanf(last, "- %16" SCNx64 " -\n%n", &sum, &end) != 1 ||
	    last + end != text + size || sum != checksum_add(0, text, (size_t)(last - text)))
		return NULL;
	return last;
}

/*
 * The size and checksum of an open file, as far as it reaches now: some that claim to be files
 * have no end.  false: it cannot be read (errno).
 */
static inline bool sums_of_file(int fd, uint64_t *size, uint64_t *sum)
{
	_Alignas(uint64_t) char buffer[SUMS_PIECE];
	size_t used = 0;
	ssize_t got = 1;
	struct stat info;

	*size = 0;
	*sum = 0;
	if (fstat(fd, &info))
		return false;
	while (got) {
		uint64_t left = (uint64_t)info.st_size - *size - used;
		size_t room = sizeof(buffer) - used;
		size_t part = left < room ? left : room;

		got = part ? pread(fd, buffer + used, part, (off_t)(*size + used)) : 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		used += (size_t)got;
		if (used < sizeof(buffer) && got)
			continue;
		if (used)
			*sum = checksum_add(*sum, buffer, used);
		*size += used;
		used = 0;
	}
	return true;
}

#endif
