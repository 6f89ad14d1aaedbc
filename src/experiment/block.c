/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of an intact file follow each other; in a running experiment they lie
 * at multiples of FORMAT_BLOCK_ALIGN with zeros between.  Both are the same to
 * this reader: after a block comes the next one, zeros are passed over, and in
 * anything else it looks at every multiple of 8 (all blocks begin at one) for a
 * header that makes sense.
 */
#include "experiment/block.h"

#include "base/folder.h"
#include "base/memory.h"
#include "format/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WINDOW_SIZE = 1 << 20,
	BLOCK_SIZE_MAX = 256 << 20, /* a larger size is damage, not a block */
	HEADER_SIZE_MAX = 1 << 20,
	BLOCK_GRAIN = 8,
};

static void check_header(struct block_file *file, const struct read_context *context,
			 const char *name, const struct format_file_header *header)
{
	uint32_t size = header->header_size;
	bool size_ok =
		size >= sizeof(*header) && size <= HEADER_SIZE_MAX && size % BLOCK_GRAIN == 0;
	char kind[sizeof(header->kind) + 1] = {0};

	memcpy(kind, header->kind, sizeof(header->kind));
	file->offset = size_ok ? size : sizeof(*header);
	if (!size_ok || strcmp(kind, name))
		diag_add(context->diags, DIAG_WARNING,
			 "%s: the header of %s is damaged; what follows it is read as far as "
			 "possible",
			 context->name, name);
}

/*
 * As a file is that was created, and perhaps given its size, when the process
 * was killed.  Whether it should hold something is told by the log and by what
 * the other files refer to.
 */
static bool is_blank(struct block_file *file)
{
	static const uint8_t zeros[sizeof(struct format_file_header)];
	size_t available;
	const uint8_t *data = block_file_fetch(file, 0, sizeof(zeros), &available);

	return !file->size || (available == sizeof(zeros) && !memcmp(data, zeros, sizeof(zeros)));
}

/* Reads the file header; false: this file cannot be used. */
static bool read_header(struct block_file *file, const struct read_context *context,
			const char *name)
{
	size_t available;
	const uint8_t *data =
		block_file_fetch(file, 0, sizeof(struct format_file_header), &available);
	struct format_file_header header = {0};

	memcpy(&header, data, available);
	if (available < sizeof(header)) {
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s is cut off in its header; the data it held is missing",
			 context->name, name);
		return false;
	}
	if (memcmp(header.magic, FORMAT_FILE_MAGIC, sizeof(header.magic))) {
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s does not begin like a file of this kind and is left out",
			 context->name, name);
		return false;
	}
	if (header.version != FORMAT_VERSION) {
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s has format version %u, this program reads version %u; it is left "
			 "out",
			 context->name, name, header.version, FORMAT_VERSION);
		return false;
	}
	check_header(file, context, name, &header);
	return true;
}

int read_context_open(const struct read_context *context, const char *name)
{
	char *path = xasprintf("%s/%s", context->directory, name);
	int fd = folder_open_file(context->folder, path, O_RDONLY, 0);

	free(path);
	return fd;
}

const char *read_context_error(int error)
{
	return error == EINVAL || error == ELOOP ? "not a regular file" : strerror(error);
}

enum file_state block_file_open_plain(struct block_file *file, const struct read_context *context,
				      const char *name)
{
	struct stat info;

	*file = (struct block_file){.fd = read_context_open(context, name)};
	if (file->fd < 0 && errno == ENOENT)
		return FILE_MISSING;
	if (file->fd < 0 || fstat(file->fd, &info)) {
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s cannot be read (%s); the data it holds is missing", context->name,
			 name, read_context_error(errno));
		block_file_close(file);
		return FILE_UNUSABLE;
	}
	file->size = (uint64_t)info.st_size;
	return FILE_USABLE;
}

enum file_state block_file_open(struct block_file *file, const struct read_context *context,
				const char *name, unsigned encodings)
{
	enum file_state state = block_file_open_plain(file, context, name);

	if (state != FILE_USABLE)
		return state;
	file->encodings = encodings;
	if (is_blank(file)) {
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s holds nothing, as if the process had been killed when it made it",
			 context->name, name);
		block_file_close(file);
		return FILE_BLANK;
	}
	if (!read_header(file, context, name)) {
		block_file_close(file);
		return FILE_UNUSABLE;
	}
	return FILE_USABLE;
}

void block_file_close(struct block_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->window);
	file->window = NULL;
	file->fd = -1;
}

static void fill_window(struct block_file *file, uint64_t offset, size_t length)
{
	size_t wanted = length > WINDOW_SIZE ? length : WINDOW_SIZE;

	if (file->size - offset < wanted)
		wanted = (size_t)(file->size - offset);
	if (wanted > file->window_capacity) {
		free(file->window);
		file->window = xmalloc(wanted);
		file->window_capacity = wanted;
	}
	file->window_start = offset;
	file->window_length = 0;
	while (file->window_length < wanted) {
		ssize_t got =
			pread(file->fd, file->window + file->window_length,
			      wanted - file->window_length, (off_t)(offset + file->window_length));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		file->window_length += (size_t)got;
	}
}

const uint8_t *block_file_fetch(struct block_file *file, uint64_t offset, size_t length,
				size_t *available)
{
	static const uint8_t nothing[1];

	*available = 0;
	if (offset >= file->size)
		return nothing;
	if (length > file->size - offset)
		length = (size_t)(file->size - offset);
	if (offset < file->window_start ||
	    offset + length > file->window_start + file->window_length)
		fill_window(file, offset, length);

	size_t skip = (size_t)(offset - file->window_start);

	if (skip >= file->window_length)
		return nothing;
	*available = file->window_length - skip < length ? file->window_length - skip : length;
	return file->window + skip;
}

/* Whether a block could begin with this header. */
static bool header_plausible(const struct block_file *file, const uint8_t *data)
{
	struct format_block_header header;

	memcpy(&header, data, sizeof(header));
	return header.magic == FORMAT_BLOCK_MAGIC && header.size >= sizeof(header) &&
	       header.size % BLOCK_GRAIN == 0 && header.size <= BLOCK_SIZE_MAX &&
	       header.used <= header.size - sizeof(header) && header.encoding < 32 &&
	       (file->encodings >> header.encoding & 1);
}

/* Looks for a header in the window; returns how far the file is passed over, *found if one is
 * there. */
static size_t scan(struct block_file *file, const uint8_t *data, size_t length, bool *found)
{
	size_t i;

	for (i = 0; i + sizeof(struct format_block_header) <= length; i += BLOCK_GRAIN) {
		uint64_t word;

		memcpy(&word, data + i, sizeof(word));
		if (!word)
			continue;
		if ((uint32_t)word == FORMAT_BLOCK_MAGIC && header_plausible(file, data + i)) {
			*found = true;
			return i;
		}
		file->skipped += BLOCK_GRAIN;
	}
	return i;
}

bool block_file_skip_hole(struct block_file *file)
{
	off_t next = lseek(file->fd, (off_t)file->offset, SEEK_DATA);

	if (next > (off_t)file->offset)
		file->offset = (uint64_t)next & ~(uint64_t)(BLOCK_GRAIN - 1);
	return next >= 0 || errno != ENXIO;
}

/* Moves to the next block header; false at the end of the file. */
static bool find_block(struct block_file *file)
{
	while (file->offset < file->size) {
		size_t available;
		uint64_t before = file->skipped;
		const uint8_t *data =
			block_file_fetch(file, file->offset, WINDOW_SIZE / 2, &available);
		bool found = false;

		if (available < sizeof(struct format_block_header)) {
			for (size_t i = 0; i < available; i++)
				file->skipped += data[i] != 0;
			return false;
		}
		file->offset += scan(file, data, available, &found);
		if (found)
			return true;
		/* all zero: perhaps a hole of any size */
		if (file->skipped == before && !block_file_skip_hole(file))
			return false;
	}
	return false;
}

bool block_file_next(struct block_file *file, struct block *block)
{
	size_t available;

	if (!find_block(file))
		return false;

	const uint8_t *data =
		block_file_fetch(file, file->offset, sizeof(block->header), &available);

	if (available < sizeof(block->header)) /* the file became shorter */
		return false;
	memcpy(&block->header, data, sizeof(block->header));

	size_t length = sizeof(block->header) + block->header.used;

	data = block_file_fetch(file, file->offset, length, &available);
	if (available < sizeof(block->header))
		return false;
	file->cut += available < length;
	file->dropped += block->header.dropped;
	block->data = data + sizeof(block->header);
	block->used = available - sizeof(block->header);
	file->offset += block->header.size;
	file->counts.blocks++;
	file->counts.checked += block->header.checksum != 0;
	file->counts.corrupt +=
		block->header.checksum && available == length &&
		block->header.checksum != format_checksum(&block->header, block->data);
	return true;
}
