/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people write them, by libiberty.  The order of trials and the
 * options are those of cplus_demangle(DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO):
 * Rust, then C++.  DMGL_RUST must not be given, with it every C++ name fails.
 *
 * A name of 100 bytes can be made to stand for gigabytes, and libiberty has no
 * limit for that.  So the text is taken through the callback interface, and a
 * name that grows too long is left by longjmp and shown mangled.
 */
#include "object/names/java_name.h"
#include "object/object.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/*
 * libiberty refuses names of more than 1024 bytes unless told not to limit its
 * recursion; at the limit set here it was seen to need less than 2 MB of stack.
 */
enum {
	MANGLED_LIMIT = 8000,
	RECURSION_LIMITED = 1000,
	TEXT_LIMIT = 1024 * 1024,
	D_TEXT_LIMIT = 64 * 1024 * 1024, /* of an estimate that is far too high */
};

struct output {
	struct strbuf text;
	jmp_buf too_long;
};

static void append(const char *piece, size_t length, void *opaque)
{
	struct output *output = opaque;

	if (output->text.length + length > TEXT_LIMIT)
		longjmp(output->too_long, 1);
	strbuf_add(&output->text, piece, length);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback,
		      void *opaque);

static int options_for(const char *mangled)
{
	int options = DMGL_ANSI | DMGL_AUTO;

	return strlen(mangled) > RECURSION_LIMITED ? options | DMGL_NO_RECURSE_LIMIT : options;
}

/* The output is the caller's variable, so that longjmp leaves its value alone. */
static bool attempt(demangler *demangle, const char *mangled, int options, struct output *output)
{
	if (setjmp(output->too_long))
		return false;
	return demangle(mangled, options, append, output);
}

/* Memory from malloc, or NULL if the name is of another kind. */
static char *run(demangler *demangle, const char *mangled, int options)
{
	struct output output = {0};

	if (attempt(demangle, mangled, options, &output))
		return strbuf_steal(&output.text);
	strbuf_fini(&output.text);
	return NULL;
}

/*
 * Without parameters libiberty also drops what GCC adds to a copy or a part of a
 * function (.cold, .constprop.0); they are different functions and must stay
 * apart.
 */
static char *short_cxx_name(const char *mangled)
{
	const int options = options_for(mangled);
	char *name = run(cplus_demangle_v3_callback, mangled, options);
	char *full = NULL;

	if (name && strchr(mangled, '.'))
		full = run(cplus_demangle_v3_callback, mangled, options | DMGL_PARAMS);
	char *clone = full ? strstr(full, " [clone ") : NULL;

	if (clone) {
		char *joined = xasprintf("%s%s", name, clone);

		free(name);
		name = joined;
	}
	free(full);
	return name;
}

/*
 * An upper bound for the length of a D name; the demangler for D has no callback
 * that could stop it.  Names grow by back references, Q and a number in base 26
 * whose last digit is a small letter: to an identifier, or to a type, which
 * repeats at most everything from there to here.
 */
static bool d_name_fits(const char *mangled)
{
	size_t length = strlen(mangled);
	uint64_t *size_up_to = xcalloc(length + 1, sizeof(*size_up_to));
	uint64_t size = 0;

	for (size_t at = 0; at < length && size < D_TEXT_LIMIT; at++) {
		size_t digit = at + 1, distance = 0;

		size_up_to[at] = size++;
		if (mangled[at] != 'Q')
			continue;
		for (; mangled[digit] >= 'A' && mangled[digit] <= 'Z' && distance < length; digit++)
			distance = distance * 26 + (size_t)(mangled[digit] - 'A');
		if (mangled[digit] < 'a' || mangled[digit] > 'z')
			continue;
		distance = distance * 26 + (size_t)(mangled[digit] - 'a');
		if (distance > at)
			continue;
		char target = mangled[at - distance];

		size += target >= '0' && target <= '9' ? length : size - size_up_to[at - distance];
	}
	free(size_up_to);
	return size < D_TEXT_LIMIT;
}

/* Cuts the parameters, but not the arguments of a template: f!(int)(char) -> f!(int). */
static void cut_d_parameters(char *name)
{
	size_t depth = 0, at = strlen(name);

	if (!at || name[at - 1] != ')')
		return;
	while (at--) {
		if (name[at] == ')')
			depth++;
		else if (name[at] == '(' && !--depth)
			break;
	}
	if (at && at != (size_t)-1 && name[at - 1] != '!')
		name[at] = '\0';
}

static char *d_name(const char *mangled, enum name_style style)
{
	char *name = NULL;

	if (d_name_fits(mangled))
		name = dlang_demangle(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	if (name && style == NAME_SHORT)
		cut_d_parameters(name);
	return name;
}

static char *demangle_symbol(const char *mangled, enum name_style style)
{
	if (mangled[0] == 'L' || mangled[0] == '[')
		return java_method_name(mangled, style);
	/* All of them begin with an underscore; most symbols are C and do not. */
	if (mangled[0] != '_' || strnlen(mangled, MANGLED_LIMIT) == MANGLED_LIMIT)
		return NULL;
	if (mangled[1] == 'D')
		return d_name(mangled, style);

	const int options = options_for(mangled) | DMGL_PARAMS;
	char *name = run(rust_demangle_callback, mangled, options);

	if (!name && style == NAME_SHORT)
		name = short_cxx_name(mangled);
	else if (!name)
		name = run(cplus_demangle_v3_callback, mangled, options);
	return name;
}

char *object_demangle(const char *mangled, enum name_style style)
{
	static const char plt[] = "@plt";
	const size_t suffix = sizeof(plt) - 1;
	size_t length = strlen(mangled);
	char *name = NULL;

	if (style == NAME_MANGLED)
		return xstrdup(mangled);
	if (length > suffix && !strcmp(mangled + length - suffix, plt)) {
		char *target = xstrndup(mangled, length - suffix);
		char *text = demangle_symbol(target, style);

		if (text)
			name = xasprintf("%s%s", text, plt);
		free(text);
		free(target);
	} else {
		name = demangle_symbol(mangled, style);
	}
	return name ? name : xstrdup(mangled);
}
