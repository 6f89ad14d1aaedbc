/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as lists of frames, each once, with what events at it count for.
 *
 * The functions of a stack are those of the call tree of the query's shape, so that inlined calls,
 * hidden load objects and calls that were made up are as in all views of functions; the addresses
 * are those of the tree of pcs.  Both are known by node of a process's stacks: what a node adds to
 * the path of its parent in the shape are its frames, innermost last.
 */
#include "analysis/code.h"
#include "analysis/view.h"

#include <stdlib.h>

/* What a stack is made of. Two of them that differ in a member are two. */
struct frame {
	uint32_t function;
	uint32_t pc;	/* NODE_NONE: it stands for no address */
	uint32_t level; /* calls inlined at the pc that are inside of this one */
};

struct making {
	struct session *session;
	const struct query *query;
	struct tally *tally;
	VEC(struct frame) frames;
	struct hash_map known_frames;
	struct call_tree stacks; /* the functions of its nodes are frames */
	uint32_t *stack_of;	 /* by node of the tree of pcs */
};

/* ---- the stacks ---- */

/* Whether the pc is in the function, or in what was inlined into that. */
static bool has_address(const struct making *making, uint32_t function, uint32_t pc)
{
	const struct code_pc *at;
	const struct function *of = &making->session->functions.items[function];

	if (pc == NODE_NONE)
		return false;
	at = &making->session->code->pcs.items[pc];
	if (query_object_showing(making->query, at->object) == OBJECT_HIDDEN)
		return false;
	return function == at->function ||
	       (of->origin == ORIGIN_INLINED && of->object == at->object);
}

static uint32_t add_frame(struct making *making, uint32_t function, uint32_t pc, uint32_t level)
{
	const struct frame frame = has_address(making, function, pc)
					   ? (struct frame){function, pc, level}
					   : (struct frame){function, NODE_NONE, 0};
	uint64_t key = hash_u64((uint64_t)frame.function << 32 ^ frame.pc) + frame.level;

	for (;; key++) { /* two frames of one key take neighbours */
		uint32_t fresh = (uint32_t)making->frames.count;
		uint32_t known = hash_map_put(&making->known_frames, key, fresh);
		const struct frame *there = &making->frames.items[known];

		if (known == fresh) {
			*vec_push(&making->frames) = frame;
			return known;
		}
		if (there->function == frame.function && there->pc == frame.pc &&
		    there->level == frame.level)
			return known;
	}
}

/* The stack that a node of the shape adds to that of `above`, which is a node over it. */
static uint32_t add_path(struct making *making, uint32_t stack, uint32_t above, uint32_t node,
			 uint32_t pc)
{
	const struct tree_node *nodes = making->tally->shape->tree->nodes.items;
	VEC(uint32_t) path = {0};

	for (; node != above; node = nodes[node].parent)
		*vec_push(&path) = nodes[node].function;
	for (size_t i = path.count; i--;)
		stack = tree_add_node(&making->stacks, stack,
				      add_frame(making, path.items[i], pc, (uint32_t)i));
	vec_fini(&path);
	return stack;
}

static void add_process(struct making *making, size_t process)
{
	const struct stack_tree *stacks = &making->session->scanned.items[process].process->stacks;
	const struct code *code = making->session->code;
	const uint32_t *places = code->tree.places.items[process];
	uint32_t *owned, *made = xmalloc(stacks->nodes.count * sizeof(*made));
	const uint32_t *shown = shape_nodes(making->tally->shape, process, &owned);
	uint32_t none = add_frame(making, FUNCTION_NO_STACK, NODE_NONE, 0);

	made[STACK_ROOT] = NODE_ROOT;
	making->stack_of[places[STACK_ROOT]] = tree_add_node(&making->stacks, NODE_ROOT, none);
	for (uint32_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];
		uint32_t above = node->parent == STACK_ROOT ? NODE_ROOT : shown[node->parent];

		made[i] = add_path(making, made[node->parent], above, shown[i],
				   code->processes.items[process][node->location]);
		making->stack_of[places[i]] = made[i];
	}
	free(owned);
	free(made);
}

static void find_stacks(struct making *making)
{
	tree_init(&making->stacks);
	*vec_push(&making->frames) = (struct frame){FUNCTION_TOTAL, NODE_NONE, 0};
	making->stack_of =
		xcalloc(making->session->code->tree.count + 1, sizeof(*making->stack_of));
	for (size_t i = 0; i < making->session->scanned.count; i++)
		add_process(making, i);
	tree_settle(&making->stacks);
}

/* ---- their values ---- */

/* By stack, in units of the metric's measure; the caller's to free. */
static uint64_t *stack_values(const struct making *making, const struct metric *metric)
{
	const struct measure_sums *weights = code_weights(making->tally);
	uint64_t *by_node = values_of_sums(weights, metric);
	uint64_t *values = xcalloc(making->stacks.nodes.count, sizeof(*values));

	for (size_t i = 0; i < weights->nodes; i++)
		values[making->stack_of[i]] += by_node[i];
	free(by_node);
	return values;
}

static uint32_t leaf_of(const struct making *making, uint32_t stack)
{
	return making->frames.items[making->stacks.nodes.items[stack].function].function;
}

/* Of all stacks with events, in the order of the query; the caller's to free. */
static struct sort_key *order_stacks(const struct making *making, size_t *count)
{
	const struct metric *sort = making->query->sort.metric;
	uint64_t *any = stack_values(making, &values_any);
	uint64_t *values = sort->is_static ? NULL : stack_values(making, sort);
	struct sort_key *keys = xmalloc((making->stacks.nodes.count + 1) * sizeof(*keys));

	*count = 0;
	for (uint32_t i = 0; i < making->stacks.nodes.count; i++) {
		uint32_t leaf = leaf_of(making, i);

		if (!any[i])
			continue;
		keys[(*count)++] = sort_key_of(
			making->query,
			values ? values_convert(sort, values[i])
			       : values_static(making->session, leaf, sort),
			symbols_name(making->session, leaf, making->query->name_style), i);
	}
	table_sort(keys, *count, making->query);
	free(any);
	free(values);
	return keys;
}

static void fill_column(const struct making *making, struct stack_list *list, size_t column,
			const struct sort_key *keys, size_t count)
{
	struct table *table = &list->table;
	const struct metric *metric = table->columns[column].choice.metric;
	uint64_t *values = stack_values(making, metric), total = 0, rest = 0;

	for (size_t i = 0; i < count; i++) {
		total += values[keys[i].index];
		if (i + 1 < table->row_count)
			table->values[(i + 1) * table->column_count + column] =
				values_convert(metric, values[keys[i].index]);
		else
			rest += values[keys[i].index];
	}
	table->values[column] = table->base[column] = values_convert(metric, total);
	list->rest[column] = values_convert(metric, rest);
	free(values);
}

/* ---- their frames ---- */

/* Lines of calls are known where something was inlined; see lines_inline_node(). */
static void find_line(struct session *session, const struct frame *frame, uint32_t *file,
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
static void add_place(struct making *making, const struct frame *frame, struct stack_frame *out)
{
	struct session *session = making->session;
	const struct code_pc *pc = &session->code->pcs.items[frame->pc];
	uint32_t file, line;

	out->address = pc->address;
	out->has_address = frame->function >= FUNCTION_FIRST_REAL || pc->address >= FORMAT_PC_LIMIT;
	if (frame->function < FUNCTION_FIRST_REAL ||
	    query_object_showing(making->query, pc->object) != OBJECT_SHOWN)
		return;
	code_need_lines(session, pc->object);
	find_line(session, frame, &file, &line);
	if (file == LINES_NONE || !line)
		return;
	out->file = code_file(session, pc->object, file);
	out->line = line;
}

static void fill_frame(struct making *making, const struct frame *frame, struct stack_frame *out)
{
	struct session *session = making->session;
	const struct function *function = &session->functions.items[frame->function];

	out->function = frame->function;
	out->name = symbols_name(session, frame->function, making->query->name_style);
	out->inlined = function->origin == ORIGIN_INLINED;
	if (function->object != OBJECT_UNKNOWN)
		out->object = session->objects.items[function->object].path;
	if (frame->pc != NODE_NONE)
		add_place(making, frame, out);
}

static void turn(uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

/* The frames of a stack by their numbers in the list, those that are new behind the others. */
static void fill_stack(struct making *making, struct stack_list *list, uint32_t stack,
		       uint32_t *number, size_t row)
{
	const struct tree_node *nodes = making->stacks.nodes.items;
	struct listed_stack *out = &list->stacks[row];
	uint32_t *frames;

	for (uint32_t i = stack; i != NODE_ROOT; i = nodes[i].parent)
		out->depth++;
	frames = arena_array(&list->table.arena, uint32_t, out->depth + 1);
	for (uint32_t i = stack, at = 0; i != NODE_ROOT; i = nodes[i].parent) {
		uint32_t frame = nodes[i].function;

		if (!number[frame]) {
			number[frame] = (uint32_t)++list->frame_count;
			fill_frame(making, &making->frames.items[frame],
				   &list->frames[number[frame] - 1]);
		}
		frames[at++] = number[frame] - 1;
	}
	if (list->callers_first)
		turn(frames, out->depth);
	out->frames = frames;
}

static void fill_stacks(struct making *making, struct stack_list *list, const struct sort_key *keys)
{
	struct table *table = &list->table;
	uint32_t *number = xcalloc(making->frames.count, sizeof(*number));

	list->frames = arena_array(&table->arena, struct stack_frame, making->frames.count);
	list->stacks = arena_array(&table->arena, struct listed_stack, table->row_count);
	table->rows[0].name = "<Total>";
	for (size_t row = 1; row < table->row_count; row++) {
		uint32_t stack = keys[row - 1].index;
		struct row *of = &table->rows[row];

		fill_stack(making, list, stack, number, row);
		of->id = (uint32_t)row;
		of->name = symbols_name(making->session, leaf_of(making, stack),
					making->query->name_style);
	}
	free(number);
}

static void fill_list(struct making *making, struct stack_list *list)
{
	struct table *table = &list->table;
	size_t count, shown;
	struct sort_key *keys = order_stacks(making, &count);

	shown = making->query->limit && count + 1 > making->query->limit ? making->query->limit - 1
									 : count;
	table_init(table, making->query, COLUMNS_EXCLUSIVE);
	table->title = "Call Stacks";
	table_set_rows(table, shown + 1);
	list->callers_first = making->query->callers_first;
	list->rest_count = count - shown;
	list->rest = arena_array(&table->arena, double, table->column_count + 1);
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			fill_column(making, list, i, keys, count);
	fill_stacks(making, list, keys);
	free(keys);
}

void view_stacks(struct session *session, const struct query *query, struct stack_list *list)
{
	struct query together = *query;
	struct making making = {.session = session, .query = &together};

	together.compare = COMPARE_OFF;
	*list = (struct stack_list){0};
	making.tally = tally_of(session, &together);
	code_of(session);
	find_stacks(&making);
	fill_list(&making, list);
	call_tree_fini(&making.stacks);
	vec_fini(&making.frames);
	hash_map_fini(&making.known_frames);
	free(making.stack_of);
	tally_release(making.tally);
}

void stack_list_fini(struct stack_list *list)
{
	table_fini(&list->table);
	*list = (struct stack_list){0};
}
