/* SPDX-License-Identifier: Apache-2.0 */
#include "object/names/java_name.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <string.h>

/*
 * Of a hidden class, "Main$$Lambda$14/0x0000000800c03000" or "Main$$Lambda/0x…": how much of the
 * name is not an address, nor in front of it a number.
 */
static size_t stable_length(const char *name, size_t length)
{
	static const char marks[] = "/.+";
	size_t end = length;

	for (size_t i = 0; i + 2 < length; i++)
		if (strchr(marks, name[i]) && name[i + 1] == '0' && name[i + 2] == 'x')
			end = i;
	if (end == length)
		return length;
	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end && name[end - 1] == '$' ? end - 1 : end;
}

static void put_class(struct strbuf *out, const char *name, size_t length, bool whole)
{
	size_t from = 0, to = stable_length(name, length);

	for (size_t i = 0; !whole && i < to; i++)
		if (name[i] == '/')
			from = i + 1;
	for (size_t i = from; i < to; i++)
		strbuf_putc(out, name[i] == '/' ? '.' : name[i]);
}

/* A type of a signature; returns what follows it, or NULL. */
static const char *put_type(struct strbuf *out, const char *text)
{
	static const char letters[] = "BCDFIJSZV";
	static const char *const words[] = {"byte", "char",  "double",	"float", "int",
					    "long", "short", "boolean", "void"};
	size_t dimensions = 0;
	const char *end, *letter;

	for (; *text == '['; text++)
		dimensions++;
	if (*text == 'L' && (end = strchr(text, ';'))) {
		put_class(out, text + 1, (size_t)(end - text - 1), true);
		text = end + 1;
	} else if (*text && (letter = strchr(letters, *text))) {
		strbuf_puts(out, words[letter - letters]);
		text++;
	} else {
		return NULL;
	}
	while (dimensions--)
		strbuf_puts(out, "[]");
	return text;
}

static bool put_parameters(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '(');
	for (bool first = true; *text != ')'; first = false) {
		if (!first)
			strbuf_puts(out, ", ");
		text = put_type(out, text);
		if (!text)
			return false;
	}
	strbuf_putc(out, ')');
	return true;
}

void java_type_put(struct strbuf *out, const char *signature)
{
	put_type(out, signature);
}

void java_parameters_put(struct strbuf *out, const char *signature)
{
	if (*signature == '(' && !put_parameters(out, signature + 1))
		strbuf_puts(out, "...");
}

bool java_is_method(const char *text)
{
	return *text == 'L' && strstr(text, ";.");
}

char *java_method_name(const char *text, enum name_style style)
{
	const char *end = *text == 'L' ? strstr(text, ";.") : NULL;
	const char *parameters = end ? strchr(end, '(') : NULL;
	struct strbuf name = {0};

	if (!parameters || style == NAME_MANGLED)
		return NULL;
	put_class(&name, text + 1, (size_t)(end - text - 1), style == NAME_LONG);
	strbuf_putc(&name, '.');
	strbuf_add(&name, end + 2, (size_t)(parameters - end - 2));
	if (style == NAME_LONG && !put_parameters(&name, parameters + 1))
		strbuf_puts(&name, "..."); /* it was cut */
	return strbuf_steal(&name);
}
