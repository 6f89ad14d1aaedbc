/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of a table: which fields a column becomes, how wide they are and
 * how the header is split over three lines.
 */
#ifndef HELIO_PRESENT_LAYOUT_H
#define HELIO_PRESENT_LAYOUT_H

#include "present/number.h"

struct table;

enum field_kind { FIELD_VALUE, FIELD_TIME, FIELD_PERCENT, FIELD_ERROR, FIELD_ADDRESS, FIELD_NAME };

/* One number or word per row. A time that is asked for with '%' too becomes two fields. */
struct field {
	enum field_kind kind;
	size_t column; /* in the table */
	size_t width;  /* of the widest text; 0 for a name at the end of the line */
};

enum { LAYOUT_HEADER_LINES = 3, LAYOUT_LINE_SIZE = 128 };

/* What stands under one header: one field or two. */
struct layout_column {
	size_t first_field;
	size_t field_count;
	size_t width; /* of header and fields */
	char header[LAYOUT_HEADER_LINES][LAYOUT_LINE_SIZE];
	const char *label; /* a line above the header: the experiment that is compared; or NULL */
};

struct layout {
	struct field *fields;
	size_t field_count;
	struct layout_column *columns;
	size_t column_count;
	bool labelled; /* some column has a label */
};

/*
 * The number of the load object at a path, for addresses. NULL where there is none to ask
 * (the number is 0 then).
 */
struct segment_map {
	uint32_t (*find)(const struct segment_map *map, const char *path);
	const struct session *session;
};

/* The name comes last when name_last is set, and also when the table has no name column. */
void layout_init(struct layout *layout, const struct table *table,
		 const struct segment_map *segments, bool name_last);
void layout_fini(struct layout *layout);

/* The text of one field of a row; names are the caller's. Returns the length. */
size_t layout_field_text(char text[NUMBER_SIZE], const struct table *table, size_t row,
			 const struct field *field, const struct segment_map *segments);
/* What 100 % is for a row's column. */
double layout_base(const struct table *table, size_t row, size_t column);

/*
 * Splits a title like "Excl. Total CPU Time" over the lines of a header at
 * least `width` wide.  `unit` is the last line's "sec." or "%"; unit_apart: it
 * stands alone over the numbers, else it may follow the last word.
 * Returns the width that the lines need.
 */
size_t layout_split_header(char lines[LAYOUT_HEADER_LINES][LAYOUT_LINE_SIZE], const char *title,
			   const char *unit, bool unit_apart, size_t width);
/* "Excl.", "Incl.", "Attr." or "". */
const char *layout_flavor_short(enum metric_flavor flavor);
/* "Exclusive", "Inclusive", "Attributed" or "". */
const char *layout_flavor_long(enum metric_flavor flavor);

#endif
