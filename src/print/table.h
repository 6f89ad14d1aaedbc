/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the engine as text, as delimited fields, or as JSON. */
#ifndef HELIO_PRINT_TABLE_H
#define HELIO_PRINT_TABLE_H

#include "print/context.h"
#include "print/layout.h"

enum table_shape {
	SHAPE_LIST,    /* one header, one row per line, a blank line */
	SHAPE_BLOCKS,  /* callers-callees: a header before each block */
	SHAPE_SINGLE,  /* one block in three parts: callers, the function, callees */
	SHAPE_TREE,    /* names drawn as a tree */
	SHAPE_LISTING, /* lines of code: "## " before hot ones, values only where there is code */
};

/*
 * Prints in the mode in force. command: the JSON object's; heading: the line(s)
 * above a text table, without the last newline.
 */
void table_print(struct print *print, const struct table *table, enum table_shape shape,
		 const char *command, const char *heading);

void table_print_text(const struct output *output, const struct table *table,
		      enum table_shape shape, const char *heading,
		      const struct segment_map *segments);
void table_print_delimited(const struct output *output, const struct table *table,
			   enum table_shape shape, char delimiter,
			   const struct segment_map *segments);
void table_print_json(struct print *print, const struct table *table, enum table_shape shape,
		      const char *command);

/*
 * The lines that lead to a node of a call tree, for rows given in display
 * order: "  |  +-".  Trees deeper than TREE_DEPTH_DRAWN are not indented
 * further; the depth is written instead: "[1234] +-".
 */
enum { TREE_DEPTH_DRAWN = 200 };
struct tree_lines {
	char text[3 * TREE_DEPTH_DRAWN + 32];
	char indent[3 * TREE_DEPTH_DRAWN + 32]; /* what the lines of the children begin with … */
	size_t ends[TREE_DEPTH_DRAWN];		/* … up to here for the children of depth i */
};
const char *tree_lines_next(struct tree_lines *lines, const struct row *row);

#endif
