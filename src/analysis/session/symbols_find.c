/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a name means. */
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/shape.h"
#include "analysis/tree/tally.h"
#include "base/strbuf.h"
#include "object/names/java_name.h"

#include <stdlib.h>
#include <string.h>

struct function_match symbols_match(struct session *session, uint32_t function)
{
	const struct function *entry = &session->functions.items[function];

	return (struct function_match){
		.function = function,
		.name = symbols_name(session, function, NAME_LONG),
		.object = session->objects.items[entry->object].path,
		.address = entry->address,
		.size = entry->size,
		.object_id = entry->object,
		.file = CODE_NONE,
	};
}

static void add_match(struct session *session, uint32_t function, struct function_match **out,
		      size_t *count)
{
	*out = xrealloc(*out, (*count + 1) * sizeof(**out));
	(*out)[(*count)++] = symbols_match(session, function);
}

/* Whether a space-separated list has the word. */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *hit = list; hit && length && (hit = strstr(hit, word)); hit += length)
		if ((hit == list || hit[-1] == ' ') && (!hit[length] || hit[length] == ' '))
			return true;
	return false;
}

static bool matches_exactly(struct session *session, uint32_t function, const char *name)
{
	for (unsigned style = 0; style < NAME_STYLES; style++) {
		if (!strcmp(symbols_name(session, function, (enum name_style)style), name))
			return true;
		char *own = symbols_part_name(session, function, (enum name_style)style);
		bool same = own && !strcmp(own, name);

		free(own);
		if (same)
			return true;
	}
	return list_has(session->functions.items[function].aliases, name);
}

/* What may follow the name of a function. */
static bool ends_name(char next)
{
	return strchr("(<[.@ ", next);
}

/*
 * "f" begins "f(int)", "f<int>()" and "f.part.0", but not "fork".  What a template is made to has
 * its result in front: "f" is in "unsigned long f<int>()", "long" is not.
 */
static bool has_words(const char *full, const char *name)
{
	size_t length = strlen(name);
	int depth = 0;

	if (!length || (!strncmp(full, name, length) && ends_name(full[length])))
		return length;
	for (const char *at = full; *at; at++) {
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		if (!depth && at[0] == ' ' && !strncmp(at + 1, name, length) && at[1 + length] &&
		    at[1 + length] != ' ' && ends_name(at[1 + length]))
			return true;
	}
	return false;
}

static bool matches_words(struct session *session, uint32_t function, const char *name)
{
	return has_words(symbols_name(session, function, NAME_LONG), name);
}

static bool has_member(const char *full, const char *name)
{
	size_t length = strlen(name);
	int depth = 0;

	for (const char *at = full; length && *at; at++) {
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		if (!depth && at[0] == ':' && at[1] == ':' && !strncmp(at + 2, name, length) &&
		    ends_name(at[2 + length]))
			return true;
	}
	return false;
}

/* As it is called in its source, the caller's to free; NULL: that is its full name. */
static char *without_anonymous(const char *full)
{
	static const char anonymous[] = "(anonymous namespace)::";
	struct strbuf name = {0};
	const char *hit = strstr(full, anonymous);

	if (!hit)
		return NULL;
	for (; hit; hit = strstr(full, anonymous)) {
		strbuf_add(&name, full, (size_t)(hit - full));
		full = hit + sizeof(anonymous) - 1;
	}
	strbuf_puts(&name, full);
	return strbuf_steal(&name);
}

bool symbols_is_member(const char *full, const char *name)
{
	char *plain = without_anonymous(full);
	bool found = has_words(full, name) || has_member(full, name) ||
		     (plain && (has_words(plain, name) || has_member(plain, name)));

	free(plain);
	return found;
}

static bool matches_member(struct session *session, uint32_t function, const char *name)
{
	return symbols_is_member(symbols_name(session, function, NAME_LONG), name);
}

/* A search for functions by name. */
struct naming {
	struct tally *tally;
	const struct query *query;
	bool all; /* those too that no event touched */
};

/* Whether it is shown as "f [OF]". */
static bool is_called(const struct naming *naming, uint32_t function, const char *of)
{
	const char *own = shape_namesake(naming->tally->shape, function, false);

	return own && !strcmp(own, of);
}

/* Of Java there are methods, in machine mode what was compiled of them. */
static bool is_of_mode(const struct naming *naming, uint32_t function)
{
	const struct function *entry = &naming->tally->session->functions.items[function];
	bool is_machine = naming->query->mode == VIEW_MACHINE;

	if (!entry->announced || !naming->tally->session->has_modes)
		return true;
	if (entry->announced->address & FORMAT_PC_JAVA)
		return !is_machine;
	return is_machine || !java_is_method(entry->mangled);
}

static bool is_sought(const struct naming *naming, uint32_t function)
{
	const struct session *session = naming->tally->session;

	if (!is_of_mode(naming, function))
		return false;
	return symbols_is_seen(session, function, naming->query) ||
	       (naming->all && session->functions.items[function].origin == ORIGIN_LISTED);
}

static size_t find_named(const struct naming *naming, const char *name, const char *object,
			 bool (*matches)(struct session *, uint32_t, const char *),
			 struct function_match **out)
{
	struct session *session = naming->tally->session;
	size_t count = 0;

	for (uint32_t i = 0; i < session->functions.count; i++) {
		const struct load_object *own =
			&session->objects.items[session->functions.items[i].object];

		if (is_sought(naming, i) &&
		    (!object || !strcmp(object, own->name) || !strcmp(object, own->path) ||
		     is_called(naming, i, object)) &&
		    matches(session, i, name))
			add_match(session, i, out, &count);
	}
	return count;
}

/* Splits "f [libc.so.6]", "f [[vdso]]"; returns the object's name or NULL. */
static const char *split_soname(char *name)
{
	size_t length = strlen(name);
	char *bracket = length > 3 && name[length - 1] == ']' ? strrchr(name, '[') : NULL;

	if (bracket && bracket > name && bracket[-1] == '[')
		bracket--;
	if (!bracket || bracket == name || bracket[-1] != ' ')
		return NULL;
	name[length - 1] = '\0';
	bracket[-1] = '\0';
	return bracket + 1;
}

static size_t find_by_name(const struct naming *naming, const char *name,
			   struct function_match **out)
{
	size_t count;

	*out = NULL;
	count = find_named(naming, name, NULL, matches_exactly, out);
	if (count)
		return count;

	char *copy = xstrdup(name);
	const char *object = split_soname(copy);

	if (object)
		count = find_named(naming, copy, object, matches_exactly, out);
	if (!count)
		count = find_named(naming, copy, object, matches_words, out);
	free(copy);
	return count;
}

size_t symbols_search(struct session *session, const struct query *query, const char *name,
		      unsigned which, struct function_match **out)
{
	const struct naming naming = {
		.tally = tally_of(session, query), .query = query, .all = which & FIND_UNTOUCHED};
	size_t count = find_by_name(&naming, name, out);

	if (!count && which & FIND_MEMBERS)
		count = find_named(&naming, name, NULL, matches_member, out);
	tally_release(naming.tally);
	return count;
}

size_t view_find_functions(struct session *session, const struct query *query, const char *name,
			   struct function_match **out)
{
	return symbols_search(session, query, name, FIND_MEMBERS, out);
}
