/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one name, told apart: by their load object, where several have such a function, and
 * by their source file, or else their address, where one load object has several (static ones).
 * Only functions in call stacks matter: what is in no list needs no more than its name.
 */
#include "analysis/session/query.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/shape.h"
#include "object/lines/lines.h"

#include <stdlib.h>
#include <string.h>

/* Texts, and for each what has it, a number, or MANY. */
struct owners {
	struct string_table texts;
	VEC(uint32_t) numbers;
};

enum { MANY = UINT32_MAX };

static void add_owner(struct owners *owners, const char *text, uint32_t number)
{
	uint32_t at = string_table_add(&owners->texts, text);

	if (at == owners->numbers.count)
		*vec_push(&owners->numbers) = number;
	else if (owners->numbers.items[at] != number)
		owners->numbers.items[at] = MANY;
}

static bool has_many_owners(const struct owners *owners, const char *text)
{
	return owners->numbers.items[string_table_find(&owners->texts, text)] == MANY;
}

static void owners_fini(struct owners *owners)
{
	string_table_fini(&owners->texts);
	vec_fini(&owners->numbers);
}

/* Functions that are in call stacks and in a load object. */
static bool *called_functions(const struct session *session, const struct call_tree *tree)
{
	bool *called = xcalloc(session->functions.count, sizeof(*called));

	for (size_t i = 0; i < tree->nodes.count; i++) {
		uint32_t function = tree->nodes.items[i].function;

		called[function] = session->functions.items[function].object != OBJECT_UNKNOWN;
	}
	return called;
}

/* ---- of several load objects ---- */

static void name_by_object(struct session *session, const bool *called, const char **labels)
{
	struct owners names = {0}, in_files = {0}; /* of "f", of "f [a.out]" */

	for (size_t i = 0; i < session->functions.count; i++)
		if (called[i])
			add_owner(&names, session->functions.items[i].mangled,
				  session->functions.items[i].object);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < session->functions.count; i++) {
			const struct function *function = &session->functions.items[i];
			const struct load_object *object =
				&session->objects.items[function->object];
			char *text;

			if (!called[i] || !has_many_owners(&names, function->mangled))
				continue;
			text = xasprintf("%s [%s]", function->mangled, object->name);
			if (!pass)
				add_owner(&in_files, text, function->object);
			else
				labels[i] = has_many_owners(&in_files, text) ? object->path
									     : object->name;
			free(text);
		}
	owners_fini(&names);
	owners_fini(&in_files);
}

/* ---- of one load object ---- */

enum label { LABEL_NAME, LABEL_FILE, LABEL_PATH, LABELS };

/* The path of the source file that a function begins in, or NULL. */
static const char *source_of(struct session *session, uint32_t number)
{
	const struct function *function = &session->functions.items[number];
	struct load_object *object = &session->objects.items[function->object];
	const char *known = symbols_source(session, number);

	if (known)
		return known;
	symbols_object(session,
		       function->object); /* unknown so far if the functions come from the cache */
	if (!object->object || !function->size)
		return NULL;

	struct lines *lines = object_lines(object->object);
	uint32_t file =
		lines_first(lines, function->address, function->address + function->size).file;

	return file == LINES_NONE ? NULL : lines_file(lines, file)->path;
}

/* What a function has in common with others, so far; the caller's to free. */
static char *key_of(struct session *session, uint32_t number, enum label label, const char *source)
{
	const struct function *function = &session->functions.items[number];
	const char *slash = source ? strrchr(source, '/') : NULL;

	if (label == LABEL_FILE && slash && slash[1])
		source = slash + 1;
	/* What is inlined says so, which tells it from the function's own code. */
	return xasprintf("%u%s %s\n%s", function->object,
			 function->origin == ORIGIN_INLINED ? " inlined" : "", function->mangled,
			 label == LABEL_NAME ? "" : source);
}

/* As long as the session: tables of before have it in their rows. */
static const char *keep_text(struct session *session, const char *text)
{
	uint32_t id = string_table_add(&session->namesake_texts, text);

	return string_table_text(&session->namesake_texts, id);
}

/* Frees the text. */
static const char *keep_made(struct session *session, char *text)
{
	const char *kept = keep_text(session, text);

	free(text);
	return kept;
}

/* NULL: nothing tells it apart.  What is inlined has no address of its own. */
static const char *choose_label(struct session *session, uint32_t number, const char *source,
				const struct owners owners[LABELS])
{
	const struct function *function = &session->functions.items[number];

	for (enum label label = LABEL_FILE; source && label < LABELS; label++) {
		char *key = key_of(session, number, label, source);
		bool is_own = !has_many_owners(&owners[label], key);
		const char *kept = is_own ? keep_text(session, strchr(key, '\n') + 1) : NULL;

		free(key);
		if (kept)
			return kept;
	}
	if (function->origin == ORIGIN_INLINED)
		return NULL;
	return keep_made(session, xasprintf("0x%llx", (unsigned long long)function->address));
}

static void name_by_source(struct session *session, const bool *called, const char **labels,
			   const char **in_object)
{
	size_t count = session->functions.count;
	const char **sources = xcalloc(count, sizeof(*sources));
	struct owners owners[LABELS] = {0};
	bool *shared = xcalloc(count, sizeof(*shared));

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < count; i++) {
			char *key = called[i] ? key_of(session, i, LABEL_NAME, NULL) : NULL;

			if (key && !pass)
				add_owner(&owners[LABEL_NAME], key, i);
			else if (key)
				shared[i] = has_many_owners(&owners[LABEL_NAME], key);
			free(key);
		}
	for (uint32_t i = 0; i < count; i++) {
		sources[i] = shared[i] ? source_of(session, i) : NULL;
		for (enum label label = LABEL_FILE; sources[i] && label < LABELS; label++) {
			char *key = key_of(session, i, label, sources[i]);

			add_owner(&owners[label], key, i);
			free(key);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!shared[i])
			continue;
		in_object[i] = choose_label(session, i, sources[i], owners);
		if (in_object[i])
			labels[i] = labels[i] ? keep_made(session, xasprintf("%s: %s", labels[i],
									     in_object[i]))
					      : in_object[i];
	}
	for (int label = 0; label < LABELS; label++)
		owners_fini(&owners[label]);
	free(shared);
	free(sources);
}

const char *shape_namesake(struct shape *shape, uint32_t function, bool in_object)
{
	struct session *session = shape->session;
	size_t count = session->functions.count;

	if (!shape->namesakes) {
		bool *called = called_functions(session, shape->tree);

		shape->namesakes = xcalloc(2 * count, sizeof(*shape->namesakes));
		shape->namesake_count = count;
		name_by_object(session, called, shape->namesakes);
		name_by_source(session, called, shape->namesakes, shape->namesakes + count);
		free(called);
	}
	count = shape->namesake_count; /* functions may have been added since: in no stack of it */
	return function < count ? shape->namesakes[function + (in_object ? count : 0)] : NULL;
}
