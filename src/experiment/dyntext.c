/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/dyntext.h"

#include <string.h>

/* No function is larger; more is damage. */
#define RECORD_SIZE_MAX (256u << 20)

/* A method of Java has the places of all bytecodes that there may be. */
static bool is_size(const struct map_function *function, uint64_t size)
{
	return size == function->size ||
	       (function->address & FORMAT_PC_JAVA && size < function->size);
}

/* Whether the function's record is where map.xml says, and whole. */
static bool find_record(struct block_file *file, const struct map_function *function,
			struct format_text *header)
{
	size_t available = 0;
	const uint8_t *data = NULL;

	if (function->text < file->size)
		data = block_file_fetch(file, function->text, sizeof(*header), &available);
	if (available < sizeof(*header))
		return false;
	memcpy(header, data, sizeof(*header));

	uint64_t table_size = (uint64_t)header->line_count * sizeof(struct format_line);
	uint64_t room = header->size - sizeof(*header);

	return header->magic == FORMAT_TEXT_MAGIC && header->address == function->address &&
	       is_size(function, header->code_size) && header->size >= sizeof(*header) &&
	       header->size <= RECORD_SIZE_MAX && header->size <= file->size - function->text &&
	       table_size <= room && header->code_size <= room - table_size;
}

static bool copy_record(struct block_file *file, const struct map_function *function,
			const struct format_text *header, struct arena *arena, struct dyntext *out)
{
	size_t table_size = header->line_count * sizeof(struct format_line);
	size_t size = table_size + (size_t)header->code_size;
	size_t available;
	const uint8_t *data =
		block_file_fetch(file, function->text + sizeof(*header), size, &available);

	if (available < size)
		return false;

	uint8_t *copy = arena_alloc(arena, size);

	memcpy(copy, data, size);
	out->lines = (const struct format_line *)(const void *)copy;
	out->line_count = header->line_count;
	out->code = copy + table_size;
	out->code_size = (size_t)header->code_size;
	return true;
}

enum status experiment_dyntext_read(const struct map_function *function, struct arena *arena,
				    struct dyntext *out)
{
	struct diag_list unheard = {0};
	struct read_context context = {function->folder, function->directory, function->name,
				       &unheard, NULL};
	struct block_file file;
	struct format_text header;
	bool whole;

	*out = (struct dyntext){0};
	if (!function->text)
		return STATUS_NOTFOUND;
	whole = block_file_open(&file, &context, FORMAT_FILE_DYNTEXT, 0) == FILE_USABLE;
	if (whole) {
		whole = find_record(&file, function, &header) &&
			copy_record(&file, function, &header, arena, out);
		block_file_close(&file);
	}
	diag_fini(&unheard);
	return whole ? STATUS_OK : STATUS_DAMAGED;
}

enum status experiment_dyntext_constants(const struct map_function *function, struct arena *arena,
					 struct dyntext *out)
{
	struct map_function constants = *function;

	constants.text = function->constants;
	constants.address = FORMAT_PC_JAVA;
	constants.size = UINT64_MAX;
	return experiment_dyntext_read(&constants, arena, out);
}

size_t experiment_dyntext_missing(const struct experiment_map *map,
				  const struct read_context *context)
{
	struct block_file file;
	struct format_text header;
	size_t missing = 0;

	if (!map->functions.count)
		return 0;

	bool usable = block_file_open(&file, context, FORMAT_FILE_DYNTEXT, 0) == FILE_USABLE;

	for (size_t i = 0; i < map->functions.count; i++) {
		const struct map_function *function = &map->functions.items[i];

		/* What was inherited is checked where it comes from. */
		if (function->text && function->folder == context->folder &&
		    !strcmp(function->directory, context->directory))
			missing += !usable || !find_record(&file, function, &header);
	}
	if (usable)
		block_file_close(&file);
	return missing;
}
