/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place is what a location of a process's stacks is to people; its key leaves out which of its
 * line's instructions it is.  Stacks are put together in a tree of (caller, key).  Lines are
 * looked up for the locations that are listed only, each once.
 */
#include "analysis/tree/stack_set.h"

#include "analysis/code/code.h"
#include "analysis/data/data_address.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "base/strbuf.h"
#include "object/lines/source.h"

#include <stdlib.h>
#include <string.h>

struct stack_set_process {
	const struct process *process;
	const struct session_process *scanned;
	uint32_t *places; /* by location, plus 1; 0: not looked up yet */
	uint32_t *frames; /* by node; 0 of another than the root: likewise */
};

/* Its texts, innermost call first: the last one is of the function that has the code. */
struct stack_set_place {
	uint32_t first, count, key;
};

struct stack_set_row {
	uint32_t *places; /* leaf first */
	size_t depth;
};

/* The file is for code_file(). */
struct source_line {
	uint32_t file, line; /* LINES_NONE, 0: not known */
};

/* ---- lines ---- */

/* Announced functions are read once: their lines are in the experiment. */
static const struct line_rows *announced_lines(struct stack_set *set, uint32_t function)
{
	uint32_t fresh = (uint32_t)set->lines.count;
	uint32_t known = hash_map_put(&set->announced, function, fresh);

	if (known == fresh) {
		code_of(set->session);
		*vec_push(&set->lines) = (struct line_rows){0};
		code_rows(set->session, function, &set->lines.items[known]);
	}
	return &set->lines.items[known];
}

static struct source_line announced_line(struct stack_set *set, uint32_t function, uint64_t address)
{
	const struct line_rows *rows = announced_lines(set, function);

	for (size_t i = 0; i < rows->count; i++)
		if (address >= rows->items[i].start && address < rows->items[i].end)
			return (struct source_line){rows->items[i].file, rows->items[i].line};
	return (struct source_line){LINES_NONE, 0};
}

static struct source_line find_line(struct stack_set *set, uint32_t function, uint32_t object,
				    uint64_t address)
{
	struct source_line none = {LINES_NONE, 0};
	struct lines *lines = code_lines(set->session, object);
	struct line_row row;

	if (function < FUNCTION_FIRST_REAL)
		return none;
	if (set->session->functions.items[function].announced)
		return announced_line(set, function, address);
	if (!lines)
		return none;
	lines_find(lines, &address, 1, &row);
	return row.line ? (struct source_line){row.file, row.line} : none;
}

/* ---- places ---- */

/* `called` is what tells it apart where its line is known. */
static void add_text(struct stack_set *set, struct strbuf *key, uint32_t object, const char *called,
		     const char *text, struct source_line at)
{
	if (at.file == LINES_NONE || !at.line) {
		*vec_push(&set->texts) = arena_strdup(&set->arena, text);
		strbuf_printf(key, "%s\n", text);
		return;
	}
	*vec_push(&set->texts) =
		arena_printf(&set->arena, "%s, %s:%u", text,
			     code_file_name(set->session, object, at.file), at.line);
	strbuf_printf(key, "%s, %s:%u\n", called, code_file(set->session, object, at.file),
		      at.line);
}

/* The calls inlined at an address, innermost first; the line that is left is its function's. */
static struct source_line add_inlined(struct stack_set *set, struct strbuf *key, uint32_t object,
				      uint64_t address, struct source_line at)
{
	struct lines *lines = code_lines(set->session, object);
	struct inline_node call;
	uint32_t node;

	lines_find_inlined(lines, &address, 1, &node);
	for (; node != LINES_NONE; node = call.parent) {
		call = lines_inline_node(lines, node);
		if (call.parent == LINES_NONE)
			break;

		const char *mangled = lines_function(lines, call.function)->mangled;
		char *plain = object_demangle(*mangled ? mangled : "<Unknown>", set->style);
		const char *name = arena_printf(&set->arena, "%s (inlined)", plain);

		add_text(set, key, object, name, name, at);
		at = (struct source_line){call.call_file, call.call_line};
		free(plain);
	}
	return at;
}

static struct stack_set_place make_place(struct stack_set *set, const struct experiment *experiment,
					 const struct process *process, uint32_t location)
{
	struct session *session = set->session;
	uint32_t object, function;
	uint64_t address;
	struct strbuf key = {0};

	function = symbols_place(session, experiment, process, location, &object, &address);

	struct source_line at = find_line(set, function, object, address);
	struct stack_set_place place = {.first = (uint32_t)set->texts.count};

	if (function >= FUNCTION_FIRST_REAL && code_lines(session, object))
		at = add_inlined(set, &key, object, address, at);
	add_text(set, &key, object, symbols_name(session, function, set->style),
		 place_of_code(session, experiment, process, location, set->style), at);
	place.count = (uint32_t)set->texts.count - place.first;
	place.key = string_table_add(&set->keys, key.text);
	strbuf_fini(&key);
	return place;
}

static const struct session_process *scanned_of(const struct session *session,
						const struct process *process)
{
	for (size_t i = 0; i < session->scanned.count; i++)
		if (session->scanned.items[i].process == process)
			return &session->scanned.items[i];
	return NULL;
}

static struct stack_set_process *find_process(struct stack_set *set, const struct process *process)
{
	for (size_t i = set->processes.count; i--;)
		if (set->processes.items[i].process == process)
			return &set->processes.items[i];

	const struct stack_tree *tree = &process->stacks;
	struct stack_set_process *known = vec_push(&set->processes);

	*known = (struct stack_set_process){
		.process = process,
		.scanned = scanned_of(set->session, process),
		.places = xcalloc(tree->locations.count + 1, sizeof(uint32_t)),
		.frames = xcalloc(tree->nodes.count + 1, sizeof(uint32_t)),
	};
	return known;
}

/* The place of a node's location. */
static uint32_t place_of(struct stack_set *set, const struct experiment *experiment,
			 struct stack_set_process *known, uint32_t node)
{
	uint32_t location = known->process->stacks.nodes.items[node].location;
	uint32_t *place = &known->places[location];

	if (!*place) {
		struct stack_set_place made = make_place(set, experiment, known->process, location);

		*vec_push(&set->places) = made;
		*place = (uint32_t)set->places.count;
	}
	return *place - 1;
}

/* ---- rows ---- */

static const char *text_of(const struct stack_set *set, uint32_t place)
{
	const struct stack_set_place *at = &set->places.items[place];

	return set->texts.items[at->first + at->count - 1];
}

/* A caller's number is smaller than that of what it calls, so no node comes before its parent. */
static uint32_t frame_of(struct stack_set *set, const struct experiment *experiment,
			 struct stack_set_process *known, uint32_t node)
{
	const struct stack_node *nodes = known->process->stacks.nodes.items;
	VEC(uint32_t) path = {0};
	uint32_t frame;

	for (; node != STACK_ROOT && !known->frames[node]; node = nodes[node].parent)
		*vec_push(&path) = node;
	frame = node == STACK_ROOT ? 0 : known->frames[node];
	for (size_t i = path.count; i--;) {
		uint32_t place = place_of(set, experiment, known, path.items[i]);
		uint64_t key = (uint64_t)frame << 32 | set->places.items[place].key;

		frame = hash_map_put(&set->frames, key, (uint32_t)set->frames.count + 1);
		known->frames[path.items[i]] = frame;
	}
	vec_fini(&path);
	return frame;
}

static size_t depth_of(const struct stack_node *nodes, uint32_t node)
{
	size_t depth = 0;

	for (; node != STACK_ROOT; node = nodes[node].parent)
		depth++;
	return depth;
}

uint32_t stack_set_add(struct stack_set *set, const struct experiment *experiment,
		       const struct process *process, uint32_t node)
{
	struct stack_set_process *known = find_process(set, process);
	const struct stack_node *nodes = process->stacks.nodes.items;

	if (known->scanned)
		node = session_shown(known->scanned, set->mode, node);
	uint32_t frame = frame_of(set, experiment, known, node);
	uint32_t fresh = (uint32_t)set->rows.count;
	uint32_t number = hash_map_put(&set->row_of, frame, fresh);

	if (number == fresh) {
		size_t depth = depth_of(nodes, node);

		*vec_push(&set->rows) = (struct stack_set_row){
			.places = arena_array(&set->arena, uint32_t, depth + 1), .depth = depth};
	}

	struct stack_set_row *row = &set->rows.items[number];

	for (size_t i = 0; i < row->depth; i++, node = nodes[node].parent) {
		uint32_t place = place_of(set, experiment, known, node);

		if (number == fresh ||
		    (place != row->places[i] &&
		     strcmp(text_of(set, place), text_of(set, row->places[i])) < 0))
			row->places[i] = place;
	}
	return number;
}

const char **stack_set_frames(const struct stack_set *set, uint32_t row, struct arena *arena,
			      size_t *depth)
{
	const struct stack_set_row *of = &set->rows.items[row];
	const char **frames;
	size_t count = 0;

	for (size_t i = 0; i < of->depth; i++)
		count += set->places.items[of->places[i]].count;
	frames = arena_array(arena, const char *, count + 1);
	*depth = 0;
	for (size_t i = 0; i < of->depth; i++) {
		const struct stack_set_place *place = &set->places.items[of->places[i]];

		for (uint32_t k = 0; k < place->count; k++)
			frames[(*depth)++] =
				arena_strdup(arena, set->texts.items[place->first + k]);
	}
	return frames;
}

void stack_set_fini(struct stack_set *set)
{
	for (size_t i = 0; i < set->processes.count; i++) {
		free(set->processes.items[i].places);
		free(set->processes.items[i].frames);
	}
	for (size_t i = 0; i < set->lines.count; i++)
		vec_fini(&set->lines.items[i]);
	vec_fini(&set->processes);
	vec_fini(&set->places);
	vec_fini(&set->texts);
	vec_fini(&set->rows);
	vec_fini(&set->lines);
	string_table_fini(&set->keys);
	hash_map_fini(&set->frames);
	hash_map_fini(&set->row_of);
	hash_map_fini(&set->announced);
	arena_fini(&set->arena);
}
