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
struct row_label;

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
	uint32_t line;			 /* of a listing: in the source; 0: none */
};

/* What is the same in all rows of a function. */
struct row_origin {
	const char *object; /* path of the load object, or NULL */
	const char *of;	    /* what tells it from other functions of the name, or NULL */
};

/* What a row has beside its name and values: none of them has two. */
enum row_place { ROW_FLAT, ROW_IN_TREE, ROW_IN_BLOCK, ROW_DETAILED };

/* Call trees have millions: kept small. */
struct row {
	const char *name;
	const struct row_origin *origin; /* NULL: nothing; row_object(), row_qualifier() */
	/*
	 * The function's id; in a call tree the node's, if inverted the row's; of threads,
	 * load objects and their <Total> a number from 0 in the order of the session
	 */
	uint32_t id;
	enum row_mark mark : 4;
	enum row_place place : 4;
	bool last_child : 1; /* call tree: no sibling follows */
	/* listings */
	enum row_kind kind : 4;
	bool no_values : 1; /* the line has no code: its fields stay empty */
	bool hot : 1;	    /* a value is above the threshold */
	union {
		struct {
			uint32_t parent, depth;
		} tree;		/* row_parent(), row_depth() */
		uint32_t block; /* row_block() */
		const struct row_detail *detail;
	};
};

_Static_assert(sizeof(struct row) == 32, "of what there are millions");

static inline const char *row_object(const struct row *row)
{
	return row->origin ? row->origin->object : NULL;
}

static inline const char *row_qualifier(const struct row *row)
{
	return row->origin ? row->origin->of : NULL;
}

/* Call tree: id of the parent's row; 0 for <Total>, which is 0 itself. */
static inline uint32_t row_parent(const struct row *row)
{
	return row->place == ROW_IN_TREE ? row->tree.parent : 0;
}

/* Call tree: 0 for <Total>. */
static inline uint32_t row_depth(const struct row *row)
{
	return row->place == ROW_IN_TREE ? row->tree.depth : 0;
}

/* Callers-callees: rows with one number belong together. */
static inline uint32_t row_block(const struct row *row)
{
	return row->place == ROW_IN_BLOCK ? row->block : 0;
}

static inline const struct row_detail *row_detail(const struct row *row)
{
	static const struct row_detail none;

	return row->place == ROW_DETAILED ? row->detail : &none;
}

static inline void row_set_tree(struct row *row, uint32_t parent, uint32_t depth)
{
	row->place = ROW_IN_TREE;
	row->tree.parent = parent;
	row->tree.depth = depth;
}

static inline void row_set_block(struct row *row, uint32_t block)
{
	row->place = ROW_IN_BLOCK;
	row->block = block;
}

static inline void row_set_detail(struct row *row, const struct row_detail *detail)
{
	row->place = ROW_DETAILED;
	row->detail = detail;
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
	bool has_extents;	   /* a data layout: all rows but <Total> have theirs */
	struct row_label **labels; /* of functions, for table_name_row(); NULL: none so far */
	double left_out; /* an inverted tree: percent of the total, see tree_part.most; 0: nothing
			    was */
	bool by_change;	 /* … by the difference of the last experiment from the first */
	const struct listing_header *header; /* of a listing of code, else NULL */
	struct arena arena;		     /* owns all of the above */
};

void table_fini(struct table *table);

#endif
