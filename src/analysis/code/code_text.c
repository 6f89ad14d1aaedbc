/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes and the lines of functions are: in the file of their load object, or, of
 * functions that the program announced, in its dyntext.
 */
#include "analysis/code/code.h"
#include "base/path.h"
#include "experiment/dyntext.h"
#include "isa/isa.h"
#include "object/names/java_constants.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

bool code_is_bytecode(const struct function *function)
{
	return function->announced && function->announced->address & FORMAT_PC_JAVA;
}

struct lines *code_lines(struct session *session, uint32_t object)
{
	struct object *file = session->objects.items[object].object;

	return file ? object_lines(file) : NULL;
}

/* ---- announced functions: their file is the number of the first one with the same source ---- */

static uint32_t announced_file(struct session *session, uint32_t function)
{
	const struct function *entry = &session->functions.items[function];
	struct code *code = session->code;

	if (!entry->source)
		return LINES_NONE;
	for (; code->announced_next <= function; code->announced_next++) {
		const struct function *next = &session->functions.items[code->announced_next];

		if (next->announced && next->source &&
		    string_table_add(&code->announced_sources, next->source) ==
			    code->announced_first.count)
			*vec_push(&code->announced_first) = code->announced_next;
	}
	return code->announced_first
		.items[string_table_find(&code->announced_sources, entry->source)];
}

static bool read_announced(const struct function *function, struct arena *arena,
			   struct dyntext *text)
{
	return !experiment_dyntext_read(function->announced, arena, text);
}

/* Offset 0 has a line only if the table says so. */
static void announced_rows(struct session *session, uint32_t function, struct line_rows *rows)
{
	const struct function *entry = &session->functions.items[function];
	uint64_t end = entry->address + entry->size;
	uint32_t file = code_source_of(session, function);
	struct line_row row = {.start = entry->address, .file = LINES_NONE};
	struct arena arena = {0};
	struct dyntext text = {0};

	if (file != LINES_NONE && !read_announced(entry, &arena, &text))
		text.line_count = 0;
	for (size_t i = 0; file != LINES_NONE && i < text.line_count; i++) {
		uint64_t start = entry->address + text.lines[i].offset;

		if (start < row.start || start >= end)
			continue;
		row.end = start;
		if (row.end > row.start)
			*vec_push(rows) = row;
		row = (struct line_row){.start = start,
					.file = text.lines[i].line ? file : LINES_NONE,
					.line = text.lines[i].line};
	}
	row.end = end;
	*vec_push(rows) = row;
	arena_fini(&arena);
}

/* ---- both ---- */

const char *code_file(struct session *session, uint32_t object, uint32_t file)
{
	struct lines *lines = code_lines(session, object);

	return lines ? lines_file(lines, file)->path : session->functions.items[file].source;
}

const char *code_file_name(struct session *session, uint32_t object, uint32_t file)
{
	return path_name(code_file(session, object, file));
}

uint32_t code_source_of(struct session *session, uint32_t function)
{
	const struct function *entry = &session->functions.items[function];
	struct hash_map *known = &session->code->sources;
	uint32_t file = hash_map_get(known, function); /* one more: nothing is LINES_NONE */
	struct lines *lines = code_lines(session, entry->object);

	if (file != HASH_NONE)
		return file - 1;
	file = LINES_NONE;
	if (entry->announced)
		file = announced_file(session, function);
	else if (lines && entry->inlined != LINES_NONE)
		file = lines_function(lines, entry->inlined)->file;
	else if (lines && entry->size)
		file = lines_first(lines, entry->address, entry->address + entry->size).file;
	return hash_map_put(known, function, file + 1) - 1;
}

const char *code_unit(struct session *session, uint32_t function)
{
	const struct function *entry = &session->functions.items[function];
	struct lines *lines = code_lines(session, entry->object);
	uint32_t kept = hash_map_get(&session->code->unit_of, function);

	if (kept != HASH_NONE)
		return kept ? session->code->units.items[kept - 1] : NULL;

	const struct line_unit *unit =
		lines && entry->size ? lines_unit_at(lines, entry->address) : NULL;

	return unit ? unit->name : NULL;
}

void code_rows(struct session *session, uint32_t function, struct line_rows *rows)
{
	const struct function *entry = &session->functions.items[function];
	struct lines *lines = code_lines(session, entry->object);

	if (entry->announced)
		announced_rows(session, function, rows);
	else if (lines)
		lines_in_range(lines, entry->address, entry->address + entry->size, rows);
}

static const uint8_t *announced_bytes(const struct function *function, struct arena *arena,
				      uint64_t *size)
{
	struct dyntext text;

	if (!read_announced(function, arena, &text))
		return NULL;
	*size = text.code_size;
	return *size == function->size || (code_is_bytecode(function) && *size) ? text.code : NULL;
}

const uint8_t *code_bytes(struct session *session, uint32_t function, struct arena *arena,
			  uint64_t *size)
{
	const struct function *entry = &session->functions.items[function];
	struct object *object = session->objects.items[entry->object].object;

	*size = entry->size;
	if (!entry->size || entry->size > UINT32_MAX)
		return NULL;
	if (entry->announced)
		return announced_bytes(entry, arena, size);
	/* a damaged symbol may claim gigabytes */
	if (!object || object_code(object, entry->address, NULL, entry->size) != entry->size)
		return NULL;

	uint8_t *bytes = arena_array(arena, uint8_t, entry->size);

	return object_code(object, entry->address, bytes, entry->size) == entry->size ? bytes
										      : NULL;
}

/* Where its constants were not kept they are shown by their numbers. */
static struct isa *bytecode_isa(const struct function *function, struct arena *arena)
{
	struct dyntext text;
	struct java_constants *constants = arena_new(arena, struct java_constants);

	if (experiment_dyntext_constants(function->announced, arena, &text))
		return isa_bytecode_new(NULL, NULL);
	java_constants_read(text.code, text.code_size, arena, constants);
	return isa_bytecode_new(java_constant_put, constants);
}

struct isa *code_isa(struct session *session, uint32_t function, struct arena *arena)
{
	const struct function *entry = &session->functions.items[function];
	struct object *object = session->objects.items[entry->object].object;
	const char *machine = session->processes.count ? session->processes.items[0].arch : NULL;

	if (object)
		return isa_new(object_machine(object));
	if (!entry->announced)
		return NULL;
	if (code_is_bytecode(entry))
		return bytecode_isa(entry, arena);
	return isa_new(machine && !strcmp(machine, "aarch64") ? EM_AARCH64 : EM_X86_64);
}

/* ---- the lines of the table of addresses ---- */

/* Debug information may claim any line. */
static void set_line(struct code_pc *pc, uint32_t file, uint32_t line)
{
	pc->file = file;
	pc->line = line > CODE_LINE_MAX ? CODE_LINE_MAX : line;
}

static void find_in_file(struct session *session, struct lines *lines, const uint32_t *order,
			 size_t count)
{
	struct code_pc *pcs = session->code->pcs.items;
	uint64_t *addresses = xmalloc(count * sizeof(*addresses));
	struct line_row *rows = xmalloc(count * sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		addresses[i] = pcs[order[i]].address;
	lines_find(lines, addresses, count, rows);
	for (size_t i = 0; i < count; i++)
		set_line(&pcs[order[i]], rows[i].line ? rows[i].file : LINES_NONE, rows[i].line);
	free(addresses);
	free(rows);
}

/* Lines of the pcs of announced functions, one after the other. */
static void find_announced(struct session *session, const uint32_t *order, size_t count)
{
	struct code_pc *pcs = session->code->pcs.items;
	struct line_rows rows = {0};
	uint32_t of = NODE_NONE;

	for (size_t i = 0; i < count; i++) {
		struct code_pc *pc = &pcs[order[i]];

		if (pc->function != of) {
			of = pc->function;
			rows.count = 0;
			code_rows(session, of, &rows);
		}
		for (size_t k = 0; k < rows.count; k++) {
			const struct line_row *row = &rows.items[k];

			if (pc->address - row->start < row->end - row->start)
				set_line(pc, row->file, row->line);
		}
	}
	vec_fini(&rows);
}

void code_find_lines(struct session *session, const uint32_t *order, size_t count)
{
	const struct code_pc *first = &session->code->pcs.items[order[0]];
	struct lines *lines = code_lines(session, first->object);

	if (lines)
		find_in_file(session, lines, order, count);
	else if (session->functions.items[first->function].announced)
		find_announced(session, order, count);
}
