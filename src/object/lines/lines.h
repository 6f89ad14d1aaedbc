/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address -> source file, line and the chain of inlined calls, from DWARF 2 to
 * 5: in the object itself, its separate debug file, split files (.dwo, .dwp)
 * and an alternate file (dwz).
 *
 * Nothing is read before the first question, and then only the compilation
 * units that hold the addresses asked for; what has been read of a unit is
 * kept, as rows and spans of our own.  All addresses are ELF addresses of the
 * object.  Ids and pointers returned here are valid as long as the object.
 */
#ifndef HELIO_OBJECT_LINES_H
#define HELIO_OBJECT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object;
struct lines;

/* No file, no unit, no node of the tree of calls. */
#define LINES_NONE UINT32_MAX

/* A range of code that belongs to one line. */
struct line_row {
	uint64_t start, end; /* [start, end) */
	uint32_t file;	     /* an id for lines_file(), or LINES_NONE: without a line */
	uint32_t line;	     /* from 1; 0: without a line */
};
struct line_rows {
	struct line_row *items;
	size_t count, capacity;
};

/* The object's lines, never NULL: where there is no debug information, every answer is "none". */
struct lines *object_lines(struct object *object);

/* The file whose lines are used, the object or its separate debug file; NULL: none has lines. */
const char *lines_debug_file(struct lines *lines);

/*
 * The row of each address, to out[0 … count-1].  Addresses are best sorted;
 * any order is answered.  An address without a line gets an empty row, file
 * LINES_NONE, line 0, start and end the address.
 */
void lines_find(struct lines *lines, const uint64_t *addresses, size_t count, struct line_row *out);

/*
 * Adds the rows of [start, end) without holes or overlaps, the first and last
 * cut to the range: what has no line is a row with file LINES_NONE.  Neighbours
 * may have the same line: a statement goes on, or begins anew.
 */
void lines_in_range(struct lines *lines, uint64_t start, uint64_t end, struct line_rows *out);

/*
 * Adds all rows of a source file in the object, sorted by address, from all
 * units: which lines have code at all.  Reads the line table of every unit
 * that names the file.
 */
void lines_of_file(struct lines *lines, uint32_t file, struct line_rows *out);

/* The row of a function's first line, or one of file LINES_NONE.  The first instruction may be that
 * of a function that was inlined there, but of the rows at its address the first is its own. */
struct line_row lines_first(struct lines *lines, uint64_t start, uint64_t end);

/* A source file. Units that spell it differently but mean the same path share one. */
struct line_file {
	const char *path;      /* without detours; absolute, if the unit's directory is */
	const char *recorded;  /* as the compiler wrote it: what its command line said */
	const char *directory; /* in which the unit was compiled, or NULL */
};
const struct line_file *lines_file(struct lines *lines, uint32_t file);
/* Makes a file known, as lines_file() tells it; files have numbers in the order of this. */
uint32_t lines_add_file(struct lines *lines, const char *directory, const char *recorded);
/* Files seen so far; with all, of every unit. */
uint32_t lines_file_count(struct lines *lines, bool all);

/* A compilation unit: what an object file (.o) was made from. */
struct line_unit {
	const char *name;      /* of the source file, as recorded; NULL: unknown */
	const char *directory; /* or NULL */
	const char *producer;  /* compiler and options, or NULL */
	uint32_t language;     /* DW_LANG_…, 0: unknown */
	uint32_t file;	       /* its name as an id for lines_file(), or LINES_NONE */
};
/* The unit that holds the address, or NULL. */
const struct line_unit *lines_unit_at(struct lines *lines, uint64_t address);

/*
 * The tree of inlined calls.  A root, parent LINES_NONE, is a function that
 * has code of its own; any other node is a copy of a function inlined into its
 * parent at call_file:call_line.  A chain is the way from a node to its root.
 */
struct inline_node {
	uint32_t parent;    /* a smaller id, or LINES_NONE */
	uint32_t function;  /* for lines_function() */
	uint32_t call_file; /* in the parent; of a root LINES_NONE */
	uint32_t call_line; /* 0: unknown */
	uint32_t depth;	    /* nodes above: 0 for a root */
};
/* The innermost node of each address, LINES_NONE where DWARF knows no function. */
void lines_find_inlined(struct lines *lines, const uint64_t *addresses, size_t count,
			uint32_t *nodes);
struct inline_node lines_inline_node(const struct lines *lines, uint32_t node);

/*
 * A function as DWARF tells it.  The same function in several units, inlined
 * or not, has one id; ids count from 0 in the order in which they were met.
 */
struct line_function {
	const char
		*mangled; /* linkage name, else the plain one; for object_demangle(). "" unknown */
	const char *name; /* as written in the source, unqualified; "" unknown */
	uint32_t file;	  /* of its declaration, or LINES_NONE */
	uint32_t line;	  /* 0: unknown */
};
const struct line_function *lines_function(const struct lines *lines, uint32_t function);
uint32_t lines_function_count(const struct lines *lines);

#endif
