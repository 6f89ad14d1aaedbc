/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables are opened when one of their files or rows is asked for.  A
 * file's path is put together at its first use: most of the hundreds of headers
 * that a table names have no code.
 */
#include "object/lines/lines_private.h"
#include "object/lines/path.h"

#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

static uint32_t add_table(struct lines *lines, Elf *elf, uint64_t offset, const char *directory)
{
	struct line_table *table = arena_new(&lines->arena, struct line_table);

	*table = (struct line_table){.elf = elf, .offset = offset, .directory = directory};
	*vec_push(&lines->tables) = table;
	return (uint32_t)lines->tables.count - 1;
}

/* The table at an offset of a file's .debug_line: one, however many units have it. */
static uint32_t table_at(struct lines *lines, Elf *elf, struct bytes section, uint64_t offset,
			 const char *directory)
{
	if (!section.data || offset >= section.size)
		return LINES_NONE;
	uint64_t place = (uint64_t)(uintptr_t)(section.data + offset);
	uint32_t known = hash_map_get(&lines->table_by_place, place);

	if (known != HASH_NONE)
		return known;
	return hash_map_put(&lines->table_by_place, place,
			    add_table(lines, elf, offset, directory));
}

static uint32_t find_table(struct lines *lines, Dwarf_CU *cu)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;
	Dwarf_Word offset;

	if (dwarf_cu_info(cu, NULL, NULL, &die, NULL, NULL, NULL, NULL) ||
	    dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &attribute), &offset))
		return LINES_NONE;
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(cu));

	return table_at(lines, elf, elf_debug_section(elf, "debug_line"), offset,
			string_of(&die, DW_AT_comp_dir));
}

uint32_t lines_table_of(struct lines *lines, Dwarf_CU *cu)
{
	uint64_t key = (uint64_t)(uintptr_t)cu;
	uint32_t known = hash_map_get(&lines->table_by_cu, key);

	/* The index is stored plus one: HASH_NONE, which is LINES_NONE, is no value. */
	if (known == HASH_NONE)
		known = hash_map_put(&lines->table_by_cu, key, find_table(lines, cu) + 1);
	return known - 1;
}

void lines_table_of_split(struct lines *lines, Dwarf_CU *split, uint32_t skeleton_table)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(split));
	uint32_t table = table_at(lines, elf, elf_debug_section(elf, "debug_line.dwo"), 0, NULL);

	if (table == LINES_NONE)
		table = skeleton_table;
	else if (skeleton_table != LINES_NONE)
		lines->tables.items[table]->directory =
			lines->tables.items[skeleton_table]->directory;
	hash_map_put(&lines->table_by_cu, (uint64_t)(uintptr_t)split, table + 1);
}

static struct line_sections sections_of(Elf *elf)
{
	struct line_sections sections = {
		.line = elf_debug_section(elf, "debug_line"),
		.line_str = elf_debug_section(elf, "debug_line_str"),
		.str = elf_debug_section(elf, "debug_str"),
	};

	if (!sections.line.data) {
		sections.line = elf_debug_section(elf, "debug_line.dwo");
		sections.str = elf_debug_section(elf, "debug_str.dwo");
	}
	return sections;
}

static bool open_program(struct lines *lines, const struct line_table *table,
			 struct line_program *out)
{
	struct line_sections sections = sections_of(table->elf);

	if (!line_program_open(&sections, table->offset, out)) {
		diag_add_once(lines->diags, DIAG_WARNING,
			      "%s: a line table cannot be read; its code has no lines",
			      lines->debug.path);
		return false;
	}
	return lines_spend(lines, (uint64_t)(out->code.end - sections.line.data) - table->offset);
}

size_t lines_table_open(struct lines *lines, uint32_t index)
{
	struct line_table *table = lines->tables.items[index];

	if (!table->is_open) {
		table->is_open = true;
		if (lines_spend(lines, 0) && !open_program(lines, table, &table->program)) {
			line_program_close(&table->program);
			table->program = (struct line_program){0};
		}
		for (size_t i = 0; i < table->program.files.count; i++)
			*vec_push(&table->file_ids) = LINES_NONE;
	}
	return table->program.files.count;
}

const struct program_rows *lines_table_rows(struct lines *lines, uint32_t index)
{
	struct line_table *table = lines->tables.items[index];

	if (!table->has_rows) {
		table->has_rows = true;
		if (lines_table_open(lines, index))
			line_program_run(&table->program, &lines->code, &table->rows);
		lines_spend(lines, LINES_ROW_WORK * table->rows.count);
	}
	return &table->rows;
}

static struct line_file *add_file(struct lines *lines, const char *path, const char *recorded,
				  const char *directory)
{
	struct line_file *file = arena_new(&lines->arena, struct line_file);

	file->path = arena_strdup(&lines->arena, path);
	file->recorded = arena_strdup(&lines->arena, recorded);
	file->directory = directory ? arena_strdup(&lines->arena, directory) : NULL;
	return file;
}

uint32_t lines_add_file(struct lines *lines, const char *directory, const char *name)
{
	char *path = path_join(directory, name);

	path_normalize(path);
	uint32_t id = string_table_add(&lines->paths, path);

	if (id == lines->files.count)
		*vec_push(&lines->files) = add_file(lines, path, name, directory);
	free(path);
	return id;
}

/* Of a damaged file, a thousand names may be one that has no end. */
static bool is_path(const char *text)
{
	return strnlen(text, PATH_MAX) < PATH_MAX;
}

/* The directory and the name of a file of a table, joined as the compiler's command line had it. */
static uint32_t make_file_id(struct lines *lines, const struct line_table *table, uint64_t index)
{
	const struct line_program *program = &table->program;
	const struct program_file *file = &program->files.items[index];
	const char *directory = table->directory;
	const char *in = file->directory && file->directory < program->directories.count
				 ? program->directories.items[file->directory]
				 : NULL;

	if (!directory && program->version >= 5 && program->directories.count)
		directory = program->directories.items[0];
	if (!*file->name || !is_path(file->name) || (in && !is_path(in)) ||
	    (directory && !is_path(directory)))
		return LINES_NONE;
	char *name = path_join(in, file->name);
	uint32_t id = lines_add_file(lines, directory, name);

	free(name);
	return id;
}

uint32_t lines_table_file(struct lines *lines, uint32_t table_index, uint64_t index)
{
	if (table_index == LINES_NONE || index >= lines_table_open(lines, table_index))
		return LINES_NONE;
	struct line_table *table = lines->tables.items[table_index];
	uint32_t *id = &table->file_ids.items[index];

	if (*id == LINES_NONE)
		*id = make_file_id(lines, table, index);
	return *id;
}
