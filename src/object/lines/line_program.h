/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line number program of .debug_line, DWARF 2 to 5: its directories and
 * files, and its rows.
 */
#ifndef HELIO_OBJECT_LINE_PROGRAM_H
#define HELIO_OBJECT_LINE_PROGRAM_H

#include "base/memory.h"
#include "object/elf/cursor.h"
#include "object/elf/symbols.h"

/* The sections that line tables are made of. */
struct line_sections {
	struct bytes line, line_str, str;
};

struct program_file {
	const char *name;
	uint64_t directory;
};

/* Strings point into the sections. */
struct line_program {
	unsigned version;
	unsigned address_size; /* as the header says; 0: before version 5 it does not */
	unsigned minimum_length;
	int8_t line_base;
	uint8_t line_range, opcode_base;
	const uint8_t *opcode_lengths;
	struct cursor code;
	/* Counted as the program's directories and files are: from 0 in DWARF 5, else from 1. */
	VEC(const char *) directories;
	VEC(struct program_file) files;
};

/* Reads the header at an offset of .debug_line. False: there is none that can be understood. */
bool line_program_open(const struct line_sections *sections, uint64_t offset,
		       struct line_program *out);
void line_program_close(struct line_program *program);

/*
 * A row reaches up to the next one.  What has no line has file
 * PROGRAM_NO_FILE; such a row stands at every end.
 */
#define PROGRAM_NO_FILE UINT32_MAX
struct program_row {
	uint32_t offset; /* from the first range of code */
	uint32_t file;	 /* in the program's files */
	uint32_t line;
};
/* Of several rows at one address, the last of which counts: the first. */
struct program_first {
	uint32_t offset, file, line;
};
struct program_rows {
	struct program_row *items;
	size_t count, capacity;
	/* Where it is another line than the last one's, by address: an optimised function begins
	 * with a line of its own, and with instructions of what was inlined. */
	VEC(struct program_first) firsts;
};

/*
 * Runs the program and returns rows sorted by address, one per address.
 * Sequences that are not in one of the ranges of code are left out: what a
 * linker discards stays in the table, at address 0 or beyond all code.
 * So is code more than 4 GB above the first range.
 */
void line_program_run(const struct line_program *program, const struct code_ranges *ranges,
		      struct program_rows *rows);
void line_program_free(struct program_rows *rows);
/* The first row at an offset, where another one counts there, or NULL. */
const struct program_first *line_program_first(const struct program_rows *rows, uint64_t offset);

#endif
