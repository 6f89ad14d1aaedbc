/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of the cache with bytes changed, its checksum right again: what is shown then may be
 * wrong, but nothing may be read beyond what is there.  An input is a byte that chooses the file
 * and then edits of five bytes: the place in 24 bits, the kind of edit, a value.
 */
#include "analysis/cache/cache_file.h"
#include "base/strbuf.h"
#include "print_golden.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const endings[] = {".sums", ".sums.code"};
enum { FILES = sizeof(endings) / sizeof(*endings), EDIT = 5 };

/* As they were written by a run over the experiment. */
static struct file {
	char name[64];
	struct strbuf body;
} files[FILES];

static bool ends_so(const char *name, const char *ending)
{
	size_t length = strlen(name), rest = strlen(ending);

	return length > rest && !strcmp(name + length - rest, ending);
}

static void find(struct file *file, const char *ending)
{
	DIR *directory = opendir("heliometer");
	struct cache_reader reader = {0};
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (ends_so(entry->d_name, ending) && strlen(entry->d_name) < sizeof(file->name))
			strcpy(file->name, entry->d_name);
	if (!directory || !*file->name || !cache_read(file->name, &reader))
		abort();
	closedir(directory);
	strbuf_add(&file->body, reader.body, (size_t)(reader.end - reader.body));
	free(reader.body);
}

static void begin(void)
{
	golden_begin();
	golden_print();
	for (int i = 0; i < FILES; i++)
		find(&files[i], endings[i]);
}

static void edit(struct strbuf *body, const uint8_t *how)
{
	size_t at = (how[0] | (size_t)how[1] << 8 | (size_t)how[2] << 16) % (body->length + 1);
	size_t rest = body->length - at;

	switch (how[3] % 4) {
	case 0: /* change */
		if (rest)
			body->text[at] = (char)how[4];
		break;
	case 1: /* cut */
		body->length = at;
		break;
	case 2: /* insert */
		strbuf_putc(body, 0);
		memmove(body->text + at + 1, body->text + at, rest);
		body->text[at] = (char)how[4];
		break;
	default: /* remove */
		if (rest) {
			memmove(body->text + at, body->text + at + 1, rest - 1);
			body->length--;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t checksum;

	if (!*files[0].name)
		begin();
	if (!size)
		return 0;
	for (int i = 0; i < FILES; i++) {
		struct strbuf body = {0};

		strbuf_add(&body, files[i].body.text, files[i].body.length);
		if (data[0] % FILES == i)
			for (size_t at = 1; at + EDIT <= size; at += EDIT)
				edit(&body, data + at);
		if (!cache_write(files[i].name, &body, &checksum))
			abort();
		strbuf_fini(&body);
	}
	golden_print();
	return 0;
}
