/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/gprofng/gprofng.h"

#include <string.h>

enum {
	CHUNK_SIZE = 16384,
	HEAD_SIZE = 2 * sizeof(uint16_t),
	PACKET_GRAIN = 4,
	KIND_EMPTY = 0,
	KIND_CLOSED = UINT16_MAX,
};

enum file_state gprofng_file_open(struct gprofng_file *file, const struct read_context *context,
				  const char *name)
{
	*file = (struct gprofng_file){.name = name};
	return block_file_open_plain(&file->file, context, name);
}

/* To the next chunk, beyond a hole of any size. */
static bool skip_chunk(struct block_file *file)
{
	file->offset = (file->offset / CHUNK_SIZE + 1) * CHUNK_SIZE;
	if (!block_file_skip_hole(file))
		return false;
	file->offset -= file->offset % CHUNK_SIZE;
	return true;
}

/* The packet at the offset; false: there is none. */
static bool read_packet(struct gprofng_file *file, struct gprofng_packet *packet)
{
	uint16_t head[2] = {0};
	size_t available;
	const uint8_t *data =
		block_file_fetch(&file->file, file->file.offset, HEAD_SIZE, &available);

	memcpy(head, data, available);
	if (!head[0])
		return false;
	data = block_file_fetch(&file->file, file->file.offset, head[0], &available);
	if (head[0] < HEAD_SIZE || head[0] % PACKET_GRAIN || available < head[0]) {
		file->damaged += CHUNK_SIZE - file->file.offset % CHUNK_SIZE;
		return false;
	}
	*packet = (struct gprofng_packet){.kind = head[1], .size = head[0], .data = data};
	return true;
}

bool gprofng_file_next(struct gprofng_file *file, struct gprofng_packet *packet)
{
	while (file->file.offset < file->file.size) {
		if (!read_packet(file, packet)) {
			if (!skip_chunk(&file->file))
				return false;
			continue;
		}
		file->file.offset += packet->size;
		if (packet->kind != KIND_EMPTY && packet->kind != KIND_CLOSED)
			return true;
	}
	return false;
}

void gprofng_file_close(struct gprofng_file *file, const struct read_context *context)
{
	if (file->damaged)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s is damaged: up to %llu of its bytes could not be read; what they "
			 "held is missing",
			 context->name, file->name, (unsigned long long)file->damaged);
	block_file_close(&file->file);
}

uint64_t gprofng_value(const struct gprofng_layout *layout, const struct gprofng_packet *packet,
		       enum gprofng_property property)
{
	const struct gprofng_field *field = &layout->fields[property];
	uint32_t narrow = 0;
	uint64_t wide = 0;

	if (field->size == sizeof(wide) && field->offset + sizeof(wide) <= packet->size) {
		memcpy(&wide, packet->data + field->offset, sizeof(wide));
	} else if (field->size == sizeof(narrow) &&
		   field->offset + sizeof(narrow) <= packet->size) {
		memcpy(&narrow, packet->data + field->offset, sizeof(narrow));
		wide = narrow;
	}
	return wide;
}

int32_t gprofng_signed(const struct gprofng_layout *layout, const struct gprofng_packet *packet,
		       enum gprofng_property property)
{
	return (int32_t)(uint32_t)gprofng_value(layout, packet, property);
}

const char *gprofng_text(const struct gprofng_layout *layout, const struct gprofng_packet *packet,
			 enum gprofng_property property, struct arena *arena)
{
	const struct gprofng_field *field = &layout->fields[property];

	if (field->size != GPROFNG_TEXT || field->offset >= packet->size)
		return NULL;

	const char *text = (const char *)packet->data + field->offset;
	size_t length = strnlen(text, packet->size - field->offset);

	return length ? arena_strndup(arena, text, length) : NULL;
}
