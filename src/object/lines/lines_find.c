/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions.  Each is a binary search for the unit and one in what is
 * known of it; an address that two units claim (a linker folded equal functions)
 * belongs to the one that begins last and has a line, the first of several such.
 */
#include "object/lines/lines.h"

#include "base/path.h"
#include "base/search.h"
#include "object/elf/split_unit.h"
#include "object/lines/lines_private.h"
#include "object/lines/path.h"

#include <dwarf.h>
#include <stdlib.h>

struct unit_search lines_units_of(const struct lines *lines, uint64_t address)
{
	enum { LOOKED_AT = 256 }; /* ranges; one in real files, some where functions were folded */

	return (struct unit_search){VEC_UP_TO(&lines->ranges, start, address), LOOKED_AT};
}

/* The next range, going down, that holds the address, or NULL. */
static const struct unit_range *next_holder(const struct lines *lines, uint64_t address,
					    struct unit_search *search)
{
	while (search->at && search->left) {
		const struct unit_range *range = &lines->ranges.items[search->at - 1];

		search->left--;
		if (address < range->end) {
			search->at--;
			return range;
		}
		search->at = range->outer; /* what ends before it does not hold the address */
	}
	return NULL;
}

uint32_t lines_next_unit(const struct lines *lines, uint64_t address, struct unit_search *search)
{
	const struct unit_range *range = next_holder(lines, address, search);

	return range ? range->unit : LINES_NONE;
}

/* The row that begins last at or below the offset, or NULL. */
static const struct program_row *row_up_to(const struct program_rows *rows, uint64_t offset)
{
	size_t low = VEC_UP_TO(rows, offset, offset);

	return low ? &rows->items[low - 1] : NULL;
}

static struct line_row make_row(struct lines *lines, uint32_t table, const struct program_row *row)
{
	uint64_t base = lines->code.items[0].start;
	uint32_t file = lines_table_file(lines, table, row->file);

	return (struct line_row){
		.start = base + row->offset,
		.end = base + row[1].offset,
		.file = file,
		.line = file == LINES_NONE ? 0 : row->line, /* damaged: no such file */
	};
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The row of a table at an address; else lowers *limit, up to where there is
 * none.  Every table ends with a row without a line, so that row[1] exists.
 */
static bool row_in_table(struct lines *lines, uint32_t table, uint64_t address,
			 struct line_row *out, uint64_t *limit)
{
	const struct program_rows *rows = lines_table_rows(lines, table);
	uint64_t base = lines->code.items[0].start;
	const struct program_row *row = row_up_to(rows, address - base);

	if (row && row->file != PROGRAM_NO_FILE) {
		*out = make_row(lines, table, row);
		return true;
	}
	size_t next = row ? (size_t)(row - rows->items) + 1 : 0;

	if (next < rows->count)
		*limit = smaller(*limit, base + rows->items[next].offset);
	return false;
}

/* The row at an address; where there is none, the end of what has none for sure. */
static struct line_row find_row(struct lines *lines, uint64_t address)
{
	struct unit_search search = lines_units_of(lines, address);
	uint64_t limit =
		search.at < lines->ranges.count ? lines->ranges.items[search.at].start : UINT64_MAX;
	const struct unit_range *range;
	struct line_row row;

	while ((range = next_holder(lines, address, &search))) {
		uint32_t table = lines->units.items[range->unit].table;

		limit = smaller(limit, range->end);
		if (table != LINES_NONE && row_in_table(lines, table, address, &row, &limit))
			return row;
	}
	return (struct line_row){.start = address, .end = limit, .file = LINES_NONE};
}

void lines_find(struct lines *lines, const uint64_t *addresses, size_t count, struct line_row *out)
{
	lines_open(lines);
	for (size_t i = 0; i < count; i++) {
		out[i] = find_row(lines, addresses[i]);
		if (out[i].file == LINES_NONE)
			out[i].end = addresses[i];
	}
}

void lines_in_range(struct lines *lines, uint64_t start, uint64_t end, struct line_rows *out)
{
	size_t first = out->count;

	lines_open(lines);
	for (uint64_t at = start; at < end;) {
		struct line_row row = find_row(lines, at);
		struct line_row *last = out->count > first ? &out->items[out->count - 1] : NULL;

		row.start = at;
		row.end = smaller(row.end, end);
		at = row.end;
		if (last && last->file == LINES_NONE && row.file == LINES_NONE)
			last->end = row.end;
		else
			*vec_push(out) = row;
	}
}

/* The first of several rows at an address, if another one counts there. */
static bool first_at(struct lines *lines, uint64_t address, struct line_row *out)
{
	struct unit_search search = lines_units_of(lines, address);
	const struct unit_range *range;

	while ((range = next_holder(lines, address, &search))) {
		uint32_t table = lines->units.items[range->unit].table;
		const struct program_first *first =
			table == LINES_NONE
				? NULL
				: line_program_first(lines_table_rows(lines, table),
						     address - lines->code.items[0].start);

		if (!first)
			continue;
		*out = (struct line_row){.start = address,
					 .end = address,
					 .file = lines_table_file(lines, table, first->file),
					 .line = first->line};
		return out->file != LINES_NONE && out->line;
	}
	return false;
}

struct line_row lines_first(struct lines *lines, uint64_t start, uint64_t end)
{
	struct line_row row = {.file = LINES_NONE};

	lines_open(lines);
	if (first_at(lines, start, &row))
		return row;
	while (start < end) {
		row = find_row(lines, start);
		if (row.file != LINES_NONE && row.line)
			return row;
		start = row.end;
	}
	return (struct line_row){.file = LINES_NONE};
}

/* Which of the table's files are the file; NULL: none. */
static bool *files_that_are(struct lines *lines, uint32_t table, uint32_t file)
{
	size_t count = lines_table_open(lines, table);
	const struct line_program *program = &lines->tables.items[table]->program;
	const char *base = path_name(lines->files.items[file]->path);
	bool *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(path_name(program->files.items[i].name), base) != 0 ||
		    lines_table_file(lines, table, i) != file)
			continue;
		if (!found)
			found = xcalloc(count, sizeof(*found));
		found[i] = true;
	}
	return found;
}

static int compare_rows(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Units often lie in the order of their tables. */
static bool are_sorted(const struct line_rows *rows, size_t first)
{
	for (size_t i = first + 1; i < rows->count; i++)
		if (rows->items[i].start < rows->items[i - 1].start)
			return false;
	return true;
}

void lines_of_file(struct lines *lines, uint32_t file, struct line_rows *out)
{
	size_t first = out->count;

	lines_open(lines);
	for (uint32_t table = 0; file < lines->files.count && table < lines->tables.count;
	     table++) {
		bool *wanted = files_that_are(lines, table, file);
		const struct program_rows *rows = wanted ? lines_table_rows(lines, table) : NULL;

		for (size_t i = 0; rows && i < rows->count; i++) {
			const struct program_row *row = &rows->items[i];

			if (row->file != PROGRAM_NO_FILE && wanted[row->file])
				*vec_push(out) = make_row(lines, table, row);
		}
		free(wanted);
	}
	if (!are_sorted(out, first))
		qsort(out->items + first, out->count - first, sizeof(*out->items), compare_rows);
}

const struct line_file *lines_file(struct lines *lines, uint32_t file)
{
	return lines->files.items[file];
}

uint32_t lines_file_count(struct lines *lines, bool all)
{
	if (all) {
		lines_open(lines);
		for (uint32_t table = 0; table < lines->tables.count; table++) {
			size_t count = lines_table_open(lines, table);

			for (size_t i = 0; i < count; i++)
				lines_table_file(lines, table, i);
		}
	}
	return (uint32_t)lines->files.count;
}

const char *lines_debug_file(struct lines *lines)
{
	lines_open(lines);
	return lines->debug.path;
}

static void describe(struct lines *lines, struct unit *unit)
{
	struct line_unit *info = &unit->info;
	struct split_unit split;
	Dwarf_Attribute attribute;
	Dwarf_Die die;
	Dwarf_Word language = 0;

	unit->has_info = true;
	info->file = LINES_NONE;
	if (dwarf_cu_info(unit->cu, NULL, NULL, &die, NULL, NULL, NULL, NULL))
		return;
	info->directory = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
	if (split_unit_find(lines, unit, &split))
		die = split.die; /* a skeleton knows little more than where it was compiled */
	info->name = dwarf_formstring(dwarf_attr(&die, DW_AT_name, &attribute));
	info->producer = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attribute));
	dwarf_formudata(dwarf_attr(&die, DW_AT_language, &attribute), &language);
	info->language = (uint32_t)language;
	if (info->name)
		info->file = lines_add_file(lines, info->directory, info->name);
}

const struct line_unit *lines_unit_at(struct lines *lines, uint64_t address)
{
	lines_open(lines);

	struct unit_search search = lines_units_of(lines, address);
	const struct unit_range *range = next_holder(lines, address, &search);

	if (!range)
		return NULL;
	struct unit *unit = &lines->units.items[range->unit];

	if (!unit->has_info)
		describe(lines, unit);
	return &unit->info;
}

/* The node at an address in one unit. */
static uint32_t node_in_unit(struct lines *lines, struct unit *unit, uint64_t address)
{
	lines_read_calls(lines, unit);

	size_t low = VEC_UP_TO(&unit->calls, start, address);

	return low ? unit->calls.items[low - 1].node : LINES_NONE;
}

void lines_find_inlined(struct lines *lines, const uint64_t *addresses, size_t count,
			uint32_t *nodes)
{
	lines_open(lines);
	for (size_t i = 0; i < count; i++) {
		struct unit_search search = lines_units_of(lines, addresses[i]);
		const struct unit_range *range;

		nodes[i] = LINES_NONE;
		while (nodes[i] == LINES_NONE &&
		       (range = next_holder(lines, addresses[i], &search)))
			nodes[i] =
				node_in_unit(lines, &lines->units.items[range->unit], addresses[i]);
	}
}

struct inline_node lines_inline_node(const struct lines *lines, uint32_t node)
{
	return lines->nodes.items[node];
}

const struct line_function *lines_function(const struct lines *lines, uint32_t function)
{
	return lines->functions.items[function];
}

uint32_t lines_function_count(const struct lines *lines)
{
	return (uint32_t)lines->functions.count;
}
