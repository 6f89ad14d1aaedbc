/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What listings and the lists of lines and instructions are made of, one file beside the sums:
 *
 *   u64       the checksum of the sums, which says that both are of the same session
 *   payload   per load object the source files that its lines name, and whether the lines of
 *             its pcs are known; pcs with their lines and instructions; of functions their source
 *             and unit; the tree of pcs with its weights
 *
 * What is not there is read from the load objects, which are open: the file is written
 * again when that has told more.  Files of lines have the same numbers again since they are made
 * known in the same order.  Functions that a program announced are not kept: their code is in
 * the experiment.
 */
#include "analysis/cache/cache_code.h"

#include "analysis/cache/cache_file.h"
#include "analysis/code/code.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"

#include <stdlib.h>

enum { MOST_NODES = 16 << 20 }; /* of call stacks; they take some 10 bytes each */

/* ---- writing ---- */

static void put_files(struct strbuf *out, struct session *session, uint32_t object)
{
	struct lines *lines = code_lines(session, object);
	uint32_t count = lines ? lines_file_count(lines, false) : 0;

	cache_put_number(out, hash_map_get(&session->code->has_lines, object) != HASH_NONE);
	cache_put_u64(out, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct line_file *file = lines_file(lines, i);

		cache_put_text(out, file->directory);
		cache_put_text(out, file->recorded);
	}
}

static void put_pcs(struct strbuf *out, const struct code *code)
{
	struct code_pc last = {0};

	cache_put_u64(out, code->pcs.count);
	cache_put_number(out, code->instructions != NULL);
	for (size_t i = 0; i < code->pcs.count; i++) {
		const struct code_pc *pc = &code->pcs.items[i];

		cache_put_number(out, code->order[i]);
		cache_put_number(out, pc->object);
		cache_put_number(out, pc->function);
		cache_put_number(out, pc->is_target);
		cache_put_signed(out, (int64_t)(pc->address - last.address));
		cache_put_number(out, pc->file + 1);
		cache_put_signed(out, (int64_t)pc->line - last.line);
		if (code->instructions)
			cache_put_signed(out, (int64_t)(pc->address - code->instructions[i]));
		last = *pc;
	}
}

/* Those of load objects whose lines are known. */
static void put_sources(struct strbuf *out, struct session *session)
{
	struct string_table units = {0};
	struct strbuf sources = {0};
	uint64_t count = 0;

	for (uint32_t i = FUNCTION_FIRST_REAL; i < session->kept_functions; i++) {
		const char *unit;

		if (hash_map_get(&session->code->has_lines, session->functions.items[i].object) ==
		    HASH_NONE)
			continue;
		unit = code_unit(session, i);
		count++;
		cache_put_number(&sources, i);
		cache_put_number(&sources, code_source_of(session, i) + 1);
		cache_put_number(&sources, unit ? string_table_add(&units, unit) + 1 : 0);
	}
	cache_put_u64(out, units.count);
	for (uint32_t i = 0; i < units.count; i++)
		cache_put_text(out, string_table_text(&units, i));
	cache_put_u64(out, count);
	if (sources.length)
		strbuf_add(out, sources.text, sources.length);
	strbuf_fini(&sources);
	string_table_fini(&units);
}

static void put_tree(struct strbuf *out, struct session *session)
{
	const struct code_tree *tree = &session->code->tree;

	cache_put_u64(out, tree->count);
	for (uint32_t i = 0; i < tree->count; i++) {
		cache_put_number(out, tree->pc[i] + 1);
		cache_put_number(out, tree->end[i] - i);
	}

	const struct query all = {0};
	struct tally *tally = tally_of(session, &all);

	cache_put_sums(out, code_weights(tally));
	tally_release(tally);
}

static bool may_keep(const struct session *session)
{
	if (!session->code || session->code->tree.count > MOST_NODES)
		return false;
	for (size_t i = 0; i < session->functions.count; i++)
		if (session->functions.items[i].announced)
			return false;
	return true;
}

/* How much is known that is not in the tree. */
static size_t knowledge(const struct code *code)
{
	return 1 + code->has_lines.count + (code->instructions != NULL);
}

void cache_keep_code(struct session *session)
{
	struct strbuf body = {0};
	uint64_t checksum;

	if (!session->code_name || !may_keep(session) ||
	    knowledge(session->code) <= session->code->kept_knowledge)
		return;
	cache_put_u64(&body, session->sums_checksum);
	for (uint32_t i = 0; i < session->objects.count; i++)
		put_files(&body, session, i);
	put_pcs(&body, session->code);
	put_sources(&body, session);
	put_tree(&body, session);
	cache_write(session->code_name, &body, &checksum);
	strbuf_fini(&body);
}

/* ---- reading ---- */

static void take_files(struct cache_reader *reader, struct session *session, uint32_t object)
{
	bool has_lines = cache_take_number(reader);
	size_t count = cache_take_count(reader, 2 * sizeof(uint64_t));
	struct lines *lines = code_lines(session, object);

	reader->bad |= count && !lines;
	if (has_lines)
		hash_map_put(&session->code->has_lines, object, 0);
	for (uint32_t i = 0; i < count && !reader->bad; i++) {
		const char *directory = cache_take_text(reader);
		const char *recorded = cache_take_text(reader);

		reader->bad |= !recorded || lines_add_file(lines, directory, recorded) != i;
	}
}

/* A file of a load object plus 1, or 0. */
static uint32_t take_file(struct cache_reader *reader, struct session *session, uint32_t object)
{
	struct lines *lines = code_lines(session, object);

	return cache_take_below(reader, lines ? lines_file_count(lines, false) + 1 : 1);
}

static void take_pcs(struct cache_reader *reader, struct session *session)
{
	struct code *code = session->code;
	size_t count = cache_take_count(reader, 7);
	bool has_instructions = cache_take_number(reader);
	struct code_pc last = {0};

	code->order = xmalloc((count + 1) * sizeof(*code->order));
	if (has_instructions)
		code->instructions = xmalloc((count + 1) * sizeof(*code->instructions));
	for (uint32_t i = 0; i < count && !reader->bad; i++) {
		struct code_pc *pc = vec_push(&code->pcs);

		code->order[i] = cache_take_below(reader, count);
		pc->object = cache_take_below(reader, session->objects.count);
		pc->function = cache_take_below(reader, session->functions.count);
		pc->is_target = cache_take_number(reader);
		pc->address = last.address + (uint64_t)cache_take_signed(reader);
		pc->file = take_file(reader, session, pc->object) - 1;
		pc->line = (uint32_t)(last.line + cache_take_signed(reader)) & CODE_LINE_MAX;
		if (has_instructions)
			code->instructions[i] = pc->address - (uint64_t)cache_take_signed(reader);
		last = *pc;
	}
}

static void take_sources(struct cache_reader *reader, struct session *session)
{
	struct code *code = session->code;
	size_t count = cache_take_count(reader, sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		const char *unit = cache_take_text(reader);

		reader->bad |= !unit;
		*vec_push(&code->units) = unit;
	}
	count = cache_take_count(reader, 3);
	for (size_t i = 0; i < count && !reader->bad; i++) {
		uint32_t function = cache_take_below(reader, session->functions.count);
		uint32_t object = session->functions.items[function].object;

		hash_map_put(&code->sources, function, take_file(reader, session, object));
		hash_map_put(&code->unit_of, function,
			     cache_take_below(reader, code->units.count + 1));
	}
}

static void take_tree(struct cache_reader *reader, struct code *code)
{
	struct code_tree *tree = &code->tree;

	tree->count = cache_take_count(reader, 2);
	tree->pc = xmalloc((tree->count + 1) * sizeof(*tree->pc));
	tree->end = xmalloc((tree->count + 1) * sizeof(*tree->end));
	for (uint32_t i = 0; i < tree->count && !reader->bad; i++) {
		tree->pc[i] = cache_take_below(reader, code->pcs.count + 1) - 1;
		tree->end[i] = i + cache_take_below(reader, tree->count - i + 1);
		reader->bad |= tree->end[i] == i;
	}
	cache_take_sums(reader, tree->count, &tree->kept);
}

bool cache_load_code(struct session *session)
{
	struct cache_reader reader;

	if (!cache_read(session->code_name, &reader))
		return false;
	session->kept_code = reader.body;
	if (cache_take_u64(&reader) != session->sums_checksum)
		return false;
	session->code = xcalloc(1, sizeof(*session->code));
	symbols_open_objects(session);
	for (uint32_t i = 0; i < session->objects.count; i++)
		take_files(&reader, session, i);
	take_pcs(&reader, session);
	take_sources(&reader, session);
	take_tree(&reader, session->code);
	session->code->kept_knowledge = knowledge(session->code);
	return !reader.bad && reader.at == reader.end;
}
