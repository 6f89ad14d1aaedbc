/* SPDX-License-Identifier: Apache-2.0 */
/* Results for people, and their tables, in plain text and as delimited fields. */
#ifndef HELIO_PRESENT_TABLE_H
#define HELIO_PRESENT_TABLE_H

#include "analysis/views/result.h"
#include "present/layout.h"
#include "present/output.h"

void text_result(const struct output *output, const struct result *result,
		 const struct segment_map *segments);
/* Any part, for formats that have no form of their own for it. */
void text_part(const struct output *output, const struct result *result, const struct part *part,
	       const struct segment_map *segments);
void text_table(const struct output *output, const struct table *table, enum table_shape shape,
		const char *heading, const struct segment_map *segments);

/* Tables as fields, all other parts as text. */
void delimited_result(const struct output *output, const struct result *result, char delimiter,
		      const struct segment_map *segments);
void delimited_table(const struct output *output, const struct table *table, enum table_shape shape,
		     char delimiter, const struct segment_map *segments);

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
