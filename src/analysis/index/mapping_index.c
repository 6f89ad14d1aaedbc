/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the calls in the order of time, with the memory that is mapped as a sorted list of
 * pieces: a call that maps or unmaps memory cuts it out of what is there, and what is cut out has
 * had its time.
 */
#include "analysis/index/mapping_index.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum { WALK_MAX = 10000 };

struct sweep {
	const struct experiment_trace *heap;
	struct mapping_index *index;
	struct mapping_list live; /* by begin */
};

static uint64_t field(const struct sweep *sweep, unsigned number, uint32_t row)
{
	return trace_field(sweep->heap, number, row);
}

/* ---- what is mapped ---- */

static size_t place_of(const struct mapping_list *live, uint64_t begin)
{
	return VEC_UP_TO(live, begin, begin);
}

static void insert(struct mapping_list *live, const struct mapping_piece *piece)
{
	size_t at = place_of(live, piece->begin);

	if (piece->begin >= piece->end)
		return;
	vec_push(live);
	memmove(&live->items[at + 1], &live->items[at],
		(live->count - 1 - at) * sizeof(*live->items));
	live->items[at] = *piece;
}

static void retire(struct mapping_index *index, struct mapping_piece piece, uint64_t until_ns)
{
	if (piece.begin >= piece.end)
		return;
	piece.until_ns = until_ns;
	*vec_push(&index->pieces) = piece;
	if (piece.end - piece.begin > index->largest)
		index->largest = piece.end - piece.begin;
}

/* [begin, end) of the live piece at a place is no more. */
static void cut_piece(struct sweep *sweep, size_t at, uint64_t begin, uint64_t end,
		      uint64_t time_ns)
{
	struct mapping_list *live = &sweep->live;
	struct mapping_piece whole = live->items[at], part = whole;

	memmove(&live->items[at], &live->items[at + 1],
		(live->count - at - 1) * sizeof(*live->items));
	live->count--;
	part.begin = whole.begin > begin ? whole.begin : begin;
	part.end = whole.end < end ? whole.end : end;
	retire(sweep->index, part, time_ns);
	part = whole;
	part.end = begin;
	insert(live, &part);
	part = whole;
	part.begin = end;
	insert(live, &part);
}

static void cut(struct sweep *sweep, uint64_t begin, uint64_t end, uint64_t time_ns)
{
	size_t at = place_of(&sweep->live, begin);

	at -= at > 0;
	while (at < sweep->live.count && sweep->live.items[at].begin < end) {
		if (sweep->live.items[at].end > begin) {
			cut_piece(sweep, at, begin, end, time_ns);
			at = place_of(&sweep->live, begin); /* behind what is left of it */
		} else {
			at++;
		}
	}
}

/* The program's break went down. */
static void lower_break(struct sweep *sweep, uint64_t to, uint64_t time_ns)
{
	for (size_t i = sweep->live.count; i-- > 0;)
		if (sweep->live.items[i].is_break && sweep->live.items[i].end > to)
			cut_piece(sweep, i, to, UINT64_MAX, time_ns);
}

/* What begins at an address, or holds it, has moved away with all that follows. */
static void move_away(struct sweep *sweep, uint64_t address, uint64_t time_ns)
{
	size_t up_to = place_of(&sweep->live, address);

	if (up_to && sweep->live.items[up_to - 1].end > address)
		cut_piece(sweep, up_to - 1, address, UINT64_MAX, time_ns);
}

static uint64_t whole_pages(uint64_t size)
{
	return size > UINT64_MAX - 4095 ? size : (size + 4095) & ~(uint64_t)4095;
}

static void take(struct sweep *sweep, uint32_t row)
{
	unsigned type = trace_type(sweep->heap, row);
	uint64_t begin = field(sweep, HEAP_ADDRESS, row), size = field(sweep, HEAP_SIZE, row);
	uint64_t time_ns = trace_time(sweep->heap, row);
	struct mapping_piece piece = {.from_ns = time_ns, .row = row, .is_break = type == HEAP_BRK};

	if (type == HEAP_BRK && (!size || size > begin)) {
		lower_break(sweep, begin, time_ns);
		return;
	}
	if (type == HEAP_MREMAP)
		move_away(sweep, field(sweep, HEAP_OLD, row), time_ns);
	if (type == HEAP_BRK)
		begin -= size;
	else
		size = whole_pages(size);
	if (__builtin_add_overflow(begin, size, &piece.end))
		return;
	piece.begin = begin;
	cut(sweep, begin, piece.end, time_ns);
	if (type != HEAP_MUNMAP)
		insert(&sweep->live, &piece);
}

/* ---- all ---- */

static int compare_rows(const void *a, const void *b, void *trace)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t at_x = trace_time(trace, x), at_y = trace_time(trace, y);

	return at_x != at_y ? (at_x < at_y ? -1 : 1) : (x > y) - (x < y);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct mapping_piece *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

void mapping_index_build(struct mapping_index *index, const struct process *process)
{
	struct sweep sweep = {.heap = &process->traces[TRACE_HEAP], .index = index};
	VEC(uint32_t) calls = {0};

	*index = (struct mapping_index){0};
	for (uint32_t row = 0; row < sweep.heap->rows.count && row < UINT32_MAX; row++) {
		unsigned type = trace_type(sweep.heap, row);

		if (type >= HEAP_MMAP && type <= HEAP_BRK)
			*vec_push(&calls) = row;
	}
	if (calls.count)
		qsort_r(calls.items, calls.count, sizeof(*calls.items), compare_rows,
			(void *)sweep.heap);
	for (size_t i = 0; i < calls.count; i++)
		take(&sweep, calls.items[i]);
	for (size_t i = 0; i < sweep.live.count; i++)
		retire(index, sweep.live.items[i], UINT64_MAX);
	vec_fini(&sweep.live);
	vec_fini(&calls);
	if (index->pieces.count)
		qsort(index->pieces.items, index->pieces.count, sizeof(*index->pieces.items),
		      compare_pieces);
}

void mapping_index_fini(struct mapping_index *index)
{
	vec_fini(&index->pieces);
	*index = (struct mapping_index){0};
}

const struct mapping_piece *mapping_index_find(const struct mapping_index *index, uint64_t address,
					       uint64_t time_ns)
{
	size_t up_to = VEC_UP_TO(&index->pieces, begin, address);

	for (size_t walked = 0; up_to-- && walked < WALK_MAX; walked++) {
		const struct mapping_piece *piece = &index->pieces.items[up_to];

		if (address - piece->begin >= index->largest)
			break;
		if (address < piece->end && piece->from_ns <= time_ns && time_ns <= piece->until_ns)
			return piece;
	}
	return NULL;
}
