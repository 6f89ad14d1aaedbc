/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/xml.h"

#include "base/utf8.h"
#include "format/escape.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The length of the character at text if XML may contain it, else 0: U+FFFE and U+FFFF are none. */
static size_t character_length(const char *text)
{
	bool none = !strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3);

	return none ? 0 : utf8_length(text);
}

static void add_escaped(struct strbuf *out, const char *value)
{
	for (const char *at = value; *at; at++) {
		char escape[ESCAPE_SIZE];
		size_t length = 1;

		if (escape_is_at(at))
			strbuf_add(out, (escape_put(escape, 0), escape), ESCAPE_SIZE);
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
			strbuf_putc(out, *at);
		else if ((length = (unsigned char)*at < 0x80 ? 0 : character_length(at)))
			strbuf_add(out, at, length);
		else
			strbuf_add(out, (escape_put(escape, (unsigned char)*at), escape),
				   ESCAPE_SIZE);
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
