/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tree/stack_paths.h"

#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/frame_list.h"
#include "analysis/tree/shape.h"
#include "analysis/tree/tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- which stacks there are ---- */

/* Whether the pc is in the function, or in what was inlined into that. */
static bool has_address(const struct stack_paths *paths, uint32_t function, uint32_t pc)
{
	const struct code_pc *at;
	const struct function *of = &paths->session->functions.items[function];

	if (pc == NODE_NONE)
		return false;
	at = &paths->session->code->pcs.items[pc];
	if (query_object_showing(paths->query, at->object) == OBJECT_HIDDEN)
		return false;
	return function == at->function ||
	       (of->origin == ORIGIN_INLINED && of->object == at->object);
}

static uint32_t add_frame(struct stack_paths *paths, uint32_t function, uint32_t pc, uint32_t level)
{
	const struct path_frame frame = has_address(paths, function, pc)
						? (struct path_frame){function, pc, level}
						: (struct path_frame){function, NODE_NONE, 0};
	uint64_t key = hash_pair((uint64_t)frame.function << 32 | frame.pc, frame.level);

	for (;; key++) { /* two frames of one key take neighbours */
		uint32_t fresh = (uint32_t)paths->frames.count;
		uint32_t known = key_numbers_put(&paths->known_frames, key);

		if (known == fresh) {
			*vec_push(&paths->frames) = frame;
			return known;
		}

		const struct path_frame *there = &paths->frames.items[known];

		if (there->function == frame.function && there->pc == frame.pc &&
		    there->level == frame.level)
			return known;
	}
}

/* The stack that a node of the shape adds to that of `above`, which is a node over it. */
static uint32_t add_path(struct stack_paths *paths, uint32_t stack, uint32_t above, uint32_t node,
			 uint32_t pc)
{
	const struct tree_node *nodes = paths->shape->tree->nodes.items;
	VEC(uint32_t) path = {0};

	for (; node != above; node = nodes[node].parent)
		*vec_push(&path) = nodes[node].function;
	for (size_t i = path.count; i--;)
		stack = tree_add_node(&paths->stacks, stack,
				      add_frame(paths, path.items[i], pc, (uint32_t)i));
	vec_fini(&path);
	return stack;
}

/* Of one process: by node of its stacks. */
struct paths_of_process {
	uint32_t *stack;       /* plus 1; 0: not asked for yet */
	const uint32_t *shown; /* node of the shape */
	uint32_t *owned;
};

static struct paths_of_process *paths_of(struct stack_paths *paths, size_t process)
{
	struct paths_of_process *of = &paths->processes[process];

	if (of->stack)
		return of;
	of->stack = xcalloc(paths->session->scanned.items[process].process->stacks.nodes.count + 1,
			    sizeof(*of->stack));
	of->shown = shape_nodes(paths->shape, process, &of->owned);
	return of;
}

/* One node whose parent is known. */
static uint32_t add_node(struct stack_paths *paths, size_t process, uint32_t node)
{
	const struct stack_tree *stacks = &paths->session->scanned.items[process].process->stacks;
	const struct stack_node *at = &stacks->nodes.items[node];
	const struct paths_of_process *of = &paths->processes[process];
	bool is_outermost = at->parent == STACK_ROOT;

	return add_path(paths, is_outermost ? NODE_ROOT : of->stack[at->parent] - 1,
			is_outermost ? NODE_ROOT : of->shown[at->parent], of->shown[node],
			paths->session->code->processes.items[process][at->location]);
}

uint32_t stack_paths_find(struct stack_paths *paths, size_t process, uint32_t node)
{
	const struct stack_node *nodes =
		paths->session->scanned.items[process].process->stacks.nodes.items;
	struct paths_of_process *of = paths_of(paths, process);
	VEC(uint32_t) unknown = {0};

	if (node == STACK_ROOT)
		return tree_add_node(&paths->stacks, NODE_ROOT,
				     add_frame(paths, FUNCTION_NO_STACK, NODE_NONE, 0));
	for (uint32_t at = node; at != STACK_ROOT && !of->stack[at]; at = nodes[at].parent)
		*vec_push(&unknown) = at;
	for (size_t i = unknown.count; i--;)
		of->stack[unknown.items[i]] = add_node(paths, process, unknown.items[i]) + 1;
	vec_fini(&unknown);
	return of->stack[node] - 1;
}

uint32_t stack_paths_leaf(const struct stack_paths *paths, uint32_t stack)
{
	return paths->frames.items[paths->stacks.nodes.items[stack].function].function;
}

void stack_paths_init(struct stack_paths *paths, struct tally *tally, const struct query *query)
{
	*paths = (struct stack_paths){
		.session = tally->session, .query = query, .shape = tally->shape};
	code_of(paths->session);
	tree_init(&paths->stacks);
	add_frame(paths, FUNCTION_TOTAL, NODE_NONE, 0);
	paths->processes = xcalloc(paths->session->scanned.count + 1, sizeof(*paths->processes));
}

void stack_paths_fini(struct stack_paths *paths)
{
	for (size_t i = 0; i < paths->session->scanned.count; i++) {
		free(paths->processes[i].stack);
		free(paths->processes[i].owned);
	}
	free(paths->processes);
	call_tree_fini(&paths->stacks);
	vec_fini(&paths->frames);
	key_numbers_fini(&paths->known_frames);
}

/* ---- their frames ---- */

/* Lines of calls are known where something was inlined; see lines_inline_node(). */
static void find_line(struct session *session, const struct path_frame *frame, uint32_t *file,
		      uint32_t *line)
{
	const struct code_pc *pc = &session->code->pcs.items[frame->pc];
	uint64_t address = pc->address;
	uint32_t node;

	*file = pc->file;
	*line = pc->line;
	if (!frame->level)
		return;
	lines_find_inlined(code_lines(session, pc->object), &address, 1, &node);
	for (uint32_t level = frame->level; level && node != LINES_NONE; level--) {
		struct inline_node call = lines_inline_node(code_lines(session, pc->object), node);

		*file = call.call_file;
		*line = call.call_line;
		node = call.parent;
	}
}

/* A load object of which only entries are shown has its inner lines in them. */
static void add_place(struct stack_paths *paths, const struct path_frame *frame,
		      struct stack_frame *out)
{
	struct session *session = paths->session;
	const struct code_pc *pc = &session->code->pcs.items[frame->pc];
	uint32_t file, line;

	out->address = pc->address;
	out->has_address = frame->function >= FUNCTION_FIRST_REAL || pc->address >= FORMAT_PC_LIMIT;
	if (frame->function < FUNCTION_FIRST_REAL ||
	    query_object_showing(paths->query, pc->object) != OBJECT_SHOWN)
		return;
	code_need_lines(session, pc->object);
	find_line(session, frame, &file, &line);
	if (file == LINES_NONE || !line)
		return;
	out->file = code_file(session, pc->object, file);
	out->line = line;
}

static void fill_frame(struct stack_paths *paths, const struct path_frame *frame,
		       struct stack_frame *out)
{
	struct session *session = paths->session;
	const struct function *function = &session->functions.items[frame->function];

	out->function = frame->function;
	out->name = symbols_name(session, frame->function, paths->query->name_style);
	out->inlined = function->origin == ORIGIN_INLINED;
	if (function->object != OBJECT_UNKNOWN)
		out->object = session->objects.items[function->object].path;
	if (frame->pc != NODE_NONE)
		add_place(paths, frame, out);
}

static void turn(uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

/* A list in the making. */
struct listing {
	struct stack_paths *paths;
	struct frame_list *list;
	VEC(struct stack_frame) frames;
	uint32_t *number;   /* by frame: its number in the list, plus 1; 0: it is not in it */
	uint32_t truncated; /* the frame that stands for outer ones */
	uint64_t room;	    /* frames of stacks that may still be listed */
};

/*
 * Stacks of a hostile recording go through nearly all of its nodes, each: their frames grow with
 * the square of their number.  Of usual ones each node of the tree is in some.
 */
enum { FRAMES_ALWAYS = 1 << 22, FRAMES_PER_NODE = 16, FRAMES_LEAST = 16 };

static uint32_t number_of(struct listing *listing, uint32_t frame)
{
	uint32_t *number = &listing->number[frame];

	if (!*number) {
		struct stack_frame *out = vec_push(&listing->frames);

		*number = (uint32_t)listing->frames.count;
		fill_frame(listing->paths, &listing->paths->frames.items[frame], out);
	}
	return *number - 1;
}

/* The frames of a stack by their numbers in the list, those that are new behind the others. */
static void list_stack(struct listing *listing, uint32_t stack, struct listed_stack *out)
{
	const struct tree_node *nodes = listing->paths->stacks.nodes.items;
	uint64_t most = listing->room > FRAMES_LEAST ? listing->room : FRAMES_LEAST;
	uint32_t at = 0, i = stack;
	uint32_t *frames;

	for (; i != NODE_ROOT && out->depth < most; i = nodes[i].parent)
		out->depth++;

	bool is_cut = i != NODE_ROOT;

	frames = arena_array(&listing->list->arena, uint32_t, out->depth + 1);
	for (i = stack; at + is_cut < out->depth; i = nodes[i].parent)
		frames[at++] = number_of(listing, nodes[i].function);
	if (is_cut)
		frames[at] = number_of(listing, listing->truncated);
	if (listing->paths->query->callers_first)
		turn(frames, out->depth);
	out->frames = frames;
	listing->room -= out->depth < listing->room ? out->depth : listing->room;
}

void stack_paths_list(struct stack_paths *paths, const uint32_t *stacks, size_t count,
		      struct frame_list *list)
{
	struct listing listing = {.paths = paths,
				  .list = list,
				  .truncated = add_frame(paths, FUNCTION_TRUNCATED, NODE_NONE, 0),
				  .room = FRAMES_ALWAYS +
					  FRAMES_PER_NODE * (uint64_t)paths->stacks.nodes.count};

	listing.number = xcalloc(paths->frames.count, sizeof(*listing.number));
	*list = (struct frame_list){.stack_count = count};
	list->stacks = arena_array(&list->arena, struct listed_stack, count + 1);
	for (size_t i = 0; i < count; i++)
		list_stack(&listing, stacks[i], &list->stacks[i]);
	list->frame_count = listing.frames.count;
	list->frames = arena_array(&list->arena, struct stack_frame, list->frame_count + 1);
	if (list->frame_count)
		memcpy(list->frames, listing.frames.items,
		       list->frame_count * sizeof(*list->frames));
	vec_fini(&listing.frames);
	free(listing.number);
}

void frame_list_fini(struct frame_list *list)
{
	struct arena arena = list->arena;

	*list = (struct frame_list){0};
	arena_fini(&arena);
}
