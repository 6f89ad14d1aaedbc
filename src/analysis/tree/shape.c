/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree as a query shows it.  A hidden object is one function, one of which only entries
 * are shown has its inner calls folded into them: both give another tree, made of the whole one
 * from the root down.  Events stay where they are in the whole tree, so that what filters
 * choose does not depend on what is hidden.
 */
#include "analysis/tree/shape.h"

#include "analysis/session/query.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/tree.h"

#include <stdlib.h>
#include <string.h>

static uint32_t stand_in(struct session *session, uint32_t object)
{
	struct load_object *entry = &session->objects.items[object];

	if (!entry->stand_in) {
		entry->stand_in = symbols_add_made_up(
			session, object, arena_printf(&session->arena, "<%s>", entry->name));
		session->functions.items[entry->stand_in].origin = ORIGIN_STAND_IN;
	}
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

/* Those in call stacks; the caller frees the array. */
static struct placed *placed_functions(const struct session *session, const struct query *query,
				       size_t *count)
{
	struct placed *placed = xmalloc(session->functions.count * sizeof(*placed));

	*count = 0;
	for (uint32_t i = 0; i < session->functions.count; i++)
		if (symbols_is_seen(session, i, query))
			placed[(*count)++] = (struct placed){session->functions.items[i].object, i,
							     session->functions.items[i].address};
	qsort(placed, *count, sizeof(*placed), by_place);
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
static uint32_t *unite(const struct session *session, const struct query *query)
{
	uint32_t *first = xcalloc(session->functions.count, sizeof(*first));
	size_t count;
	struct placed *placed = placed_functions(session, query, &count);
	struct string_table names = {0};
	struct hash_map seen = {0}, known = {0}; /* name and object → how many; name and rank */
	VEC(uint32_t) ranks = {0};

	for (size_t i = 0; i < count; i++) {
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

/* How the functions of a load object are shown. */
struct folding {
	struct session *session;
	const struct query *query;
	struct shape *shape;
	uint32_t *united; /* NULL: each function is one by itself */
};

/* Where a function that is called from a shown node is shown. */
static uint32_t shown_node(const struct folding *folding, uint32_t above, uint32_t function)
{
	struct session *session = folding->session;
	struct call_tree *tree = &folding->shape->folded;
	uint32_t object = session->functions.items[function].object;
	enum object_showing showing = query_object_showing(folding->query, object);
	uint32_t caller = tree->nodes.items[above].function;

	if (showing == OBJECT_HIDDEN)
		function = stand_in(session, object);
	if (above != NODE_ROOT && showing != OBJECT_SHOWN &&
	    session->functions.items[caller].object == object)
		return above;
	return tree_add_node(tree, above, function);
}

static bool is_folded(const struct query *query, size_t objects, bool united)
{
	for (uint32_t i = 0; i < objects; i++)
		if (query_object_showing(query, i) != OBJECT_SHOWN)
			return true;
	return united;
}

static void fold(struct session *session, const struct query *query, struct shape *shape)
{
	const struct tree_node *nodes = shape->whole->tree.nodes.items;
	size_t count = shape->whole->tree.nodes.count;
	const struct folding folding = {.session = session,
					.query = query,
					.shape = shape,
					.united = shape->united ? unite(session, query) : NULL};

	tree_init(&shape->folded);
	shape->shown = xcalloc(count, sizeof(*shape->shown));
	for (size_t i = 1; i < count; i++) {
		uint32_t function = nodes[i].function;

		shape->shown[i] = shown_node(&folding, shape->shown[nodes[i].parent],
					     folding.united ? folding.united[function] : function);
	}
	tree_settle(&shape->folded);
	free(folding.united);
}

const uint32_t *shape_nodes(const struct shape *shape, size_t process, uint32_t **owned)
{
	const uint32_t *whole = shape->whole->nodes.items[process];
	size_t count = shape->session->scanned.items[process].process->stacks.nodes.count;

	*owned = NULL;
	if (!shape->shown)
		return whole;
	*owned = xmalloc(count * sizeof(**owned));
	for (size_t i = 0; i < count; i++)
		(*owned)[i] = shape->shown[whole[i]];
	return *owned;
}

size_t shape_size(const struct shape *shape)
{
	const struct call_tree *tree = &shape->folded;
	size_t nodes = tree->nodes.capacity * sizeof(*tree->nodes.items);

	if (tree->same)
		nodes += 2 * tree->nodes.count * sizeof(*tree->same);
	if (shape->shown)
		nodes += shape->whole->tree.nodes.count * sizeof(*shape->shown);
	return nodes + 2 * shape->namesake_count * sizeof(*shape->namesakes);
}

struct shape *shape_get(struct session *session, const struct query *query, bool united)
{
	struct shape *shape = xcalloc(1, sizeof(*shape));

	shape->session = session;
	shape->united = united;
	shape->whole = session_tree(session, query->mode, query->inlines);
	shape->tree = &shape->whole->tree;
	if (!is_folded(query, session->objects.count, united))
		return shape;
	fold(session, query, shape);
	shape->tree = &shape->folded;
	return shape;
}

void shape_put(struct shape *shape)
{
	if (--shape->references)
		return;
	call_tree_fini(&shape->folded);
	free(shape->shown);
	free(shape->namesakes);
	free(shape->key);
	free(shape);
}
