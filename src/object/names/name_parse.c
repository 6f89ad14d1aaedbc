/* SPDX-License-Identifier: Apache-2.0 */
/* The suffixes that GCC and LLVM put behind a symbol, each ".WORD" and perhaps ".NUMBER". */
#include "base/array.h"
#include "base/memory.h"
#include "object/names/name.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

struct suffix {
	const char *word;
	enum function_kind kind;
	bool needs_number; /* without one, it may be the name of something else */
};
static const struct suffix suffixes[] = {
	{"constprop", FUNCTION_CLONE, true},
	{"isra", FUNCTION_CLONE, true},
	{"clone", FUNCTION_CLONE, true},
	{"specialized", FUNCTION_CLONE, true},
	{"localalias", FUNCTION_PLAIN, false},
	{"lto_priv", FUNCTION_PLAIN, true},
	{"llvm", FUNCTION_PLAIN, true},
	{"part", FUNCTION_PART, true},
	{"__part", FUNCTION_PART, true},
	{"cold", FUNCTION_PART, false},
	{"_omp_fn", FUNCTION_OMP_REGION, true},
	{"_loopfn", FUNCTION_OMP_LOOP, true},
	{"omp_outlined", FUNCTION_OMP_REGION, false},
	{"omp_outlined_debug__", FUNCTION_OMP_REGION, false},
	{"_omp_cpyfn", FUNCTION_OMP_HELPER, true},
	{"resolver", FUNCTION_RESOLVER, false},
	{"default", FUNCTION_CLONE, false},
	{"sse4_2", FUNCTION_CLONE, false},
	{"popcnt", FUNCTION_CLONE, false},
	{"fma", FUNCTION_CLONE, false},
	{"bmi", FUNCTION_CLONE, false},
	{"bmi2", FUNCTION_CLONE, false},
};
/* Targets of function multiversioning that begin so. */
static const char *const target_prefixes[] = {"avx", "arch_", "sse"};

/* Functions that clang names without their parents: symbols that begin so. */
static const struct suffix prefixes[] = {
	{".omp_outlined.", FUNCTION_OMP_REGION, false},
	{".omp_task_entry.", FUNCTION_OMP_TASK, false},
	{".omp_task_outlined.", FUNCTION_OMP_TASK, false},
	{".omp_task_privates_map.", FUNCTION_OMP_HELPER, false},
	{".omp_task_dup.", FUNCTION_OMP_HELPER, false},
	{".omp_task_destructor.", FUNCTION_OMP_HELPER, false},
	{".omp.reduction.", FUNCTION_OMP_HELPER, false},
	{".omp_combiner.", FUNCTION_OMP_HELPER, false},
	{".omp_initializer.", FUNCTION_OMP_HELPER, false},
	{".omp.copyprivate.", FUNCTION_OMP_HELPER, false},
	{".red_init.", FUNCTION_OMP_HELPER, false},
	{".red_comb.", FUNCTION_OMP_HELPER, false},
	{".red_fini.", FUNCTION_OMP_HELPER, false},
};

static bool is_number(const char *text, size_t length)
{
	return length && strspn(text, DIGITS) >= length;
}

/* The kind of a suffix, a word of that length, or false: it is none. */
static bool find_suffix(const char *word, size_t length, bool has_number, enum function_kind *kind)
{
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		const struct suffix *suffix = &suffixes[i];

		if (strlen(suffix->word) == length && !strncmp(word, suffix->word, length) &&
		    (has_number || !suffix->needs_number)) {
			*kind = suffix->kind;
			return true;
		}
	}
	for (size_t i = 0; i < COUNT(target_prefixes); i++) {
		if (!strncmp(word, target_prefixes[i], strlen(target_prefixes[i]))) {
			*kind = FUNCTION_CLONE;
			return true;
		}
	}
	return false;
}

/* The last dot before the end that is not the first character, or NULL. */
static const char *last_dot(const char *symbol, const char *end)
{
	while (end > symbol + 1) {
		if (*--end == '.')
			return end;
	}
	return NULL;
}

/* Takes one suffix off the end. */
static bool cut_suffix(const char *symbol, const char **end, enum function_kind *kind)
{
	const char *dot = last_dot(symbol, *end);
	const char *word_end = *end;
	bool has_number = dot && is_number(dot + 1, (size_t)(*end - dot - 1));

	if (has_number) {
		word_end = dot;
		dot = last_dot(symbol, dot);
	}
	if (!dot || !find_suffix(dot + 1, (size_t)(word_end - dot - 1), has_number, kind))
		return false;
	*end = dot;
	return true;
}

/* __omp_offloading_DEVICE_FILE_NAME_lLINE, the numbers in hexadecimal. */
static char *offloaded_parent(const char *symbol)
{
	static const char hex[] = DIGITS "abcdef";
	const char *name = symbol + strlen("__omp_offloading_");

	for (int i = 0; i < 2; i++) {
		name += strspn(name, hex);
		if (*name++ != '_')
			return NULL;
	}
	const char *line = strstr(name, "_l");

	for (const char *next = line; next; next = strstr(next + 1, "_l"))
		line = next;
	return line && line > name ? xstrndup(name, (size_t)(line - name)) : NULL;
}

/* What a whole symbol is by the way it begins or ends, or FUNCTION_PLAIN. */
static enum function_kind kind_by_frame(const char *symbol, char **parent)
{
	static const char offloading[] = "__omp_offloading_", master[] = "master.", plt[] = "@plt";
	size_t length = strlen(symbol);

	for (size_t i = 0; i < COUNT(prefixes); i++) {
		if (!strncmp(symbol, prefixes[i].word, strlen(prefixes[i].word)))
			return prefixes[i].kind;
	}
	if (!strncmp(symbol, offloading, sizeof(offloading) - 1)) {
		*parent = offloaded_parent(symbol);
		return FUNCTION_OMP_TARGET;
	}
	if (length >= sizeof(plt) - 1 && !strcmp(symbol + length - (sizeof(plt) - 1), plt))
		return FUNCTION_PLT;
	if (!strncmp(symbol, master, sizeof(master) - 1)) {
		const char *number = symbol + sizeof(master) - 1;
		size_t digits = strspn(number, DIGITS);

		if (digits && number[digits] == '.' && number[digits + 1]) {
			*parent = xstrdup(number + digits + 1);
			return FUNCTION_ENTRIES;
		}
	}
	return FUNCTION_PLAIN;
}

enum function_kind function_name_parse(const char *symbol, char **parent)
{
	enum function_kind kind, one;
	const char *end = symbol + strlen(symbol);

	*parent = NULL;
	kind = kind_by_frame(symbol, parent);
	if (kind != FUNCTION_PLAIN)
		return kind;
	while (cut_suffix(symbol, &end, &one)) {
		if (kind == FUNCTION_PLAIN)
			kind = one;
	}
	if (kind != FUNCTION_PLAIN)
		*parent = xstrndup(symbol, (size_t)(end - symbol));
	return kind;
}
