/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of object/lines/lines.h share: units, line tables and what is known of them so
 * far. */
#ifndef HELIO_OBJECT_LINES_PRIVATE_H
#define HELIO_OBJECT_LINES_PRIVATE_H

#include "base/hash.h"
#include "object/elf/debug_info.h"
#include "object/lines/line_program.h"
#include "object/lines/lines.h"

/* Code of a unit. Sorted by start; ranges may overlap: linkers fold equal functions. */
struct unit_range {
	uint64_t start, end;
	uint32_t unit;
	uint32_t outer; /* the place, plus 1, of the last before it that ends behind it; or 0 */
};

/* From start to the next span the innermost call is the node. */
struct call_span {
	uint64_t start;
	uint32_t node;
};

struct unit {
	Dwarf_CU *cu;	/* where it is split, the skeleton */
	uint32_t table; /* or LINES_NONE */
	bool has_info, has_calls;
	struct line_unit info;
	VEC(struct call_span) calls;
};

/* Several units may share one. */
struct line_table {
	uint64_t offset;
	Elf *elf;
	const char *directory;
	bool is_open, has_rows;
	struct line_program program;
	VEC(uint32_t) file_ids; /* of the program's files; LINES_NONE: not known yet */
	struct program_rows rows;
};

struct lines {
	struct debug_request request; /* strings are the arena's */
	struct diag_list *diags;
	bool is_open;
	struct debug_info debug;
	struct arena arena;
	struct code_ranges code;
	VEC(struct unit) units;
	VEC(struct unit_range) ranges;
	VEC(struct line_table *) tables;
	struct hash_map table_by_place; /* its address in memory */
	struct hash_map table_by_cu;	/* likewise */
	struct string_table paths;
	VEC(struct line_file *) files; /* one per path */
	VEC(struct inline_node) nodes;
	VEC(struct line_function *) functions;
	struct hash_map function_by_die;
	struct string_table function_keys;
	uint64_t work_left; /* of what damaged files could make endless, see lines_spend() */
	bool has_spent_all;
	struct split_store *split; /* split units; NULL: not needed yet */
};

/* Where an object's debug information may be; messages go to diags, which outlives the lines. */
struct lines *lines_new(const struct debug_request *request, struct diag_list *diags);
void lines_free(struct lines *lines);

/* Reads the list of units, once. */
void lines_open(struct lines *lines);

/* lines_tables.c: line tables and files */

/* The table that a unit's DIEs count files in, or LINES_NONE. */
uint32_t lines_table_of(struct lines *lines, Dwarf_CU *cu);
/* The same of a split unit, which may have a table of its own or use its skeleton's. */
void lines_table_of_split(struct lines *lines, Dwarf_CU *split, uint32_t skeleton_table);
/* The rows of a table, read now if they have not been. */
const struct program_rows *lines_table_rows(struct lines *lines, uint32_t table);
/* The id of a file of a table, or LINES_NONE. */
uint32_t lines_table_file(struct lines *lines, uint32_t table, uint64_t index);
/* Opens the table's program, and returns how many files it has. */
size_t lines_table_open(struct lines *lines, uint32_t table);

/* The code range that holds [start, end), or NULL: what a linker discarded is in none. */
const struct code_range *lines_code_at(const struct lines *lines, uint64_t start, uint64_t end);

/*
 * Whether so much work is still to be done: a byte of a line table that is read, a range of a unit
 * or of a DIE, an entry of a list of locations.  Tables and lists of damaged files may overlap or
 * be shared by thousands, so that a small file would take all time and memory.  After the first
 * that is refused, which is warned of, all are.
 */
bool lines_spend(struct lines *lines, uint64_t work);
/* What is kept of a range or a row, compared with the bytes that it has in a file. */
enum { LINES_RANGE_WORK = 16, LINES_ROW_WORK = 8 };

/* The units that hold an address, one by one, but not all of a damaged file. */
struct unit_search {
	size_t at; /* ranges before this one are still to be looked at */
	unsigned left;
};
struct unit_search lines_units_of(const struct lines *lines, uint64_t address);
/* LINES_NONE: no more. */
uint32_t lines_next_unit(const struct lines *lines, uint64_t address, struct unit_search *search);

/* lines_calls.c: the functions and inlined calls of a unit, read now if they have not been */
void lines_read_calls(struct lines *lines, struct unit *unit);

#endif
