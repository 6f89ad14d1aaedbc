/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Java Virtual Machine Specification, 4.4.  Constants refer to each other by number, three
 * deep at most: a method is a class and a name with a signature, and these are texts.
 */
#include "object/names/java_constants.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "object/names/java_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tag {
	TAG_TEXT = 1,
	TAG_INTEGER = 3,
	TAG_FLOAT = 4,
	TAG_LONG = 5,
	TAG_DOUBLE = 6,
	TAG_CLASS = 7,
	TAG_STRING = 8,
	TAG_FIELD = 9,
	TAG_METHOD = 10,
	TAG_INTERFACE_METHOD = 11,
	TAG_NAME_AND_TYPE = 12,
	TAG_METHOD_HANDLE = 15,
	TAG_METHOD_TYPE = 16,
	TAG_DYNAMIC = 17,
	TAG_INVOKE_DYNAMIC = 18,
};

/* Bytes with the tag; of a text without what its length says. */
static const uint8_t sizes[] = {
	[TAG_TEXT] = 3,		  [TAG_INTEGER] = 5,
	[TAG_FLOAT] = 5,	  [TAG_LONG] = 9,
	[TAG_DOUBLE] = 9,	  [TAG_CLASS] = 3,
	[TAG_STRING] = 3,	  [TAG_FIELD] = 5,
	[TAG_METHOD] = 5,	  [TAG_INTERFACE_METHOD] = 5,
	[TAG_NAME_AND_TYPE] = 5,  [TAG_METHOD_HANDLE] = 4,
	[TAG_METHOD_TYPE] = 3,	  [TAG_DYNAMIC] = 5,
	[TAG_INVOKE_DYNAMIC] = 5,
};

static uint64_t number_at(const uint8_t *bytes, unsigned size)
{
	uint64_t number = 0;

	while (size--)
		number = number << 8 | *bytes++;
	return number;
}

void java_constants_read(const uint8_t *bytes, size_t size, struct arena *arena,
			 struct java_constants *out)
{
	enum { NUMBERS = 1 << 16 };
	uint32_t *at = arena_array(arena, uint32_t, NUMBERS);
	uint32_t count = 1; /* numbers begin with 1 */

	for (size_t i = 0; i < size && count < NUMBERS; count++) {
		uint8_t tag = bytes[i];
		size_t length = tag < COUNT(sizes) ? sizes[tag] : 0;

		if (!length || length > size - i)
			break;
		if (tag == TAG_TEXT)
			length += number_at(bytes + i + 1, 2);
		if (length > size - i)
			break;
		at[count] = (uint32_t)i + 1;
		count += tag == TAG_LONG || tag == TAG_DOUBLE; /* these take two numbers */
		i += length;
	}
	*out = (struct java_constants){
		.bytes = bytes, .size = size, .at = at, .count = count < NUMBERS ? count : NUMBERS};
}

/* A constant of that tag behind its tag, or NULL. */
static const uint8_t *find(const struct java_constants *constants, uint64_t index, enum tag tag)
{
	uint32_t at = index < constants->count ? constants->at[index] : 0;

	return at && constants->bytes[at - 1] == tag ? constants->bytes + at : NULL;
}

/* To be freed; NULL: it is none.  NUL and what needs 4 bytes are not UTF-8 in a class file. */
static char *text_of(const struct java_constants *constants, uint64_t index)
{
	const uint8_t *text = find(constants, index, TAG_TEXT);
	size_t length = text ? number_at(text, 2) : 0;

	if (!text)
		return NULL;
	char *raw = xstrndup((const char *)text + 2, length), *clean = utf8_clean(raw);

	free(raw);
	return clean;
}

/* The text that a class, a string or a type of a method refers to. */
static char *text_behind(const struct java_constants *constants, uint64_t index, enum tag tag)
{
	const uint8_t *constant = find(constants, index, tag);

	return constant ? text_of(constants, number_at(constant, 2)) : NULL;
}

/* "pkg/Class" and arrays, "[Ljava/lang/String;", which are types. */
static void put_class(struct strbuf *out, const char *class)
{
	char *type = *class == '[' ? xstrdup(class) : xasprintf("L%s;", class);

	java_type_put(out, type);
	free(type);
}

/* A class, or NULL of what has none (invokedynamic), and a name with a type. */
static void put_member(const struct java_constants *constants, const char *class, uint64_t index,
		       struct strbuf *out)
{
	const uint8_t *pair = find(constants, index, TAG_NAME_AND_TYPE);
	char *name = pair ? text_of(constants, number_at(pair, 2)) : NULL;
	char *type = pair ? text_of(constants, number_at(pair + 2, 2)) : NULL;

	if (name && type && class) {
		put_class(out, class);
		strbuf_putc(out, '.');
	}
	if (name && type) {
		strbuf_put_in_line(out, name);
		java_parameters_put(out, type);
	}
	free(name);
	free(type);
}

static void put_of_class(const struct java_constants *constants, const uint8_t *member,
			 struct strbuf *out)
{
	char *class = text_behind(constants, number_at(member, 2), TAG_CLASS);

	if (class)
		put_member(constants, class, number_at(member + 2, 2), out);
	free(class);
}

static void put_string(const struct java_constants *constants, uint64_t index, struct strbuf *out)
{
	enum { SHOWN_MAX = 60 };
	char *text = text_of(constants, index);
	size_t length = SHOWN_MAX;

	if (!text)
		return;
	bool is_cut = strlen(text) > length;

	while (is_cut && length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	if (is_cut)
		text[length] = '\0';
	strbuf_putc(out, '"');
	strbuf_put_in_line(out, text);
	strbuf_puts(out, is_cut ? "...\"" : "\"");
	free(text);
}

/* With as few digits as tell it from all others. */
static void put_real(double value, bool is_float, struct strbuf *out)
{
	enum { DIGITS_MAX = 17 };
	char text[DIGITS_MAX + 16];

	for (int digits = 1; digits <= DIGITS_MAX; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			break;
	}
	strbuf_puts(out, text);
	if (is_float)
		strbuf_putc(out, 'f');
}

static void put_number(uint8_t tag, const uint8_t *bytes, struct strbuf *out)
{
	union {
		uint32_t bits;
		float value;
	} narrow = {.bits = (uint32_t)number_at(bytes, 4)};
	union {
		uint64_t bits;
		double value;
	} wide;

	if (tag == TAG_INTEGER) {
		strbuf_printf(out, "%d", (int32_t)narrow.bits);
	} else if (tag == TAG_FLOAT) {
		put_real((double)narrow.value, true, out);
	} else {
		wide.bits = number_at(bytes, 8);
		if (tag == TAG_LONG)
			strbuf_printf(out, "%lldL", (long long)wide.bits);
		else
			put_real(wide.value, false, out);
	}
}

void java_constant_put(uint16_t index, void *arg, struct strbuf *out)
{
	const struct java_constants *constants = arg;
	uint32_t at = index < constants->count ? constants->at[index] : 0;
	const uint8_t *bytes = constants->bytes + at;
	uint8_t tag = at ? bytes[-1] : 0;
	char *class;

	switch (tag) {
	case TAG_INTEGER:
	case TAG_FLOAT:
	case TAG_LONG:
	case TAG_DOUBLE:
		put_number(tag, bytes, out);
		break;
	case TAG_CLASS:
		class = text_of(constants, number_at(bytes, 2));
		if (class)
			put_class(out, class);
		free(class);
		break;
	case TAG_STRING:
		put_string(constants, number_at(bytes, 2), out);
		break;
	case TAG_FIELD:
	case TAG_METHOD:
	case TAG_INTERFACE_METHOD:
		put_of_class(constants, bytes, out);
		break;
	case TAG_DYNAMIC:
	case TAG_INVOKE_DYNAMIC:
		put_member(constants, NULL, number_at(bytes + 2, 2), out);
		break;
	}
}
