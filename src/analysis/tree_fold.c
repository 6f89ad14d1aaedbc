/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How load objects are shown.  A hidden object is one function, one of which only entries are
 * shown has its inner calls folded into them: both give another tree, made of the whole one
 * from the root down.  Events stay where they are in the whole tree, so that what filters
 * choose does not depend on what is hidden.
 */
#include "analysis/session.h"

#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

static uint32_t stand_in(struct session *session, uint32_t object)
{
	struct load_object *entry = &session->objects.items[object];

	if (!entry->stand_in)
		entry->stand_in = symbols_add_made_up(
			session, object, arena_printf(&session->arena, "<%s>", entry->name));
	return entry->stand_in;
}

/* A function by its place, to be sorted. */
struct placed {
	uint32_t object, function;
	uint64_t address;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static struct placed *placed_functions(const struct session *session)
{
	struct placed *placed = xmalloc(session->functions.count * sizeof(*placed));

	for (uint32_t i = 0; i < session->functions.count; i++)
		placed[i] = (struct placed){session->functions.items[i].object, i,
					    session->functions.items[i].address};
	qsort(placed, session->functions.count, sizeof(*placed), by_place);
	return placed;
}

/* "libc.so.6:malloc": the programs that were run are called alike, whatever their files are. */
static uint32_t name_in_object(const struct session *session, struct string_table *names,
			       uint32_t function)
{
	const struct function *entry = &session->functions.items[function];
	const struct load_object *object = &session->objects.items[entry->object];
	char *name = xasprintf("%s:%s", object->is_program ? "" : object->name, entry->mangled);
	uint32_t id = string_table_add(names, name);

	free(name);
	return id;
}

/*
 * Functions of one name in load objects of one name are one, where there are several in an
 * object the first the first, and so on: each stands for itself, or for one met earlier.  The
 * caller frees the array.
 */
static uint32_t *unite(const struct session *session)
{
	uint32_t *first = xmalloc(session->functions.count * sizeof(*first));
	struct placed *placed = placed_functions(session);
	struct string_table names = {0};
	struct hash_map seen = {0}, known = {0}; /* name and object → how many; name and rank */
	VEC(uint32_t) ranks = {0};

	for (size_t i = 0; i < session->functions.count; i++) {
		uint64_t name = name_in_object(session, &names, placed[i].function);
		uint32_t fresh = (uint32_t)ranks.count;
		uint32_t rank = hash_map_put(&seen, name << 32 | placed[i].object, fresh);

		if (rank == fresh)
			*vec_push(&ranks) = 0;
		first[placed[i].function] =
			hash_map_put(&known, name << 32 | ranks.items[rank]++, placed[i].function);
	}
	vec_fini(&ranks);
	hash_map_fini(&seen);
	hash_map_fini(&known);
	string_table_fini(&names);
	free(placed);
	return first;
}

/* Where a function that is called from a shown node is shown. */
static uint32_t shown_node(struct session *session, uint32_t above, uint32_t function)
{
	uint32_t object = session->functions.items[function].object;
	enum object_showing showing = session->objects.items[object].showing;
	uint32_t caller = session->tree.nodes.items[above].function;

	if (showing == OBJECT_HIDDEN)
		function = stand_in(session, object);
	if (above != NODE_ROOT && showing != OBJECT_SHOWN &&
	    session->functions.items[caller].object == object)
		return above;
	return tree_add_node(&session->tree, above, function);
}

static bool is_folded(const struct session *session)
{
	for (size_t i = 0; i < session->objects.count; i++)
		if (session->objects.items[i].showing != OBJECT_SHOWN)
			return true;
	return session->united;
}

void tree_refold(struct session *session)
{
	if (session->shown) {
		call_tree_fini(&session->tree);
		session->tree = session->whole;
		session->whole = (struct call_tree){0};
		free(session->shown);
		session->shown = NULL;
	}
	if (!is_folded(session))
		return;
	session->whole = session->tree;
	session->tree = (struct call_tree){0};
	tree_init(session);

	const struct tree_node *nodes = session->whole.nodes.items;
	uint32_t *united = session->united ? unite(session) : NULL;

	session->shown = xcalloc(session->whole.nodes.count, sizeof(*session->shown));
	for (size_t i = 1; i < session->whole.nodes.count; i++) {
		uint32_t function = nodes[i].function;

		session->shown[i] = shown_node(session, session->shown[nodes[i].parent],
					       united ? united[function] : function);
	}
	tree_settle(session);
	free(united);
}

static bool is_called(const struct load_object *object, const char *name)
{
	return !strcmp(object->name, name) || !strcmp(object->path, name);
}

/* <Unknown> is no object. False: no other has the name. */
static bool show_named(struct session *session, const char *name, enum object_showing showing)
{
	bool found = !strcmp(name, "all");

	for (size_t i = 1; i < session->objects.count; i++) {
		struct load_object *object = &session->objects.items[i];

		if (strcmp(name, "all") != 0 && !is_called(object, name))
			continue;
		object->showing = showing;
		found = true;
	}
	return found;
}

static void complain_object(const struct session *session, const char *name,
			    struct diag_list *diags)
{
	VEC(const char *) names = {0};
	const char *closest;

	for (size_t i = 1; i < session->objects.count; i++)
		*vec_push(&names) = session->objects.items[i].name;
	closest = suggest_closest(name, names.items, names.count);
	if (closest)
		diag_add(diags, DIAG_ERROR, "No load object is called %s: did you mean %s?", name,
			 closest);
	else
		diag_add(diags, DIAG_ERROR, "No load object is called %s: `objects' lists them",
			 name);
	vec_fini(&names);
}

enum status session_show_objects(struct session *session, const char *list,
				 enum object_showing showing, struct diag_list *diags)
{
	char *names = xstrdup(list), *rest = names, *name;
	enum status status = STATUS_OK;

	while ((name = strsep(&rest, ","))) {
		if (show_named(session, name, showing))
			continue;
		complain_object(session, name, diags);
		status = STATUS_NOTFOUND;
	}
	free(names);
	tree_refold(session);
	session_count(session);
	return status;
}

enum object_showing session_object_showing(const struct session *session, size_t index)
{
	return session->objects.items[index + 1].showing;
}
