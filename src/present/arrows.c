/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each jump has a lane from its row to its target's.  Short jumps get the inner lanes, so that
 * loops are inside of what is around them; what finds no free lane is not drawn.
 */
#include "present/arrows.h"

#include "analysis/views/table.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 6, HEAD = 2 /* "> " */, WIDTH = LANES + HEAD };

struct jump {
	size_t from, to;
};
struct jumps {
	struct jump *items;
	size_t count, capacity;
};

static size_t span(const struct jump *jump)
{
	return jump->from < jump->to ? jump->to - jump->from : jump->from - jump->to;
}

static int compare_spans(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	if (span(x) != span(y))
		return span(x) < span(y) ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void find_jumps(const struct table *table, struct jumps *jumps)
{
	struct hash_map rows = {0}; /* by address */

	for (size_t i = 0; i < table->row_count; i++)
		if (table->rows[i].kind == ROW_INSTRUCTION)
			hash_map_put(&rows, row_detail(&table->rows[i])->address, (uint32_t)i);
	for (size_t i = 0; i < table->row_count; i++) {
		uint64_t target = row_detail(&table->rows[i])->target;
		uint32_t to = target ? hash_map_get(&rows, target) : HASH_NONE;

		if (to != HASH_NONE && to != i)
			*vec_push(jumps) = (struct jump){i, to};
	}
	hash_map_fini(&rows);
	if (jumps->count)
		qsort(jumps->items, jumps->count, sizeof(*jumps->items), compare_spans);
}

static bool is_free(const struct arrows *arrows, size_t first, size_t last, size_t lane)
{
	for (size_t row = first; row <= last; row++)
		if (arrows->text[row * WIDTH + lane] != ' ')
			return false;
	return true;
}

/* From the lane to the right edge; what crosses other lanes leaves these as they are. */
static void draw_end(struct arrows *arrows, size_t row, size_t lane, char corner, bool is_target)
{
	char *text = arrows->text + row * WIDTH;

	text[lane] = corner;
	for (size_t i = lane + 1; i < LANES + 1; i++)
		if (text[i] == ' ')
			text[i] = '-';
	if (is_target)
		text[LANES] = '>';
}

static void draw(struct arrows *arrows, const struct jump *jump)
{
	size_t first = jump->from < jump->to ? jump->from : jump->to;
	size_t last = first + span(jump), lane = LANES;

	while (lane && !is_free(arrows, first, last, lane - 1))
		lane--;
	if (!lane--)
		return;
	for (size_t row = first + 1; row < last; row++)
		arrows->text[row * WIDTH + lane] = '|';
	draw_end(arrows, first, lane, ',', first == jump->to);
	draw_end(arrows, last, lane, '`', last == jump->to);
}

void arrows_init(struct arrows *arrows, const struct table *table)
{
	struct jumps jumps = {0};

	*arrows = (struct arrows){0};
	find_jumps(table, &jumps);
	if (jumps.count) {
		arrows->width = WIDTH;
		arrows->text = xmalloc(table->row_count * WIDTH);
		memset(arrows->text, ' ', table->row_count * WIDTH);
	}
	for (size_t i = 0; i < jumps.count; i++)
		draw(arrows, &jumps.items[i]);
	vec_fini(&jumps);
}

const char *arrows_row(const struct arrows *arrows, size_t row)
{
	return arrows->text + row * arrows->width;
}

void arrows_fini(struct arrows *arrows)
{
	free(arrows->text);
}
