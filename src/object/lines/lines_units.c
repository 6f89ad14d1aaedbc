/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which units there are and which code is theirs: the first DIE of each is
 * read, nothing else.  .debug_aranges would say the same, but clang does not
 * write it.
 */
#include "base/array.h"
#include "object/elf/split_unit.h"
#include "object/lines/lines_private.h"

#include <dwarf.h>
#include <stdlib.h>

const struct code_range *lines_code_at(const struct lines *lines, uint64_t start, uint64_t end)
{
	const struct code_range *range = start < end ? code_ranges_find(&lines->code, start) : NULL;

	return range && end <= range->end ? range : NULL;
}

bool lines_spend(struct lines *lines, uint64_t work)
{
	if (!lines->has_spent_all && work <= lines->work_left) {
		lines->work_left -= work;
		return true;
	}
	lines->has_spent_all = true;
	diag_add_once(lines->diags, DIAG_WARNING,
		      "%s: its debug information is damaged: it names the same bytes again and "
		      "again, and not all of it is read",
		      lines->debug.path);
	return false;
}

/* Several times as much as a file of that size can mean; .dwo files are not in it. */
static uint64_t work_for(Elf *elf)
{
	const uint64_t least = 4 << 20, times = 4;
	size_t size = 0;

	elf_rawfile(elf, &size);
	return least + times * size;
}

static void add_range(struct lines *lines, uint32_t unit, uint64_t start, uint64_t end)
{
	if (lines_code_at(lines, start, end))
		*vec_push(&lines->ranges) =
			(struct unit_range){.start = start, .end = end, .unit = unit};
}

/* A unit that does not tell its ranges, as assemblers make them: its rows tell. */
static void add_rows_as_ranges(struct lines *lines, uint32_t unit, uint32_t table)
{
	const struct program_rows *rows = lines_table_rows(lines, table);
	uint64_t base = lines->code.count ? lines->code.items[0].start : 0;

	for (size_t i = 0, first = 0; i < rows->count; i++) {
		if (rows->items[i].file == PROGRAM_NO_FILE) {
			add_range(lines, unit, base + rows->items[first].offset,
				  base + rows->items[i].offset);
			first = i + 1;
		}
	}
}

static void add_unit(struct lines *lines, Dwarf_CU *cu, Dwarf_Die *die)
{
	uint32_t index = (uint32_t)lines->units.count;
	struct unit *unit = vec_push(&lines->units);
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;
	bool has_ranges = false;

	unit->cu = cu;
	unit->table = lines_table_of(lines, cu);
	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0 &&
	       lines_spend(lines, LINES_RANGE_WORK)) {
		add_range(lines, index, start, end);
		has_ranges = true;
	}
	if (!has_ranges && unit->table != LINES_NONE)
		add_rows_as_ranges(lines, index, unit->table);
}

/*
 * Of units that have code in common the first one comes last, where it is looked for first: GNU
 * ld keeps the first copy of an inline function and has the others' debug information tell of it.
 */
static int compare_ranges(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->unit > y->unit ? -1 : x->unit < y->unit;
}

static void sort_ranges(struct lines *lines)
{
	struct unit_range *items = lines->ranges.items;

	if (lines->ranges.count)
		qsort(items, lines->ranges.count, sizeof(*items), compare_ranges);
	for (size_t i = 0; i < lines->ranges.count; i++) {
		size_t outer = i;

		while (outer && items[outer - 1].end <= items[i].end)
			outer = items[outer - 1].outer;
		items[i].outer = (uint32_t)outer;
	}
}

static void read_units(struct lines *lines)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!dwarf_get_units(lines->debug.own.dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(lines, cu, &die);
	}
	sort_ranges(lines);
}

void lines_open(struct lines *lines)
{
	struct elf_file file = {0};

	if (lines->is_open)
		return;
	lines->is_open = true;
	if (!debug_info_find(&lines->request, &lines->debug, lines->diags))
		return;
	file.elf = lines->debug.own.elf;
	lines->work_left = work_for(file.elf);
	code_ranges_read(&file, &lines->code);
	read_units(lines);
}

struct lines *lines_new(const struct debug_request *request, struct diag_list *diags)
{
	struct lines *lines = xcalloc(1, sizeof(*lines));
	const char *const from[] = {request->file, request->path, request->build_id,
				    request->archived};
	const char **const to[] = {&lines->request.file, &lines->request.path,
				   &lines->request.build_id, &lines->request.archived};

	for (size_t i = 0; i < COUNT(from); i++)
		*to[i] = from[i] ? arena_strdup(&lines->arena, from[i]) : NULL;
	lines->diags = diags;
	return lines;
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->tables.count; i++) {
		struct line_table *table = lines->tables.items[i];

		line_program_close(&table->program);
		vec_fini(&table->file_ids);
		line_program_free(&table->rows);
	}
	for (size_t i = 0; i < lines->units.count; i++)
		vec_fini(&lines->units.items[i].calls);
	split_store_free(lines->split);
	if (lines->debug.own.dwarf)
		debug_info_close(&lines->debug);
	vec_fini(&lines->code);
	vec_fini(&lines->units);
	vec_fini(&lines->ranges);
	vec_fini(&lines->tables);
	vec_fini(&lines->files);
	vec_fini(&lines->nodes);
	vec_fini(&lines->functions);
	hash_map_fini(&lines->table_by_place);
	hash_map_fini(&lines->table_by_cu);
	hash_map_fini(&lines->function_by_die);
	string_table_fini(&lines->paths);
	string_table_fini(&lines->function_keys);
	arena_fini(&lines->arena);
	free(lines);
}
