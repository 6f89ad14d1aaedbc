/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables: what most views answer with.  A table holds names and numbers in base units (seconds,
 * bytes, counts) and nothing about how they look; present, serve and exchange render the same one.
 */
#ifndef HELIO_ANALYSIS_TABLE_H
#define HELIO_ANALYSIS_TABLE_H

#include "analysis/session/query.h"
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct listing_header;

enum column_form { COLUMN_VALUE, COLUMN_DIFFERENCE, COLUMN_RATIO };

struct column {
	struct metric_choice choice; /* the flavour is the one that this view shows */
	uint32_t group;		     /* compared: the experiment, from 1; else 0 */
	enum column_form form;
	const char *label; /* the experiment's name, or NULL */
	bool not_recorded; /* by that experiment, or the one that it is compared with: no values */
};

enum row_mark {
	ROW_PLAIN,
	ROW_CENTER, /* the function of a callers-callees block */
	ROW_CALLER,
	ROW_CALLEE,
};

enum row_kind { ROW_LISTED, ROW_SOURCE, ROW_INDEX, ROW_INSTRUCTION, ROW_REMARK };

/* Where the element of a row lies in the object above it that is no element. */
struct row_extent {
	const char
		*name; /* of the element alone, or the object; NULL: a line of the cache begins */
	uint64_t offset, size; /* bytes */
	uint32_t depth;	       /* 0: the object itself; 1: one of its elements; and so on */
};

/* What few rows have: of listings, index objects and data layouts. */
struct row_detail {
	uint64_t address;		 /* of an instruction */
	uint64_t target;		 /* where it jumps to in its function; 0: it does not */
	uint64_t value;			 /* of an index or memory object; UINT64_MAX: none */
	const struct row_extent *extent; /* in a data layout; or NULL */
};

/* Call trees have millions: kept small. */
struct row {
	const char *name;
	const char *object; /* path of the load object, or NULL */
	const char *of;	    /* what tells it from other functions of the name, or NULL */
	/*
	 * The function's id; in a call tree the node's, if inverted the row's; of threads,
	 * load objects and their <Total> a number from 0 in the order of the session
	 */
	uint32_t id;
	uint32_t parent; /* call tree: id of the parent's row; 0 for <Total>, which is 0 itself */
	uint32_t depth;	 /* call tree: 0 for <Total> */
	uint32_t block;	 /* callers-callees: rows with one number belong together */
	enum row_mark mark : 4;
	bool last_child : 1; /* call tree: no sibling follows */
	/* listings */
	enum row_kind kind : 4;
	bool no_values : 1;		 /* the line has no code: its fields stay empty */
	bool hot : 1;			 /* a value is above the threshold */
	uint32_t line;			 /* in the source; 0: none */
	const struct row_detail *detail; /* NULL: all 0; row_detail() */
};

static inline const struct row_detail *row_detail(const struct row *row)
{
	static const struct row_detail none;

	return row->detail ? row->detail : &none;
}

/*
 * Hidden metrics have no column; the name has one, without values.
 * values[row * column_count + column]; base[column] is what 100 % means, or,
 * for the blocks of callers-callees, block_base[block * column_count + column].
 */
struct table {
	const char *title;
	const char
		*index; /* name of the index or memory object whose values the rows are, or NULL */
	struct column *columns;
	size_t column_count;
	struct row *rows;
	size_t row_count;
	size_t more; /* of index objects, not compared: rows that the limit leaves out */
	double *values;
	double *errors; /* standard errors of the values, 0: exact; NULL: not asked for */
	double *base;
	double *block_base; /* NULL: base holds everywhere */
	struct metric_choice sort;
	/* a view of data objects: of the sort metric the share of which the object is known, 0 to 1
	 */
	bool has_resolved;
	double resolved, resolved_of_addresses; /* of all; of what has a data address */
	bool has_extents; /* a data layout: all rows but <Total> have theirs */
	double left_out;  /* an inverted tree: percent of the total, see tree_part.most; 0: nothing
			     was */
	bool by_change;	  /* … by the difference of the last experiment from the first */
	const struct listing_header *header; /* of a listing of code, else NULL */
	struct arena arena;		     /* owns all of the above */
};

void table_fini(struct table *table);

#endif
