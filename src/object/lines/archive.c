/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zip format (APPNOTE.TXT), as far as Java's archives go: at the end of the file is a record
 * that says where its directory is, and each entry of that where a file is; files are stored as
 * they are, or by deflate.  Archives beyond 4 GB or 65,535 files (zip64) are not read.
 */
#include "object/lines/archive.h"

#include "base/memory.h"
#include "base/path.h"
#include "object/elf/file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
	END_SIZE = 22,
	END_MAGIC = 0x06054b50,
	COMMENT_MAX = 65535,
	ENTRY_SIZE = 46,
	ENTRY_MAGIC = 0x02014b50,
	FILE_SIZE = 30,
	FILE_MAGIC = 0x04034b50,
	STORED = 0,
	DEFLATED = 8,
	DIRECTORY_LIMIT = 64 << 20,
	FILE_LIMIT = 4 << 20, /* bytes of a source, from however few */
	/* … that nothing could be saved of: a few bytes for each block that is as it was */
	PACKED_LIMIT = FILE_LIMIT + FILE_LIMIT / 1000 + 64,
	RATIO_MAX = 1032, /* of deflate */
};

struct archive {
	int fd;
	uint64_t size;
	uint8_t *directory;
	size_t directory_size;
};

/* An entry of the directory. */
struct entry {
	const char *name;
	size_t name_length;
	unsigned way;
	uint32_t packed, size, at;
};

static uint32_t number_at(const uint8_t *bytes, unsigned size)
{
	uint32_t number = 0;

	while (size--)
		number = number << 8 | bytes[size];
	return number;
}

static bool read_at(const struct archive *archive, void *to, size_t size, uint64_t at)
{
	return at <= archive->size && size <= archive->size - at &&
	       pread(archive->fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Where the directory is, from the last record of its kind, which a comment may follow. */
static bool find_directory(const struct archive *archive, uint64_t *at, uint32_t *size)
{
	size_t room = END_SIZE + COMMENT_MAX;
	size_t length = archive->size < room ? (size_t)archive->size : room;
	uint8_t *tail = xmalloc(length + 1);
	bool found = false;

	if (length >= END_SIZE && read_at(archive, tail, length, archive->size - length))
		for (size_t i = length - END_SIZE + 1; i-- && !found;)
			if (number_at(tail + i, 4) == END_MAGIC &&
			    i + END_SIZE + number_at(tail + i + 20, 2) == length) {
				*size = number_at(tail + i + 12, 4);
				*at = number_at(tail + i + 16, 4);
				found = true;
			}
	free(tail);
	return found;
}

static void archive_close(struct archive *archive)
{
	free(archive->directory);
	close(archive->fd);
}

static bool archive_open(struct archive *archive, const char *path)
{
	struct stat info;
	uint64_t at;
	uint32_t size;

	*archive = (struct archive){.fd = -1};
	if (file_open_regular(path, &archive->fd, &info))
		return false;
	archive->size = (uint64_t)info.st_size;
	if (find_directory(archive, &at, &size) && size <= DIRECTORY_LIMIT &&
	    size <= archive->size) {
		archive->directory = xmalloc(size + 1);
		archive->directory_size = size;
		if (read_at(archive, archive->directory, size, at))
			return true;
	}
	archive_close(archive);
	return false;
}

/* The entry at *at of the directory, which becomes the place of the next one; false: the end. */
static bool next_entry(const struct archive *archive, size_t *at, struct entry *out)
{
	const uint8_t *bytes = archive->directory + *at;
	size_t left = archive->directory_size - *at;

	if (left < ENTRY_SIZE || number_at(bytes, 4) != ENTRY_MAGIC)
		return false;
	*out = (struct entry){
		.name = (const char *)bytes + ENTRY_SIZE,
		.name_length = number_at(bytes + 28, 2),
		.way = number_at(bytes + 10, 2),
		.packed = number_at(bytes + 20, 4),
		.size = number_at(bytes + 24, 4),
		.at = number_at(bytes + 42, 4),
	};
	size_t size =
		ENTRY_SIZE + out->name_length + number_at(bytes + 30, 2) + number_at(bytes + 32, 2);

	if (size > left)
		return false;
	*at += size;
	return true;
}

/* Of a module: one directory more in front. */
static bool is_file(const struct entry *entry, const char *file, size_t length)
{
	size_t before = entry->name_length - length;

	if (entry->name_length < length || memcmp(entry->name + before, file, length) != 0)
		return false;
	return !before ||
	       (before > 1 && memchr(entry->name, '/', before) == entry->name + before - 1);
}

char *archive_find(const char *path, const char *file)
{
	struct archive archive;
	struct entry entry;
	char *found = NULL;

	if (!*file || !archive_open(&archive, path))
		return NULL;
	for (size_t at = 0; !found && next_entry(&archive, &at, &entry);)
		if (is_file(&entry, file, strlen(file)))
			found = xstrndup(entry.name, entry.name_length);
	archive_close(&archive);
	return found;
}

static bool inflate_file(uint8_t *packed, size_t packed_size, char *out, size_t size)
{
	z_stream stream = {.next_in = packed,
			   .avail_in = (uInt)packed_size,
			   .next_out = (Bytef *)out,
			   .avail_out = (uInt)size};

	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return false;
	bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && !stream.avail_out;

	inflateEnd(&stream);
	return whole;
}

/* In front of the bytes the name stands once more, and more that may be longer than before. */
static bool read_packed(const struct archive *archive, const struct entry *entry, uint8_t *out)
{
	uint8_t head[FILE_SIZE];

	if (!read_at(archive, head, sizeof(head), entry->at) || number_at(head, 4) != FILE_MAGIC)
		return false;
	return read_at(archive, out, entry->packed,
		       (uint64_t)entry->at + FILE_SIZE + number_at(head + 26, 2) +
			       number_at(head + 28, 2));
}

static char *read_entry(const struct archive *archive, const struct entry *entry)
{
	bool is_stored = entry->way == STORED;

	if ((!is_stored && entry->way != DEFLATED) || entry->size > FILE_LIMIT ||
	    entry->packed > archive->size || entry->packed > PACKED_LIMIT ||
	    entry->size / RATIO_MAX > entry->packed || (is_stored && entry->packed != entry->size))
		return NULL;
	uint8_t *packed = xmalloc((size_t)entry->packed + 1);
	char *out = xmalloc((size_t)entry->size + 1);
	bool whole = read_packed(archive, entry, packed);

	if (whole && is_stored)
		memcpy(out, packed, entry->size);
	else if (whole)
		whole = inflate_file(packed, entry->packed, out, entry->size);
	free(packed);
	out[entry->size] = '\0';
	if (whole)
		return out;
	free(out);
	return NULL;
}

char *archive_read(const char *path, const char *name, size_t *size)
{
	struct archive archive;
	struct entry entry;
	char *found = NULL;

	if (!archive_open(&archive, path))
		return NULL;
	for (size_t at = 0; !found && next_entry(&archive, &at, &entry);) {
		if (entry.name_length != strlen(name) ||
		    memcmp(entry.name, name, entry.name_length) != 0)
			continue;
		found = read_entry(&archive, &entry);
		*size = entry.size;
	}
	archive_close(&archive);
	return found;
}

bool archive_is_named(const char *path)
{
	return path_ends_with(path, ".jar") || path_ends_with(path, ".zip");
}
