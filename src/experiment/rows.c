/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/rows.h"

#include <stdlib.h>
#include <string.h>

void rows_open(struct rows *rows)
{
	size_t whole = rows->count - rows->count % ROWS_PAGE;

	if (rows->page)
		return;
	rows->page = xcalloc((size_t)rows->columns * ROWS_PAGE, sizeof(*rows->page));
	rows->fill = rows->count - whole;
	for (unsigned i = 0; i < rows->columns && rows->fill; i++) {
		struct row_column *column = &rows->column[i];

		rows_read(rows, i, whole, rows->fill, rows->page + (size_t)i * ROWS_PAGE);
		column->pages.count--;
		column->word_count = column->pages.items[column->pages.count].first;
	}
}

static uint64_t *add_words(struct row_column *column, size_t count)
{
	size_t needed = column->word_count + count + 1;

	if (needed > column->word_capacity) {
		column->word_capacity = needed + needed / 2;
		column->words = xrealloc(column->words, column->word_capacity * sizeof(uint64_t));
	}
	column->word_count += count;
	column->words[column->word_count] = 0;
	return column->words + column->word_count - count;
}

/* Two numbers at once; they lie anywhere. */
typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));

/*
 * Two numbers side by side, each of so many bits, are one of twice as many: the loop that packs
 * takes one step for both.  Returns how many there are; joined may be values.
 */
static size_t join_pairs(const uint64_t *values, size_t count, unsigned bits, uint64_t *joined)
{
	const uint64_t mask = UINT64_MAX >> (64 - bits);
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		two a = *(const two *)(values + i), b = *(const two *)(values + i + 2);
		two first = __builtin_shufflevector(a, b, 0, 2) & mask;
		two second = __builtin_shufflevector(a, b, 1, 3) & mask;

		*(two *)(joined + i / 2) = first | second << bits;
	}
	for (; i < count; i += 2)
		joined[i / 2] =
			(values[i] & mask) | (i + 1 < count ? (values[i + 1] & mask) << bits : 0);
	return (count + 1) / 2;
}

static void pack_bits(const uint64_t *values, size_t count, unsigned bits, uint64_t *out)
{
	uint64_t mask = UINT64_MAX >> (64 - bits), word = 0;
	unsigned filled = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t value = values[i] & mask;

		word |= value << filled;
		filled += bits;
		if (filled < 64)
			continue;
		*out++ = word;
		filled -= 64;
		word = filled ? value >> (bits - filled) : 0;
	}
	if (filled)
		*out = word;
}

/* What any and what all numbers of a page have: four at a time, as this is most of opening. */
static void find_bits(const uint64_t *values, size_t count, uint64_t *any, uint64_t *all)
{
	two some = {0, 0}, every = {UINT64_MAX, UINT64_MAX};
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		two a = *(const two *)(values + i), b = *(const two *)(values + i + 2);

		some |= a | b;
		every &= a & b;
	}
	*any = some[0] | some[1];
	*all = every[0] & every[1];
	for (; i < count; i++) {
		*any |= values[i];
		*all &= values[i];
	}
}

static void pack_column(struct row_column *column, const uint64_t *values, size_t count)
{
	struct row_page *page = vec_push(&column->pages);
	uint64_t any, all, differing, joined[ROWS_PAGE / 2];
	unsigned bits;

	page->first = column->word_count;
	find_bits(values, count, &any, &all);
	differing = any ^ all;
	bits = differing ? 64 - (unsigned)__builtin_clzll(differing) : 0;
	page->bits = bits;
	page->common = bits == 64 ? 0 : all >> bits << bits;
	while (bits && bits <= 32) {
		count = join_pairs(values, count, bits, joined);
		values = joined;
		bits *= 2;
	}
	if (bits)
		pack_bits(values, count, bits, add_words(column, (count * bits + 63) / 64));
}

void rows_pack(struct rows *rows)
{
	for (unsigned i = 0; i < rows->columns; i++) {
		uint64_t *values = rows->page + (size_t)i * ROWS_PAGE;

		pack_column(&rows->column[i], values, rows->fill);
		if (!rows->are_full)
			memset(values, 0, rows->fill * sizeof(*values));
	}
	rows->fill = 0;
}

void rows_drop(struct rows *rows)
{
	for (unsigned i = 0; i < rows->columns; i++)
		rows->page[i * ROWS_PAGE + rows->fill] = 0;
}

/* What was reserved for rows that did not come is given back. */
static void trim(struct row_column *column)
{
	if (column->words) {
		column->word_capacity = column->word_count + 1;
		column->words = xrealloc(column->words, column->word_capacity * sizeof(uint64_t));
	}
}

void rows_close(struct rows *rows)
{
	if (rows->page && rows->fill)
		rows_pack(rows);
	free(rows->page);
	rows->page = NULL;
	for (unsigned i = 0; i < rows->columns; i++)
		trim(&rows->column[i]);
}

void rows_fini(struct rows *rows)
{
	for (unsigned i = 0; i < rows->columns; i++) {
		vec_fini(&rows->column[i].pages);
		free(rows->column[i].words);
	}
	free(rows->page);
	*rows = (struct rows){.columns = rows->columns, .are_full = rows->are_full};
}

/* What begins at any bit of a byte and has no more bits lies in the eight bytes from there on. */
enum { AT_ONCE_BITS = 57 };

static inline uint64_t narrow_at(const uint64_t *words, size_t bit)
{
	uint64_t eight;

	memcpy(&eight, (const char *)words + bit / 8, sizeof(eight));
	return eight >> bit % 8;
}

static inline uint64_t wide_at(const uint64_t *words, size_t bit)
{
	const uint64_t *at = words + bit / 64;

	return at[0] >> bit % 64 | at[1] << 1 << (63 - bit % 64);
}

#define NEXT(from)                                                                                 \
	do {                                                                                       \
		out[i++] = (__typeof__(*out))(common | ((from)&mask));                             \
		bit += bits;                                                                       \
	} while (0)

/* Of narrow numbers four, or two, are read at once. */
#define READ(rows, index, first, out)                                                              \
	do {                                                                                       \
		const struct row_column *column = &(rows)->column[index];                          \
		const struct row_page page = column->pages.items[(first) / ROWS_PAGE];             \
		const uint64_t *words = page.bits ? column->words + page.first : NULL;             \
		const uint64_t common = page.common;                                               \
		const uint64_t mask = page.bits ? page_mask(page) : 0;                             \
		const size_t bits = page.bits;                                                     \
		size_t bit = (first) % ROWS_PAGE * bits, i = 0;                                    \
                                                                                                   \
		while (!bits && i < count)                                                         \
			NEXT(0);                                                                   \
		while (bits <= AT_ONCE_BITS / 4 && i + 4 <= count) {                               \
			uint64_t at_once = narrow_at(words, bit);                                  \
                                                                                                   \
			NEXT(at_once);                                                             \
			NEXT(at_once >>= bits);                                                    \
			NEXT(at_once >>= bits);                                                    \
			NEXT(at_once >>= bits);                                                    \
		}                                                                                  \
		while (bits <= AT_ONCE_BITS / 2 && i + 2 <= count) {                               \
			uint64_t at_once = narrow_at(words, bit);                                  \
                                                                                                   \
			NEXT(at_once);                                                             \
			NEXT(at_once >>= bits);                                                    \
		}                                                                                  \
		while (bits <= AT_ONCE_BITS && i < count)                                          \
			NEXT(narrow_at(words, bit));                                               \
		while (i < count)                                                                  \
			NEXT(wide_at(words, bit));                                                 \
	} while (0)

void rows_read(const struct rows *rows, unsigned column_index, size_t first, size_t count,
	       uint64_t *out)
{
	READ(rows, column_index, first, out);
}

void rows_read_u32(const struct rows *rows, unsigned column_index, size_t first, size_t count,
		   uint32_t *out)
{
	READ(rows, column_index, first, out);
}

static void copy_page(struct row_column *to, const struct row_column *from, size_t index,
		      size_t count)
{
	struct row_page *page = vec_push(&to->pages);
	size_t words = (count * from->pages.items[index].bits + 63) / 64;

	*page = from->pages.items[index];
	page->first = to->word_count;
	if (words)
		memcpy(add_words(to, words), from->words + from->pages.items[index].first,
		       words * sizeof(uint64_t));
}

void rows_map(struct rows *rows, unsigned column,
	      bool (*map)(uint64_t *values, size_t first, size_t count, void *arg), void *arg)
{
	struct row_column mapped = {0};
	uint64_t values[ROWS_PAGE];

	for (size_t first = 0; first < rows->count; first += ROWS_PAGE) {
		size_t left = rows->count - first, count = left < ROWS_PAGE ? left : ROWS_PAGE;

		rows_read(rows, column, first, count, values);
		if (map(values, first, count, arg))
			pack_column(&mapped, values, count);
		else
			copy_page(&mapped, &rows->column[column], first / ROWS_PAGE, count);
	}
	trim(&mapped);
	vec_fini(&rows->column[column].pages);
	free(rows->column[column].words);
	rows->column[column] = mapped;
}
