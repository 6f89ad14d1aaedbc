/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How load objects are shown.  A hidden object is one function, one of which only entries are
 * shown has its inner calls folded into them: both give another tree, made of the whole one
 * from the root down.  Events stay where they are in the whole tree, so that what filters
 * choose does not depend on what is hidden.
 */
#include "analysis/session.h"

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
	for (size_t i = 1; i < session->objects.count; i++)
		if (session->objects.items[i].showing != OBJECT_SHOWN)
			return true;
	return false;
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

	session->shown = xcalloc(session->whole.nodes.count, sizeof(*session->shown));
	for (size_t i = 1; i < session->whole.nodes.count; i++)
		session->shown[i] =
			shown_node(session, session->shown[nodes[i].parent], nodes[i].function);
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

enum status session_show_objects(struct session *session, const char *list,
				 enum object_showing showing, struct diag_list *diags)
{
	char *names = xstrdup(list), *rest = names, *name;
	enum status status = STATUS_OK;

	while ((name = strsep(&rest, ","))) {
		if (show_named(session, name, showing))
			continue;
		diag_add(diags, DIAG_ERROR, "No load object is called %s: `objects' lists them",
			 name);
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
