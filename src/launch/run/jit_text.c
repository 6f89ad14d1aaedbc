/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record of lines is a list of addresses, each with a line and the name of its file; the name
 * "\xff" is the one before.  Dyntext has one source for a function: the first name.  What comes
 * from elsewhere, inlined, has no line.
 */
#include "launch/run/jit_text.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ALIGNMENT = 8,
	RECORDS_LIMIT = 64 << 20, /* bytes; what is beyond has a name only */
	LINES_LIMIT = 1 << 16,	  /* of one function */
	NAME_LIMIT = PATH_MAX,	  /* bytes of a source's name */
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

bool jit_code_first_line(const struct jit_code *code, uint64_t address, uint64_t *offset)
{
	struct entry entry;

	if (!code->lines_count || code->lines_size < sizeof(entry))
		return false;
	memcpy(&entry, code->lines, sizeof(entry));
	*offset = entry.address - address;
	return true;
}

/* A name of a file rather than what happened to lie in memory: V8 writes such. */
static bool is_name(const char *text)
{
	const char *end = text + strnlen(text, NAME_LIMIT);
	size_t length;

	if (*end)
		return false;
	for (; *text; text += length)
		if (!(length = utf8_length(text)) || (unsigned char)*text < ' ')
			return false;
	return true;
}

/*
 * The next entry; *name stays for one of the same file, and is looked at once: it may be long, and
 * the entries many. False: the record is damaged.
 */
static bool read_entry(const char **at, const char *end, struct entry *entry, const char **name)
{
	size_t room = (size_t)(end - *at), length;

	if (room < sizeof(*entry))
		return false;
	memcpy(entry, *at, sizeof(*entry));
	*at += sizeof(*entry);
	room -= sizeof(*entry);
	length = strnlen(*at, room);
	if (length == room)
		return false;
	if (strcmp(*at, "\xff") != 0)
		*name = is_name(*at) ? *at : NULL;
	*at += length + 1;
	return *name;
}

/* Adds the lines, none of a damaged record; returns how many. */
static uint32_t add_lines(struct strbuf *records, uint64_t address, uint64_t size,
			  const struct jit_code *code, char **source)
{
	const char *at = code->lines, *end = at ? at + code->lines_size : NULL, *name = NULL;
	const char *compared = NULL;
	bool is_of_source = false;
	size_t begin = records->length;
	struct format_line line = {0};
	struct entry entry;
	uint32_t count = 0;

	for (uint64_t i = 0; i < code->lines_count && count < LINES_LIMIT; i++) {
		if (!read_entry(&at, end, &entry, &name)) {
			records->length = begin;
			free(*source);
			*source = NULL;
			return 0;
		}
		uint64_t offset = entry.address - code->lines_ahead - address;

		if (!*name || offset >= size || (count && offset < line.offset))
			continue;
		if (!*source)
			*source = xstrdup(name);
		if (name != compared)
			is_of_source = !strcmp(*source, name);
		compared = name;
		line.offset = (uint32_t)offset;
		line.line = is_of_source ? entry.line : 0;
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
	if (text->fd < 0 || !code->bytes || begin > RECORDS_LIMIT || size > RECORDS_LIMIT - begin)
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
