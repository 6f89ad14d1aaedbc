/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a program runs its blocks have room to grow and stack nodes are fixed
 * slots that threads fill without waiting for each other.  Both cost space that
 * is worth nothing afterwards: a raw node takes 16 bytes, a packed one 2 to 3.
 *
 * Stack nodes: within a block a pc that occurred before is named by its
 * distance in the list of new ones, so each block can be read by itself.  The
 * blocks go out in the order of ids, which brings parents before children and
 * joins pieces that different threads wrote.  A block's nodes have one epoch;
 * a slot that is not in use costs a byte, a long run of them ends the block.
 *
 * The input is mapped, the output goes through one buffer to a new file.  A trace whose blocks are
 * all but full stays where it is: they are sealed, each with its checksum, and the file ends behind
 * the last one.
 */
#include "launch/run/pack.h"

#include "base/file_map.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "format/checksum.h"
#include "format/format.h"
#include "format/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	OUT_SIZE = 256 * 1024,
	PAYLOAD_MAX = 64 * 1024,   /* of a packed block */
	NODE_MAX = 2 * VARINT_MAX, /* bytes of one packed node */
	RUN_MAX = 40,		   /* unused slots that a new block would cost less than */
	DICT_MAX = 64 * 1024, /* slots; a new pc takes 3 bytes, so a block has a third as many */
	GAPS_WORTH = 16,      /* a part of the file: gaps that are smaller stay */
	SMALL = 64 * 1024,    /* a file of a process that ended soon: to read it is cheaper */
};

struct input {
	const uint8_t *data;
	size_t size;
	size_t header_size;
	bool is_mapped;
};

/* A block of the input, in use. */
struct piece {
	const struct format_block_header *header;
	const uint8_t *payload;
};

struct pieces {
	struct piece *items;
	size_t count;
	size_t capacity;
};

struct output {
	int fd;
	uint8_t *buffer;
	size_t used;
	uint64_t written;
	int error; /* errno of the first failure; nothing is written after it */
};

static void out_flush(struct output *out)
{
	for (size_t done = 0; done < out->used && !out->error;) {
		ssize_t size = write(out->fd, out->buffer + done, out->used - done);

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			out->error = errno;
		else
			done += (size_t)size;
	}
	out->used = 0;
}

static void out_add(struct output *out, const void *data, size_t size)
{
	const uint8_t *from = data;

	out->written += size;
	while (size) {
		size_t room = OUT_SIZE - out->used;
		size_t part = size < room ? size : room;

		memcpy(out->buffer + out->used, from, part);
		out->used += part;
		from += part;
		size -= part;
		if (out->used == OUT_SIZE)
			out_flush(out);
	}
}

static size_t round_up(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void out_block(struct output *out, struct format_block_header header, const void *payload)
{
	static const uint8_t zeros[8];
	size_t whole = round_up(header.used);

	header.size = (uint32_t)(sizeof(header) + whole);
	header.checksum = format_checksum(&header, payload);
	out_add(out, &header, sizeof(header));
	out_add(out, payload, header.used);
	out_add(out, zeros, whole - header.used);
}

/* The file's header without the room after its text. */
static void out_file_header(struct output *out, const struct input *in)
{
	static const uint8_t zeros[8];
	struct format_file_header header;
	const char *text = (const char *)in->data + sizeof(header);
	size_t length = strnlen(text, in->header_size - sizeof(header));

	memcpy(&header, in->data, sizeof(header));
	header.header_size = (uint32_t)(sizeof(header) + round_up(length));
	out_add(out, &header, sizeof(header));
	out_add(out, text, length);
	out_add(out, zeros, round_up(length) - length);
}

static bool check_file_header(struct input *in)
{
	struct format_file_header header;

	if (in->size < sizeof(header))
		return false;
	memcpy(&header, in->data, sizeof(header));
	in->header_size = header.header_size;
	return !memcmp(header.magic, FORMAT_FILE_MAGIC, sizeof(header.magic)) &&
	       header.version == FORMAT_VERSION && header.header_size % 8 == 0 &&
	       header.header_size >= sizeof(header) && header.header_size <= in->size;
}

/* Room set aside and not begun must be zero, or there is something we do not know. */
static bool is_zero(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

/* A block that was packed before gets a new checksum, which must not hide that it is damaged. */
static bool checksum_holds(const struct format_block_header *block)
{
	return !block->checksum || block->checksum == format_checksum(block, block + 1);
}

/* Lists the blocks in use; false if the file breaks the format. */
static bool find_pieces(const struct input *in, struct pieces *pieces)
{
	size_t at = in->header_size;

	while (at < in->size) {
		const struct format_block_header *block = (const void *)(in->data + at);
		size_t left = in->size - at;

		if (left < sizeof(*block) || block->magic != FORMAT_BLOCK_MAGIC) {
			if (!is_zero(in->data + at, left < sizeof(*block) ? left : sizeof(*block)))
				return false;
			at = (at / FORMAT_BLOCK_ALIGN + 1) * FORMAT_BLOCK_ALIGN;
			continue;
		}
		if (block->size < sizeof(*block) || block->size % 8 || block->size > left ||
		    block->used > block->size - sizeof(*block) || !checksum_holds(block))
			return false;
		if (block->used || block->dropped) {
			struct piece *piece = vec_push(pieces);

			piece->header = block;
			piece->payload = (const uint8_t *)(block + 1);
		}
		at += block->size;
	}
	return true;
}

/* Room that was set aside and not written to is zero without being read. */
static bool read_small(int fd, struct input *in)
{
	off_t hole = lseek(fd, 0, SEEK_HOLE);
	bool ends = hole >= 0 && lseek(fd, hole, SEEK_DATA) < 0 && errno == ENXIO;
	size_t used = ends && (size_t)hole < in->size ? (size_t)hole : in->size;
	uint8_t *data = xcalloc(1, in->size);
	ssize_t got = pread(fd, data, used, 0);

	in->data = data;
	return got == (ssize_t)used;
}

static void close_input(struct input *in)
{
	int error = errno;

	if (in->is_mapped)
		munmap((void *)(uintptr_t)in->data, in->size);
	else
		free((void *)(uintptr_t)in->data);
	errno = error;
}

static bool read_input(int fd, const struct stat *info, struct input *in)
{
	if (info->st_size <= SMALL) {
		in->size = (size_t)info->st_size;
		return read_small(fd, in);
	}
	struct file_map map = file_map(fd, info);

	*in = (struct input){.data = map.data, .size = map.size, .is_mapped = map.data};
	return map.data;
}

static enum pack_result open_input(int folder, const char *path, struct input *in, mode_t *mode)
{
	struct stat st;
	int fd = folder_open_file(folder, path, O_RDONLY, 0);

	*in = (struct input){0};
	if (fd < 0)
		return errno == ENOENT ? PACK_ABSENT : PACK_FAILED;
	enum pack_result result = fstat(fd, &st) ? PACK_FAILED : PACK_DONE;

	if (result == PACK_DONE && !st.st_size)
		result = PACK_ABSENT;
	*mode = st.st_mode & 0777;
	if (result == PACK_DONE && !read_input(fd, &st, in)) {
		close_input(in);
		result = PACK_FAILED;
	}
	close(fd);
	return result;
}

/*
 * As a file is whose process was killed after its room was set aside, and before it had a header:
 * nothing was ever in it.  If something should be, readers see that from the log.
 */
static bool is_blank(const struct input *in)
{
	return is_zero(in->data, in->size);
}

/* Writes what `fill` makes of the pieces to a new file, and puts it in the old one's place. */
static enum pack_result write_output(int folder, const char *path, const struct input *in,
				     const struct pieces *pieces, mode_t mode,
				     bool (*fill)(struct output *, const struct pieces *),
				     uint64_t *written)
{
	char *temporary = xasprintf("%s.tmp", path);
	struct output out = {
		.fd = folder_open_file(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC, mode)};
	enum pack_result result = PACK_DONE;

	if (out.fd < 0) {
		free(temporary);
		return PACK_FAILED;
	}
	out.buffer = xmalloc(OUT_SIZE);
	out_file_header(&out, in);
	if (!fill(&out, pieces))
		result = PACK_DAMAGED;
	else
		out_flush(&out);
	if (close(out.fd) && !out.error)
		out.error = errno;
	if (result == PACK_DONE && !out.error && renameat(folder, temporary, folder, path))
		out.error = errno;
	if (result != PACK_DONE || out.error)
		unlinkat(folder, temporary, 0);
	if (result == PACK_DONE && out.error)
		result = PACK_FAILED;
	*written = out.written;
	free(out.buffer);
	free(temporary);
	errno = out.error;
	return result;
}

/* Where a file ends whose blocks are as good as full; 0: it is worth while to write a new one. */
static uint64_t end_if_full(const struct input *in, const struct pieces *pieces)
{
	uint64_t payload = 0, end = 0;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct format_block_header *header = pieces->items[i].header;

		payload += sizeof(*header) + round_up(header->used);
		end = (uint64_t)((const uint8_t *)header - in->data) + header->size;
	}
	return end && end - payload <= end / GAPS_WORTH ? end : 0;
}

static bool write_checksum(int fd, const struct input *in, const struct piece *piece)
{
	uint32_t checksum = format_checksum(piece->header, piece->payload);
	off_t at = (const uint8_t *)&piece->header->checksum - in->data;

	return checksum == piece->header->checksum ||
	       pwrite(fd, &checksum, sizeof(checksum), at) == (ssize_t)sizeof(checksum);
}

/* Seals the blocks in their places and cuts off what is behind `end`. */
static enum pack_result seal(int folder, const char *path, const struct input *in,
			     const struct pieces *pieces, uint64_t end)
{
	int fd = folder_open_file(folder, path, O_WRONLY, 0);
	bool ok = fd >= 0;

	for (size_t i = 0; ok && i < pieces->count; i++)
		ok = write_checksum(fd, in, &pieces->items[i]);
	if (ok && end < in->size)
		ok = !ftruncate(fd, (off_t)end);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return ok ? PACK_DONE : PACK_FAILED;
}

/* may_stay: where that is as good, in its place. */
static enum pack_result pack(int folder, const char *path,
			     bool (*fill)(struct output *, const struct pieces *), bool may_stay,
			     uint64_t *before, uint64_t *after)
{
	struct input in;
	struct pieces pieces = {0};
	mode_t mode = 0;
	uint64_t written = 0;
	enum pack_result result = open_input(folder, path, &in, &mode);

	if (result != PACK_DONE)
		return result;
	if (is_blank(&in)) {
		result = PACK_ABSENT;
	} else if (!check_file_header(&in) || !find_pieces(&in, &pieces)) {
		result = PACK_DAMAGED;
	} else {
		written = may_stay ? end_if_full(&in, &pieces) : 0;
		result = written ? seal(folder, path, &in, &pieces, written)
				 : write_output(folder, path, &in, &pieces, mode, fill, &written);
	}
	*before += in.size;
	*after += result == PACK_DONE ? written : in.size;
	vec_fini(&pieces);
	close_input(&in);
	return result;
}

static bool fill_blocks(struct output *out, const struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		out_block(out, *pieces->items[i].header, pieces->items[i].payload);
	return true;
}

/* The packed block under construction, and the pcs that it has named. */
struct packer {
	struct output *out;
	struct format_block_header header;
	uint32_t next; /* the id that would follow without a gap */
	uint8_t *payload;
	size_t used;
	uint64_t last_pc;
	uint32_t pcs;
	struct pc_slot {
		uint64_t pc;
		uint32_t block; /* this slot belongs to the block with this number */
		uint32_t index;
	} * dict;
	size_t dict_mask;
	uint32_t block;
};

static void packer_flush(struct packer *packer)
{
	if (packer->header.count || packer->header.dropped) {
		packer->header.used = (uint32_t)packer->used;
		out_block(packer->out, packer->header, packer->payload);
	}
	packer->header = (struct format_block_header){.magic = FORMAT_BLOCK_MAGIC,
						      .encoding = FORMAT_NODES_PACKED};
	packer->used = 0;
	packer->last_pc = 0;
	packer->pcs = 0;
	packer->block++;
}

static void packer_begin(struct packer *packer, uint32_t id, uint32_t epoch)
{
	packer_flush(packer);
	packer->header.first = id;
	packer->header.epoch = (uint16_t)epoch;
	packer->next = id;
}

/* The pc's number in this block's list of new ones; adds it if it is new. */
static bool packer_find_pc(struct packer *packer, uint64_t pc, uint32_t *index)
{
	size_t at = hash_u64(pc) & packer->dict_mask;

	while (packer->dict[at].block == packer->block && packer->dict[at].pc != pc)
		at = (at + 1) & packer->dict_mask;
	struct pc_slot *slot = &packer->dict[at];
	bool known = slot->block == packer->block;

	if (!known)
		*slot = (struct pc_slot){.pc = pc, .block = packer->block, .index = packer->pcs++};
	*index = slot->index;
	return known;
}

static void packer_add(struct packer *packer, uint32_t id, const struct format_node *node)
{
	uint8_t *out = packer->payload + packer->used;
	uint32_t index;

	out = varint_put(out, id - node->parent);
	if (packer_find_pc(packer, node->pc, &index)) {
		out = varint_put(out, packer->pcs - index);
	} else {
		*out++ = 0;
		out = varint_put(out, zigzag_encode((int64_t)(node->pc - packer->last_pc)));
		packer->last_pc = node->pc;
	}
	packer->used = (size_t)(out - packer->payload);
	packer->header.count++;
	packer->next = id + 1;
}

/* Makes the open block end just before id, or begins another one there. */
static void packer_seek(struct packer *packer, uint32_t id, uint32_t epoch)
{
	bool fits = packer->header.count && packer->header.epoch == epoch && id >= packer->next &&
		    id - packer->next <= RUN_MAX &&
		    packer->used + RUN_MAX + NODE_MAX <= PAYLOAD_MAX;

	if (!fits) {
		packer_begin(packer, id, epoch);
		return;
	}
	for (; packer->next < id; packer->next++) {
		packer->payload[packer->used++] = 0;
		packer->header.count++;
	}
}

/* False for a node that breaks the format, or whose epoch a packed block cannot hold. */
static bool pack_raw(struct packer *packer, const struct piece *piece)
{
	const struct format_node *nodes = (const void *)piece->payload;
	size_t count = piece->header->used / sizeof(*nodes);

	if (piece->header->first + (uint64_t)count > UINT32_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t id = piece->header->first + (uint32_t)i;

		if (!nodes[i].pc)
			continue;
		if (nodes[i].parent >= id || nodes[i].epoch > UINT16_MAX)
			return false;
		packer_seek(packer, id, nodes[i].epoch);
		packer_add(packer, id, &nodes[i]);
	}
	packer->header.dropped += piece->header->dropped;
	return true;
}

static int by_first_id(const void *a, const void *b)
{
	const struct piece *left = a;
	const struct piece *right = b;

	return (left->header->first > right->header->first) -
	       (left->header->first < right->header->first);
}

/* A small experiment, of which a run may have thousands, shall not pay for a large table. */
static size_t dict_slots(const struct pieces *pieces)
{
	size_t slots = 64;
	size_t nodes = 0;

	for (size_t i = 0; i < pieces->count; i++)
		nodes += pieces->items[i].header->used / sizeof(struct format_node);
	while (slots < 2 * nodes && slots < DICT_MAX)
		slots *= 2;
	return slots;
}

static bool fill_stacks(struct output *out, const struct pieces *pieces)
{
	struct packer packer = {.out = out};
	bool ok = true;

	if (!pieces->count)
		return true;
	qsort(pieces->items, pieces->count, sizeof(*pieces->items), by_first_id);
	packer.payload = xmalloc(PAYLOAD_MAX);
	packer.dict_mask = dict_slots(pieces) - 1;
	packer.dict = xcalloc(packer.dict_mask + 1, sizeof(*packer.dict));
	packer_flush(&packer);
	for (size_t i = 0; ok && i < pieces->count; i++) {
		const struct piece *piece = &pieces->items[i];

		if (piece->header->encoding == FORMAT_NODES_RAW) {
			ok = pack_raw(&packer, piece);
		} else if (piece->header->encoding == FORMAT_NODES_PACKED) {
			packer_flush(&packer);
			out_block(out, *piece->header, piece->payload);
		} else {
			ok = false;
		}
	}
	packer_flush(&packer);
	free(packer.dict);
	free(packer.payload);
	return ok;
}

enum pack_result pack_blocks(int folder, const char *path, uint64_t *before, uint64_t *after)
{
	return pack(folder, path, fill_blocks, false, before, after);
}

enum pack_result pack_traces(int folder, const char *path, uint64_t *before, uint64_t *after)
{
	return pack(folder, path, fill_blocks, true, before, after);
}

enum pack_result pack_stacks(int folder, const char *path, uint64_t *before, uint64_t *after)
{
	return pack(folder, path, fill_stacks, false, before, after);
}
