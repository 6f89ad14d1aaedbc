/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each is opened when it is needed and closed again, so that no descriptor stays open in the
 * program; what is appended are whole lines or records, with one write.
 */
#include "collector/storage/experiment.h"

#include "collector/arch/sys.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/files.h"
#include "format/format.h"

/* Made once: on the stack of a handler there may be no room for a path. */
static const char *paths[FORMAT_FILES];

void experiment_name_files(void)
{
	static char room[FORMAT_FILES * PATH_MAX_HERE];
	struct text text = TEXT_ON(room);

	for (int i = 0; i < FORMAT_FILES; i++) {
		paths[i] = room + text.length;
		text_puts(&text, collector.directory);
		text_putc(&text, '/');
		text_puts(&text, format_files[i].name);
		text_putc(&text, '\0');
	}
}

int experiment_open_file(const char *file, int flags)
{
	for (int i = 0; i < FORMAT_FILES; i++)
		if (text_equal(format_files[i].name, file))
			return file_open(paths[i], O_RDWR | O_APPEND | flags, 0644);
	return -ENOENT;
}

int experiment_create(const char *file, const char *description)
{
	return experiment_create_with(file, description, NULL, 0);
}

int experiment_create_with(const char *file, const char *description, const void *first,
			   size_t size)
{
	union {
		struct format_file_header header;
		char bytes[2 * EXPERIMENT_HEADER];
	} page = {.header = {.magic = FORMAT_FILE_MAGIC,
			     .version = FORMAT_VERSION,
			     .header_size = EXPERIMENT_HEADER}};
	struct text kind = TEXT_ON(page.header.kind);
	struct text body = {.buffer = page.bytes + sizeof(page.header),
			    .size = EXPERIMENT_HEADER - sizeof(page.header)};

	text_puts(&kind, file);
	text_puts(&body, description);
	for (size_t i = 0; i < size; i++)
		page.bytes[EXPERIMENT_HEADER + i] = ((const char *)first)[i];
	int fd = experiment_open_file(file, O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	int result = file_append(fd, page.bytes, EXPERIMENT_HEADER + size);
	sys_close(fd);
	return result;
}

int experiment_append(const char *file, struct text *line)
{
	int fd = experiment_open_file(file, O_CREAT);

	if (fd < 0)
		return fd;
	int result = file_append(fd, line->buffer, line->length);

	sys_close(fd);
	return result;
}
