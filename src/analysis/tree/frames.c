/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call stack is made of addresses; to people an address may be several functions.  Code that
 * the compiler moved out of a function (foo.cold, foo.part.0) is reached by a jump, or by
 * a call from wherever the rest was inlined: a call from foo is made up, so that the inclusive
 * metrics of foo have it.  Functions inlined at the address are calls too, if they are wanted.
 */
#include "analysis/tree/frames.h"

#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "object/names/name.h"

#include <stdlib.h>

enum { NOT_LOOKED_UP = UINT32_MAX - 1 };

uint32_t frames_outlined_from(struct session *session, uint32_t function)
{
	const struct function entry = session->functions.items[function];
	struct object *object = session->objects.items[entry.object].object;
	char *name;
	bool is_part = entry.symbol != OBJECT_NO_FUNCTION &&
		       function_name_parse(entry.mangled, &name) == FUNCTION_PART;
	uint32_t symbol = is_part ? symbols_symbol(session, function) : OBJECT_NO_FUNCTION;
	uint32_t parent =
		symbol == OBJECT_NO_FUNCTION ? OBJECT_NO_FUNCTION : function_parent(object, symbol);

	if (entry.symbol != OBJECT_NO_FUNCTION)
		free(name);
	return parent == OBJECT_NO_FUNCTION ? NODE_NONE
					    : symbols_function(session, entry.object, parent);
}

/* The innermost call inlined at a location, for lines_inline_node() of its object; or LINES_NONE.
 */
struct inlining {
	uint32_t node, object;
};

struct finding {
	struct session *session;
	struct frames *frames;
	uint32_t *parents; /* by function */
	size_t parent_count;
};

static uint32_t parent_of(struct finding *finding, uint32_t function)
{
	if (function >= finding->parent_count)
		return NODE_NONE;
	if (finding->parents[function] == NOT_LOOKED_UP)
		finding->parents[function] = frames_outlined_from(finding->session, function);
	return finding->parents[function];
}

static void add_physical(struct finding *finding, uint32_t function)
{
	uint32_t parent = parent_of(finding, function);

	*vec_push(&finding->frames->outlined) = parent != NODE_NONE;
	if (parent != NODE_NONE)
		*vec_push(&finding->frames->functions) = parent;
	*vec_push(&finding->frames->functions) = function;
}

/* ---- which calls are inlined at the locations: asked in the order of addresses ---- */

struct located {
	uint32_t location, object;
	uint64_t address;
};
struct located_list {
	struct located *items;
	size_t count, capacity;
};

static int compare_places(const void *a, const void *b)
{
	const struct located *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Those in the code of load objects. */
static void find_places(struct session *session, const struct experiment *experiment,
			const struct process *process, struct located_list *places)
{
	for (uint32_t i = 0; i < process->stacks.locations.count; i++) {
		struct located place = {.location = i};
		uint32_t function = symbols_place(session, experiment, process, i, &place.object,
						  &place.address);

		if (function >= FUNCTION_FIRST_REAL && session->objects.items[place.object].object)
			*vec_push(places) = place;
	}
	if (places->count)
		qsort(places->items, places->count, sizeof(*places->items), compare_places);
}

/* Of places in one load object. */
static void find_calls(struct session *session, const struct located *places, size_t count,
		       struct inlining *out)
{
	struct lines *lines = object_lines(session->objects.items[places[0].object].object);
	uint64_t *addresses = xmalloc(count * sizeof(*addresses));
	uint32_t *nodes = xmalloc(count * sizeof(*nodes));

	for (size_t i = 0; i < count; i++)
		addresses[i] = places[i].address;
	lines_find_inlined(lines, addresses, count, nodes);
	for (size_t i = 0; i < count; i++)
		out[places[i].location] = (struct inlining){nodes[i], places[i].object};
	free(addresses);
	free(nodes);
}

static struct inlining *find_inlining(struct session *session, const struct experiment *experiment,
				      const struct process *process)
{
	struct located_list places = {0};
	struct inlining *inlining =
		xmalloc((process->stacks.locations.count + 1) * sizeof(*inlining));

	for (size_t i = 0; i < process->stacks.locations.count; i++)
		inlining[i] = (struct inlining){.node = LINES_NONE};
	find_places(session, experiment, process, &places);
	for (size_t first = 0, next; first < places.count; first = next) {
		for (next = first; next < places.count &&
				   places.items[next].object == places.items[first].object;)
			next++;
		find_calls(session, places.items + first, next - first, inlining);
	}
	vec_fini(&places);
	return inlining;
}

/* A chain from its outermost call; its root is the function that has the code. */
static void add_inlined(struct finding *finding, const struct inlining *inlining, uint32_t node)
{
	struct lines *lines =
		object_lines(finding->session->objects.items[inlining->object].object);
	struct inline_node call = lines_inline_node(lines, node);

	if (call.parent == LINES_NONE)
		return;
	add_inlined(finding, inlining, call.parent);
	*vec_push(&finding->frames->functions) =
		symbols_inlined(finding->session, inlining->object, call.function);
}

static bool has_outlined(struct finding *finding, const uint32_t *functions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (parent_of(finding, functions[i]) != NODE_NONE)
			return true;
	return false;
}

static void add_locations(struct finding *finding, const struct process *process,
			  const uint32_t *functions, const struct inlining *inlining)
{
	struct frames *out = finding->frames;

	for (uint32_t i = 0; i < process->stacks.locations.count; i++) {
		*vec_push(&out->first) = (uint32_t)out->functions.count;
		add_physical(finding, functions[i]);
		if (inlining && inlining[i].node != LINES_NONE)
			add_inlined(finding, &inlining[i], inlining[i].node);
	}
	*vec_push(&out->first) = (uint32_t)out->functions.count;
}

void frames_find(struct session *session, bool inlines, const struct experiment *experiment,
		 const struct process *process, struct frames *out)
{
	uint32_t *functions = symbols_resolve(session, experiment, process);
	struct inlining *inlining = inlines ? find_inlining(session, experiment, process) : NULL;
	struct finding finding = {
		.session = session,
		.frames = out,
		.parents = xmalloc(session->functions.count * sizeof(uint32_t)),
		.parent_count = session->functions.count,
	};

	*out = (struct frames){0};
	for (size_t i = 0; i < finding.parent_count; i++)
		finding.parents[i] = NOT_LOOKED_UP;
	if (inlining || has_outlined(&finding, functions, process->stacks.locations.count)) {
		add_locations(&finding, process, functions, inlining);
		free(functions);
	} else {
		out->single = functions;
	}
	free(finding.parents);
	free(inlining);
}

uint32_t frames_physical(const struct frames *frames, uint32_t location)
{
	if (frames->single)
		return frames->single[location];
	return frames->functions
		.items[frames->first.items[location] + frames->outlined.items[location]];
}

void frames_fini(struct frames *frames)
{
	free(frames->single);
	vec_fini(&frames->first);
	vec_fini(&frames->functions);
	vec_fini(&frames->outlined);
}
