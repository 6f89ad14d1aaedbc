/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/xml.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "format/escape.h"

#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { XML_SIZE_MAX = 256 << 20, ATTRIBUTES_MAX = 128 };

struct line_parser {
	XML_Parser parser;
	xml_element_fn *element;
	xml_text_fn *take_text; /* NULL: text is damage */
	void *data;
	struct strbuf text_here; /* since the last tag, where it is taken */
	size_t elements;	 /* of this line */
	bool text;		 /* this line has text outside of elements */
	bool bytes; /* attribute values are to be turned back into the bytes of the file */
};

const char *xml_attribute(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

bool xml_number(const char **attributes, const char *name, uint64_t *value)
{
	const char *text = xml_attribute(attributes, name);
	char *end;

	if (!text || !(*text >= '0' && *text <= '9'))
		return false;
	errno = 0;

	unsigned long long number = strtoull(text, &end, text[1] == 'x' ? 16 : 10);

	if (errno || *end)
		return false;
	*value = number;
	return true;
}

/* UTF-8 of U+0000–U+00FF back into one byte each, in place. */
static void latin1_bytes(char *text)
{
	unsigned char *out = (unsigned char *)text;

	for (const unsigned char *in = out; *in; in++) {
		if ((in[0] == 0xc2 || in[0] == 0xc3) && in[1]) {
			*out++ = (unsigned char)(in[0] << 6 | (in[1] & 0x3f));
			in++;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
}

/* Characters that stand for bytes become those (format/escape.h), in place. */
static void unescape(char *text)
{
	char *out = strchr(text, '\xee');

	for (const char *in = out; in && *in;) {
		bool is_escape = escape_is_at(in);

		if (is_escape && escape_byte(in)) {
			*out++ = escape_byte(in);
			in += ESCAPE_SIZE;
			continue;
		}
		if (is_escape) { /* what follows means itself */
			in += ESCAPE_SIZE;
			for (int i = 1; i < ESCAPE_SIZE && *in; i++)
				*out++ = *in++;
		}
		if (*in)
			*out++ = *in++;
	}
	if (out)
		*out = '\0';
}

/* The value as it was before it was written; NULL: it is so already. */
static char *original_of(const struct line_parser *line, const char *value)
{
	if (!line->bytes && !strchr(value, '\xee'))
		return NULL;

	char *copy = xstrdup(value);

	if (line->bytes)
		latin1_bytes(copy);
	unescape(copy);
	return copy;
}

static void XMLCALL on_element(void *data, const XML_Char *name, const XML_Char **attributes)
{
	struct line_parser *line = data;
	const char *values[ATTRIBUTES_MAX];
	char *copies[ATTRIBUTES_MAX] = {0};
	size_t count = 0;

	if (!strcmp(name, "line"))
		return;
	strbuf_clear(&line->text_here);
	line->elements++;
	for (; attributes[count] && count < ATTRIBUTES_MAX - 2; count += 2) {
		copies[count] = original_of(line, attributes[count + 1]);
		values[count] = attributes[count];
		values[count + 1] = copies[count] ? copies[count] : attributes[count + 1];
	}
	values[count] = NULL;
	line->element(line->data, name, values);
	for (size_t i = 0; i < count; i += 2)
		free(copies[i]);
}

static void XMLCALL on_text(void *data, const XML_Char *text, int length)
{
	struct line_parser *line = data;

	if (line->take_text)
		strbuf_add(&line->text_here, text, (size_t)length);
	for (int i = 0; i < length && !line->take_text; i++)
		line->text |= !strchr(" \t\r\n", text[i]);
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
	struct line_parser *line = data;

	if (!line->take_text || !line->text_here.length)
		return;
	if (line->bytes)
		latin1_bytes(line->text_here.text);
	line->take_text(line->data, name, line->text_here.text);
	strbuf_clear(&line->text_here);
}

/* Parses a line inside a made-up root, which a start tag alone cannot upset. */
static bool parse_as(struct line_parser *line, const char *encoding, const char *text,
		     size_t length)
{
	XML_ParserReset(line->parser, encoding);
	XML_SetUserData(line->parser, line);
	XML_SetElementHandler(line->parser, on_element, on_end);
	XML_SetCharacterDataHandler(line->parser, on_text);
	strbuf_clear(&line->text_here);
	line->elements = 0;
	line->text = false;
	return XML_Parse(line->parser, "<line>", 6, 0) == XML_STATUS_OK &&
	       XML_Parse(line->parser, text, (int)length, 0) == XML_STATUS_OK &&
	       XML_Parse(line->parser, "\n", 1, 0) == XML_STATUS_OK;
}

static bool has_high_byte(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= 0x80)
			return true;
	return false;
}

/*
 * Returns whether the line is in order.  File names need not be UTF-8: a line
 * that fails is read again byte by byte.
 */
static bool parse_line(struct line_parser *line, const char *text, size_t length)
{
	line->bytes = false;
	if (!parse_as(line, "UTF-8", text, length) && !line->elements &&
	    has_high_byte(text, length)) {
		line->bytes = true;
		if (!parse_as(line, "ISO-8859-1", text, length))
			return false;
		return line->elements && !line->text;
	}
	return line->elements && !line->text && XML_GetErrorCode(line->parser) == XML_ERROR_NONE;
}

static char *read_file(const struct read_context *context, const char *name, size_t *length,
		       bool *too_large)
{
	int fd = read_context_open(context, name);
	struct stat info;
	char *text = NULL;

	if (fd < 0 || fstat(fd, &info)) {
		if (errno != ENOENT)
			diag_add(context->diags, DIAG_WARNING, "%s: %s cannot be read (%s)",
				 context->name, name, read_context_error(errno));
		goto out;
	}
	*too_large = info.st_size > XML_SIZE_MAX;

	size_t size = *too_large ? XML_SIZE_MAX : (size_t)info.st_size;

	text = xmalloc(size + 1);
	*length = 0;
	while (*length < size) {
		ssize_t got = pread(fd, text + *length, size - *length, (off_t)*length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			diag_add(context->diags, DIAG_WARNING,
				 "%s: %s cannot be read to its end (%s)", context->name, name,
				 strerror(errno));
		if (got <= 0)
			break;
		*length += (size_t)got;
	}
	text[*length] = '\0';
out:
	if (fd >= 0)
		close(fd);
	return text;
}

/* One line without its end: a declaration, the closing tag, or an element. */
static bool handle_line(struct line_parser *line, const char *text, size_t length,
			struct xml_result *result)
{
	while (length && strchr(" \t\r", *text))
		text++, length--;
	while (length && strchr(" \t\r", text[length - 1]))
		length--;
	if (!length || (length > 1 && text[0] == '<' && (text[1] == '?' || text[1] == '!')))
		return true;
	if (length > 1 && text[0] == '<' && text[1] == '/') {
		result->closed |= text[length - 1] == '>';
		return text[length - 1] == '>';
	}
	return parse_line(line, text, length);
}

void xml_read_texts(const struct read_context *context, const char *file_name,
		    xml_element_fn *element, xml_text_fn *take_text, void *data,
		    struct xml_result *result)
{
	static const XML_Memory_Handling_Suite memory = {xmalloc, xrealloc, free};
	struct line_parser line = {.element = element, .take_text = take_text, .data = data};
	size_t length = 0, number = 1;

	*result = (struct xml_result){0};

	char *text = read_file(context, file_name, &length, &result->too_large);

	if (!text)
		return;
	result->present = length > 0;
	result->size = length;
	line.parser = XML_ParserCreate_MM("UTF-8", &memory, NULL);
	/* a zero byte ends a line too: it is what is left of a write that never happened */
	for (size_t i = 0, start = 0; i <= length; i++) {
		if (text[i] != '\n' && text[i] != '\0')
			continue;
		if (!handle_line(&line, text + start, i - start, result)) {
			if (!result->damaged_lines++)
				result->first_damaged = number;
		}
		number += text[i] == '\n';
		start = i + 1;
	}
	XML_ParserFree(line.parser);
	strbuf_fini(&line.text_here);
	free(text);
}

void xml_read(const struct read_context *context, const char *file_name, xml_element_fn *element,
	      void *data, struct xml_result *result)
{
	xml_read_texts(context, file_name, element, NULL, data, result);
}
