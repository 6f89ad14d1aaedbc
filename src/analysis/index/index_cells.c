/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are ordered digit by digit, from the lowest on, in linear time.  Digits in which all
 * values agree are left out: times within an hour differ in four of six.
 */
#include "analysis/index/index_cells.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, UNITE_AT_LEAST = 1 << 22 };

void index_cells_add(struct index_cells *cells, uint64_t value, uint64_t amount)
{
	*vec_push(&cells->list) = (struct index_cell){value, amount};
	if (cells->list.count > 2 * cells->united + UNITE_AT_LEAST)
		index_cells_unite(cells);
}

void index_cells_append(struct index_cells *to, struct index_cells *from)
{
	for (size_t i = 0; i < from->list.count; i++)
		*vec_push(&to->list) = from->list.items[i];
	index_cells_fini(from);
}

static size_t digit_of(const struct index_cell *cell, unsigned shift)
{
	return cell->value >> shift & (DIGITS - 1);
}

/* Orders by one digit, those with the same as they were. */
static void sort_digit(const struct index_cell *from, struct index_cell *to, size_t count,
		       unsigned shift)
{
	size_t next[DIGITS] = {0}, before = 0;

	for (size_t i = 0; i < count; i++)
		next[digit_of(&from[i], shift)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t here = next[i];

		next[i] = before;
		before += here;
	}
	for (size_t i = 0; i < count; i++)
		to[next[digit_of(&from[i], shift)]++] = from[i];
}

static void sort(struct index_cells *cells)
{
	size_t count = cells->list.count;
	struct index_cell *items = cells->list.items, *other;
	uint64_t differing = 0;
	bool in_order = true;

	for (size_t i = 1; i < count; i++) {
		differing |= items[i].value ^ items[0].value;
		in_order &= items[i - 1].value <= items[i].value;
	}
	if (in_order)
		return;
	other = xmalloc(count * sizeof(*other));
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(differing >> shift & (DIGITS - 1)))
			continue;
		sort_digit(items, other, count, shift);

		struct index_cell *sorted = other;

		other = items;
		items = sorted;
	}
	free(other);
	cells->list.items = items;
	cells->list.capacity = count;
}

void index_cells_unite(struct index_cells *cells)
{
	struct index_cell *items = cells->list.items;
	size_t kept = 0;

	sort(cells);
	items = cells->list.items;
	for (size_t i = 0; i < cells->list.count; i++)
		if (kept && items[kept - 1].value == items[i].value)
			items[kept - 1].amount += items[i].amount;
		else
			items[kept++] = items[i];
	cells->list.count = cells->united = kept;
}

void index_cells_fini(struct index_cells *cells)
{
	vec_fini(&cells->list);
	*cells = (struct index_cells){0};
}
