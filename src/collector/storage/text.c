/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/text.h"

#include "format/escape.h"

void text_putc(struct text *text, char c)
{
	if (text->length + 1 >= text->size) {
		text->full = true;
		return;
	}
	text->buffer[text->length++] = c;
	text->buffer[text->length] = '\0';
}

void text_puts(struct text *text, const char *string)
{
	while (*string)
		text_putc(text, *string++);
}

void text_decimal(struct text *text, int64_t value)
{
	char digits[20];
	int count = 0;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (value < 0)
		text_putc(text, '-');
	do
		digits[count++] = (char)('0' + rest % 10);
	while (rest /= 10);
	while (count)
		text_putc(text, digits[--count]);
}

void text_hex(struct text *text, uint64_t value)
{
	int shift = 60;

	text_puts(text, "0x");
	while (shift && !(value >> shift & 15))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		text_putc(text, "0123456789abcdef"[value >> shift & 15]);
}

void text_bytes_hex(struct text *text, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		text_putc(text, "0123456789abcdef"[bytes[i] >> 4]);
		text_putc(text, "0123456789abcdef"[bytes[i] & 15]);
	}
}

static void put_byte(struct text *text, unsigned char byte)
{
	char escape[ESCAPE_SIZE];

	escape_put(escape, byte);
	for (int i = 0; i < ESCAPE_SIZE; i++)
		text_putc(text, escape[i]);
}

static void put_escaped(struct text *text, char c)
{
	switch (c) {
	case '\t':
		text_puts(text, "&#9;");
		break;
	case '\r':
		text_puts(text, "&#13;");
		break;
	case '&':
		text_puts(text, "&amp;");
		break;
	case '<':
		text_puts(text, "&lt;");
		break;
	case '"':
		text_puts(text, "&quot;");
		break;
	case '\n':
		text_puts(text, "&#10;");
		break;
	default:
		if ((unsigned char)c < ' ')
			put_byte(text, (unsigned char)c);
		else
			text_putc(text, c);
	}
}

/* U+FFFE and U+FFFF, which XML does not have; their bytes are escaped. */
static bool is_no_character(const char *value)
{
	return (unsigned char)value[0] == 0xef && (unsigned char)value[1] == 0xbf &&
	       (unsigned char)value[2] >= 0xbe;
}

static void put_value(struct text *text, const char *value)
{
	for (int bytes = 0; *value; value++) {
		size_t before = text->length;

		if (escape_is_at(value))
			put_byte(text, 0);
		if (is_no_character(value))
			bytes = ESCAPE_SIZE;
		if (bytes && bytes--)
			put_byte(text, (unsigned char)*value);
		else
			put_escaped(text, *value);
		if (text->full) {
			text->length = before; /* no half an escape */
			return;
		}
	}
}

void text_end_cut(struct text *text)
{
	while (text->length && ((unsigned char)text->buffer[text->length - 1] & 0xc0) == 0x80)
		text->length--;
	if (text->length && (unsigned char)text->buffer[text->length - 1] >= 0xc0)
		text->length--;
	text_puts(text, "...");
}

void text_attribute(struct text *text, const char *name, const char *value)
{
	enum { LONG = 100, BEHIND = 320, OF_SIZE = 4 };
	size_t size = text->size;
	bool full = text->full;

	text_putc(text, ' ');
	text_puts(text, name);
	text_puts(text, "=\"");
	/* A quarter, of at most 320 bytes, is kept for what comes behind it. */
	if (text_length(value) > LONG)
		text->size -= size / OF_SIZE < BEHIND ? size / OF_SIZE : BEHIND;
	text->full = false;
	put_value(text, value);
	text->size = size;
	if (text->full)
		text_end_cut(text);
	text->full |= full;
	text_putc(text, '"');
}

void text_attribute_decimal(struct text *text, const char *name, int64_t value)
{
	char digits[24];
	struct text number = TEXT_ON(digits);

	text_decimal(&number, value);
	text_attribute(text, name, digits);
}

void text_attribute_hex(struct text *text, const char *name, uint64_t value)
{
	char digits[24];
	struct text number = TEXT_ON(digits);

	text_hex(&number, value);
	text_attribute(text, name, digits);
}

size_t text_length(const char *string)
{
	size_t length = 0;

	while (string[length])
		length++;
	return length;
}

uint64_t text_hash(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash;
}

bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

bool text_starts(const char *string, const char *prefix)
{
	while (*prefix && *string == *prefix)
		string++, prefix++;
	return !*prefix;
}

uint64_t text_number(const char *string, const char **end)
{
	uint64_t value = 0;

	while (*string >= '0' && *string <= '9')
		value = value * 10 + (uint64_t)(*string++ - '0');
	if (end)
		*end = string;
	return value;
}

uint64_t text_hex_number(const char *string, const char **end)
{
	uint64_t value = 0;

	for (;; string++) {
		char c = *string;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*end = string;
	return value;
}
