/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/xml.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character at text if XML may contain it, else 0. */
static size_t utf8_length(const unsigned char *text)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = *text < 0xc0   ? 0
			: *text < 0xe0 ? 2
			: *text < 0xf0 ? 3
			: *text < 0xf8 ? 4
				       : 0;
	uint32_t code = *text & (0x7fu >> length);

	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (!length || code < smallest[length] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff)
		return 0;
	return length;
}

static void add_escaped(struct strbuf *out, const char *value)
{
	for (const unsigned char *at = (const unsigned char *)value; *at; at++) {
		size_t length = 1;

		if (*at == '&')
			strbuf_puts(out, "&amp;");
		else if (*at == '<')
			strbuf_puts(out, "&lt;");
		else if (*at == '>')
			strbuf_puts(out, "&gt;");
		else if (*at == '"')
			strbuf_puts(out, "&quot;");
		else if (*at == '\t' || *at == '\n' || *at == '\r')
			strbuf_printf(out, "&#%d;", *at);
		else if (*at >= 0x20 && *at < 0x7f)
			strbuf_putc(out, (char)*at);
		else if ((length = utf8_length(at)))
			strbuf_add(out, at, length);
		else
			strbuf_puts(out, "\xef\xbf\xbd");
		at += length ? length - 1 : 0;
	}
}

void xml_add_attribute(struct strbuf *out, const char *name, const char *value)
{
	strbuf_printf(out, " %s=\"", name);
	add_escaped(out, value);
	strbuf_putc(out, '"');
}

void xml_add_number(struct strbuf *out, const char *name, uint64_t value)
{
	strbuf_printf(out, " %s=\"%" PRIu64 "\"", name, value);
}

bool xml_read_number(const char *element, const char *name, uint64_t *value)
{
	size_t length = strlen(name);
	const char *at = element;

	while (*at && *at != '>') {
		if (*at == '"') { /* skip the value: it may look like an attribute */
			at = strchr(at + 1, '"');
			if (!at)
				return false;
			at++;
		} else if (*at == ' ' && !strncmp(at + 1, name, length) &&
			   !strncmp(at + 1 + length, "=\"", 2) &&
			   isdigit((unsigned char)at[length + 3])) {
			*value = strtoull(at + length + 3, NULL, 10);
			return true;
		} else {
			at++;
		}
	}
	return false;
}
