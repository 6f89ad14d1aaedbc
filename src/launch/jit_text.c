/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record of lines is a list of addresses, each with a line and the name of its file; the name
 * "\xff" is the one before.  Dyntext has one source for a function: the first name.  What comes
 * from elsewhere, inlined, has no line.
 */
#include "launch/jit_text.h"

#include "base/memory.h"
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ALIGNMENT = 8,
	RECORDS_LIMIT = 64 << 20, /* bytes; what is beyond has a name only */
	LINES_LIMIT = 1 << 16,	  /* of one function */
};

struct entry {
	uint64_t address;
	uint32_t line, discriminator;
};

static void pad(struct strbuf *text)
{
	while (text->length % ALIGNMENT)
		strbuf_putc(text, '\0');
}

void jit_text_open(struct jit_text *text, const struct family *family, const struct member *member)
{
	struct format_file_header header = {
		.magic = FORMAT_FILE_MAGIC,
		.version = FORMAT_VERSION,
		.kind = FORMAT_FILE_DYNTEXT,
	};
	struct stat st;

	*text = (struct jit_text){
		.fd = family_open_file(family, member, FORMAT_FILE_DYNTEXT, O_RDWR | O_CREAT)};
	if (text->fd < 0)
		return;
	if (fstat(text->fd, &st) || !S_ISREG(st.st_mode)) {
		close(text->fd);
		text->fd = -1;
		return;
	}
	text->end = ((uint64_t)st.st_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (st.st_size)
		return;
	strbuf_add(&text->header, &header, sizeof(header));
	strbuf_puts(&text->header, "code as a compiler at run time told of it\n");
	pad(&text->header);
	header.header_size = (uint32_t)text->header.length;
	memcpy(text->header.text, &header, sizeof(header));
	text->end = text->header.length;
}

/* Adds the lines; returns how many. */
static uint32_t add_lines(struct strbuf *records, uint64_t address, uint64_t size,
			  const struct jit_code *code, char **source)
{
	const char *at = code->lines, *end = at ? at + code->lines_size : NULL, *name = NULL;
	struct format_line line = {0};
	uint32_t count = 0;

	for (uint64_t i = 0; i < code->lines_count && count < LINES_LIMIT; i++) {
		struct entry entry;
		size_t room = (size_t)(end - at), length;

		if (room < sizeof(entry) ||
		    (length = strnlen(at + sizeof(entry), room - sizeof(entry))) ==
			    room - sizeof(entry))
			break;
		memcpy(&entry, at, sizeof(entry));
		if (strcmp(at + sizeof(entry), "\xff") != 0)
			name = at + sizeof(entry);
		at += sizeof(entry) + length + 1;
		if (!name || !*name || entry.address - address >= size ||
		    (count && entry.address - address < line.offset))
			continue;
		if (!*source)
			*source = xstrdup(name);
		line.offset = (uint32_t)(entry.address - address);
		line.line = strcmp(*source, name) ? 0 : entry.line;
		strbuf_add(records, &line, sizeof(line));
		count++;
	}
	return count;
}

uint64_t jit_text_add(struct jit_text *text, uint64_t address, uint64_t size,
		      const struct jit_code *code, char **source)
{
	struct strbuf *records = &text->records;
	struct format_text header = {
		.magic = FORMAT_TEXT_MAGIC, .address = address, .code_size = size};
	size_t begin = records->length;

	*source = NULL;
	if (text->fd < 0 || !code->bytes || size > RECORDS_LIMIT - begin)
		return 0;
	strbuf_add(records, &header, sizeof(header));
	header.line_count = add_lines(records, address, size, code, source);
	strbuf_add(records, code->bytes, size);
	pad(records);
	header.size = records->length - begin;
	memcpy(records->text + begin, &header, sizeof(header));
	return text->end + begin;
}

static bool write_whole(int fd, const struct strbuf *text, uint64_t at)
{
	ssize_t written = text->length ? pwrite(fd, text->text, text->length, (off_t)at) : 0;

	if (written >= 0 && (size_t)written < text->length)
		errno = ENOSPC;
	return written == (ssize_t)text->length;
}

bool jit_text_close(struct jit_text *text)
{
	bool written = text->fd < 0 || !text->records.length ||
		       (write_whole(text->fd, &text->header, 0) &&
			write_whole(text->fd, &text->records, text->end));

	if (text->fd >= 0)
		close(text->fd);
	strbuf_fini(&text->header);
	strbuf_fini(&text->records);
	return written;
}
