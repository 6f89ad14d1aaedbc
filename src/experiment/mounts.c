/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's lines (/proc/PID/mountinfo), as many lists of them as there are in a file:
 *
 *   36 35 98:0 /below /where options [optional fields] - type source options
 *
 * Of several at one place the last one is in sight.
 */
#include "experiment/mounts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIELD_PLACE = 4, LIST_SIZE_MAX = 16 << 20 };

/* The kernel writes blanks, newlines and backslashes as \040. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		bool escaped = in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] >= '0' &&
			       in[2] <= '7' && in[3] >= '0' && in[3] <= '7';

		*out++ = escaped ? (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'))
				 : *in;
		if (escaped)
			in += 3;
	}
	*out = '\0';
}

static void add_line(struct experiment_mounts *mounts, char *line)
{
	char *type = strstr(line, " - "), *field = line, *rest = line;

	for (int i = 0; field && i <= FIELD_PLACE; i++)
		field = strtok_r(NULL, " ", &rest);
	if (!type || !field || field > type || *field != '/')
		return;
	type += 3;
	type[strcspn(type, " ")] = '\0';
	unescape(field);
	*vec_push(mounts) = (struct mount){field, field[1] ? strlen(field) : 0, type};
}

bool experiment_mounts_read(struct experiment_mounts *mounts, const char *file, struct arena *arena,
			    const struct read_context *context)
{
	struct block_file lines;
	size_t available = 0;

	*mounts = (struct experiment_mounts){0};
	if (block_file_open_plain(&lines, context, file) != FILE_USABLE)
		return false;
	size_t size = lines.size < LIST_SIZE_MAX ? (size_t)lines.size : LIST_SIZE_MAX;
	const void *data = block_file_fetch(&lines, 0, size, &available);
	char *text = arena_strndup(arena, data, available), *line;

	block_file_close(&lines);
	while ((line = strtok_r(text, "\n", &text)))
		add_line(mounts, line);
	return true;
}

void experiment_mounts_fini(struct experiment_mounts *mounts)
{
	vec_fini(mounts);
}

const char *experiment_mounts_type(const struct experiment_mounts *mounts, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->items[i];

		if (strncmp(path, mount->place, mount->length) != 0 ||
		    (mount->length && path[mount->length] && path[mount->length] != '/'))
			continue;
		if (!best || mount->length >= best->length)
			best = mount;
	}
	return best ? best->type : NULL;
}
