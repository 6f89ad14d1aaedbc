/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as rows of numbers, by columns, packed.
 *
 * In a page of ROWS_PAGE rows the numbers of a column mostly agree from the highest bit on down to
 * some bit: what they agree in stands once, and each row has the bits below it, side by side.  A
 * column of one number takes none.  So any row can be read by itself, and a page is read in one
 * loop without a decision.
 */
#ifndef HELIO_EXPERIMENT_ROWS_H
#define HELIO_EXPERIMENT_ROWS_H

#include "base/memory.h"
#include "format/kinds.h"

#include <stdbool.h>

enum { ROWS_PAGE = 1024 };

/* The columns of events; from ROW_FIELD on the kind's own, at most TRACE_FIELDS_MAX. */
enum { ROW_TIME, ROW_STACK, ROW_CPU, ROW_TYPE, ROW_CONTEXT, ROW_FIELD };
enum { ROW_COLUMNS_MAX = ROW_FIELD + TRACE_FIELDS_MAX };

struct row_page {
	uint64_t common;	       /* the bits that all its numbers have */
	uint64_t first : 56, bits : 8; /* word of the others, and how many of each number */
};

struct row_column {
	VEC(struct row_page) pages;
	uint64_t *words; /* and one more, so that two can be read anywhere */
	size_t word_count, word_capacity;
};

/* Zero-initialised but for `columns` and `are_full` is empty. */
struct rows {
	unsigned columns;
	bool are_full; /* each row puts a number in every column */
	size_t count;
	size_t fill;	/* rows of the page that is being filled */
	uint64_t *page; /* … by column: zeros where nothing was put, unless they are full; NULL:
			   closed */
	struct row_column column[ROW_COLUMNS_MAX];
};

/* Rows are only added between these two, and only read when closed. */
void rows_open(struct rows *rows);
void rows_close(struct rows *rows);
void rows_fini(struct rows *rows);
/* The page is full. */
void rows_pack(struct rows *rows);

/* The row that is being made, for row_put(). */
static inline uint64_t *rows_next_row(const struct rows *rows)
{
	return rows->page + rows->fill;
}

/* A number of it; where nothing is put it is 0. */
static inline void row_put(uint64_t *row, unsigned column, uint64_t value)
{
	row[column * ROWS_PAGE] = value;
}

/* The row is whole. */
static inline void rows_next(struct rows *rows)
{
	rows->count++;
	if (++rows->fill == ROWS_PAGE)
		rows_pack(rows);
}

/* The row was begun, and is none. */
void rows_drop(struct rows *rows);

/* Of the bits that are not common; there are some. */
static inline uint64_t page_mask(struct row_page page)
{
	return UINT64_MAX >> (64 - page.bits);
}

static inline uint64_t rows_get(const struct rows *rows, unsigned column, size_t row)
{
	const struct row_column *from = &rows->column[column];
	const struct row_page page = from->pages.items[row / ROWS_PAGE];
	size_t bit = row % ROWS_PAGE * page.bits;

	if (!page.bits) /* there may be no words at all */
		return page.common;
	const uint64_t *words = from->words + page.first + bit / 64;

	return page.common |
	       ((words[0] >> bit % 64 | words[1] << 1 << (63 - bit % 64)) & page_mask(page));
}

/* Rows [first, first + count) of one page. */
void rows_read(const struct rows *rows, unsigned column, size_t first, size_t count, uint64_t *out);
void rows_read_u32(const struct rows *rows, unsigned column, size_t first, size_t count,
		   uint32_t *out);

/*
 * Changes a column, page by page: map() gets what a page has from its first row on, and says
 * whether it changed anything.
 */
void rows_map(struct rows *rows, unsigned column,
	      bool (*map)(uint64_t *values, size_t first, size_t count, void *arg), void *arg);

#endif
