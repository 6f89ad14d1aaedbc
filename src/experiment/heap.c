/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over all rows in the order of time: the rows of each thread are in order, so the threads
 * are merged by a heap (the other kind) of one cursor each.  A map keeps for every address that
 * there ever was the row of the block that is there now; an allocator hands the same
 * addresses out again and again, so it stays as small as the process's memory.
 */
#include "experiment/heap.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* The rest of a thread's rows: runs [run, end) of the sorted list, from `row` of the first. */
struct cursor {
	size_t run, end;
	size_t row; /* of the trace */
	uint32_t thread;
};

struct matcher {
	struct experiment_heap *heap;
	const struct experiment_trace *trace;
	const uint64_t *field[HEAP_FIELDS];
	struct trace_run *runs;	    /* by thread, then as they lie in the file */
	VEC(struct cursor) cursors; /* a heap: the earliest is first */
	struct hash_map places;	    /* address → index in `live` */
	VEC(uint32_t) live;	    /* the row of the block there, or HEAP_NEVER */
	VEC(uint32_t)
	newest; /* by thread: the row of its last call, if that allocated, or HEAP_NEVER */
	uint64_t bytes, blocks; /* live */
	uint64_t noted;		/* live bytes after the row before */
	size_t stretch;		/* of that row */
};

static uint64_t time_of(const struct matcher *matcher, const struct cursor *cursor)
{
	return matcher->trace->time_ns[cursor->row];
}

/* At one moment the release comes first: its memory may be what another thread got. */
static bool is_before(const struct matcher *matcher, const struct cursor *a, const struct cursor *b)
{
	uint64_t time_a = time_of(matcher, a), time_b = time_of(matcher, b);

	return time_a != time_b ? time_a < time_b
				: matcher->trace->type[a->row] == HEAP_FREE &&
					  matcher->trace->type[b->row] != HEAP_FREE;
}

static void sift(struct matcher *matcher, size_t at)
{
	struct cursor *cursors = matcher->cursors.items;

	for (;;) {
		size_t child = 2 * at + 1;
		struct cursor swapped = cursors[at];

		if (child + 1 < matcher->cursors.count &&
		    is_before(matcher, &cursors[child + 1], &cursors[child]))
			child++;
		if (child >= matcher->cursors.count ||
		    !is_before(matcher, &cursors[child], &cursors[at]))
			return;
		cursors[at] = cursors[child];
		cursors[child] = swapped;
		at = child;
	}
}

/* To the thread's next row; false: there is none. */
static bool advance(const struct matcher *matcher, struct cursor *cursor)
{
	const struct trace_run *run = &matcher->runs[cursor->run];

	if (++cursor->row < run->first + run->count)
		return true;
	if (++cursor->run == cursor->end)
		return false;
	cursor->row = matcher->runs[cursor->run].first;
	return true;
}

static int compare_runs(const void *a, const void *b)
{
	const struct trace_run *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void make_cursors(struct matcher *matcher)
{
	size_t count = matcher->trace->runs.count;

	matcher->runs = xmalloc(count * sizeof(*matcher->runs));
	memcpy(matcher->runs, matcher->trace->runs.items, count * sizeof(*matcher->runs));
	qsort(matcher->runs, count, sizeof(*matcher->runs), compare_runs);
	for (size_t i = 0; i < count; i++) {
		size_t last = matcher->cursors.count;

		if (i && matcher->runs[i].thread == matcher->runs[i - 1].thread) {
			matcher->cursors.items[last - 1].end = i + 1;
			continue;
		}
		*vec_push(&matcher->cursors) = (struct cursor){
			.run = i, .end = i + 1, .row = matcher->runs[i].first, .thread = last};
		*vec_push(&matcher->newest) = HEAP_NEVER;
	}
	for (size_t i = matcher->cursors.count; i-- > 0;)
		sift(matcher, i);
}

static void cursors_fini(struct matcher *matcher)
{
	free(matcher->runs);
	vec_fini(&matcher->cursors);
	vec_fini(&matcher->newest);
}

/* Leaves the row in front behind. */
static void next_row(struct matcher *matcher)
{
	if (!advance(matcher, &matcher->cursors.items[0]))
		matcher->cursors.items[0] = matcher->cursors.items[--matcher->cursors.count];
	sift(matcher, 0);
}

/* ---- what one row does ---- */

static uint32_t *place_of(struct matcher *matcher, uint64_t address)
{
	uint32_t fresh = (uint32_t)matcher->live.count;
	uint32_t place = hash_map_put(&matcher->places, address, fresh);

	if (place == fresh)
		*vec_push(&matcher->live) = HEAP_NEVER;
	return &matcher->live.items[place];
}

/* The block there, if it is known, ends with this row. */
static uint32_t release(struct matcher *matcher, uint64_t address, size_t row)
{
	uint32_t *place = place_of(matcher, address), block = *place;

	*place = HEAP_NEVER;
	if (block == HEAP_NEVER)
		return block;
	matcher->heap->until[block] = (uint32_t)row;
	matcher->heap->fate[block] = HEAP_FATE_RELEASED;
	matcher->bytes -= heap_bytes(matcher->field, block);
	matcher->blocks -= heap_blocks(matcher->field, block);
	return block;
}

/* The live bytes are what they were up to this row, and other ones from here on. */
static void note_course(struct matcher *matcher, size_t row)
{
	struct experiment_heap *heap = matcher->heap;
	uint64_t length = heap->last_ns - heap->first_ns + 1;
	size_t stretch =
		(size_t)((matcher->trace->time_ns[row] - heap->first_ns) * HEAP_STRETCHES / length);

	for (; matcher->stretch < stretch; matcher->stretch++)
		heap->most[matcher->stretch + 1] = matcher->noted;
	matcher->noted = matcher->bytes;
	if (matcher->bytes > heap->most[stretch])
		heap->most[stretch] = matcher->bytes;
	if (matcher->bytes <= heap->peak_bytes)
		return;
	heap->peak_bytes = matcher->bytes;
	heap->peak_blocks = matcher->blocks;
	heap->peak_ns = matcher->trace->time_ns[row];
}

static void allocate(struct matcher *matcher, size_t row, uint32_t *newest)
{
	uint64_t address = matcher->field[HEAP_ADDRESS][row];

	if (!address)
		return;
	/* A block that is there already: a realloc in place, or a release that was not recorded. */
	release(matcher, address, row);
	*place_of(matcher, address) = (uint32_t)row;
	matcher->heap->fate[row] = HEAP_FATE_LEFT;
	matcher->bytes += heap_bytes(matcher->field, row);
	matcher->blocks += heap_blocks(matcher->field, row);
	*newest = (uint32_t)row;
}

static void note_loss(struct matcher *matcher, size_t row)
{
	static const uint8_t fates[] = {
		[HEAP_LOST_DEFINITELY] = HEAP_FATE_LOST,
		[HEAP_LOST_INDIRECTLY] = HEAP_FATE_INDIRECTLY_LOST,
		[HEAP_LOST_POSSIBLY] = HEAP_FATE_POSSIBLY_LOST,
	};
	uint64_t loss = matcher->field[HEAP_SIZE][row];
	uint32_t block = *place_of(matcher, matcher->field[HEAP_ADDRESS][row]);

	if (block != HEAP_NEVER && loss >= HEAP_LOST_DEFINITELY && loss <= HEAP_LOST_POSSIBLY)
		matcher->heap->fate[block] = fates[loss];
}

/* What the search did not call lost is reachable. */
static void note_search(struct matcher *matcher)
{
	struct experiment_heap *heap = matcher->heap;

	heap->searched = true;
	for (size_t i = 0; i < matcher->live.count; i++) {
		uint32_t block = matcher->live.items[i];

		if (block != HEAP_NEVER && heap->fate[block] == HEAP_FATE_LEFT)
			heap->fate[block] = HEAP_FATE_REACHABLE;
	}
}

static void take(struct matcher *matcher, const struct cursor *cursor)
{
	size_t row = cursor->row;
	unsigned type = matcher->trace->type[row];
	uint32_t *newest = &matcher->newest.items[cursor->thread];

	if (heap_is_allocation(type)) {
		allocate(matcher, row, newest);
	} else if (type == HEAP_FREE) {
		uint32_t block = release(matcher, matcher->field[HEAP_ADDRESS][row], row);

		if (block == HEAP_NEVER)
			matcher->heap->unmatched++;
		else if (block == *newest)
			matcher->heap->fate[block] = HEAP_FATE_TEMPORARY;
		*newest = HEAP_NEVER;
	} else if (type == HEAP_LOST) {
		note_loss(matcher, row);
	} else if (type == HEAP_SEARCHED) {
		note_search(matcher);
	}
	note_course(matcher, row);
}

static void find_span(struct experiment_heap *heap, const struct experiment_trace *trace)
{
	heap->first_ns = UINT64_MAX;
	for (size_t i = 0; i < trace->runs.count; i++) {
		const struct trace_run *run = &trace->runs.items[i];
		uint64_t first = trace->time_ns[run->first];
		uint64_t last = trace->time_ns[run->first + run->count - 1];

		heap->first_ns = first < heap->first_ns ? first : heap->first_ns;
		heap->last_ns = last > heap->last_ns ? last : heap->last_ns;
	}
}

void experiment_heap_match(struct experiment_heap *heap, const struct experiment_trace *trace)
{
	struct matcher matcher = {.heap = heap, .trace = trace};

	*heap = (struct experiment_heap){0};
	if (!trace->count || trace->count >= HEAP_NEVER)
		return;
	heap->fate = xcalloc(trace->count, sizeof(*heap->fate));
	heap->until = xmalloc(trace->count * sizeof(*heap->until));
	memset(heap->until, 0xff, trace->count * sizeof(*heap->until));
	memcpy(matcher.field, trace->field, sizeof(matcher.field));
	find_span(heap, trace);
	make_cursors(&matcher);
	for (; matcher.cursors.count; next_row(&matcher))
		take(&matcher, &matcher.cursors.items[0]);
	heap->left_bytes = matcher.bytes;
	heap->left_blocks = matcher.blocks;
	cursors_fini(&matcher);
	vec_fini(&matcher.live);
	hash_map_fini(&matcher.places);
}

void experiment_heap_fini(struct experiment_heap *heap)
{
	free(heap->fate);
	free(heap->until);
	*heap = (struct experiment_heap){0};
}

/* What each row does to the live bytes: its own block comes, another one goes. */
static void find_changes(const struct matcher *matcher, const struct experiment_heap *heap,
			 uint64_t *change)
{
	for (size_t row = 0; row < matcher->trace->count; row++) {
		if (heap->fate[row] == HEAP_FATE_NONE)
			continue;
		change[row] += heap_bytes(matcher->field, row);
		if (heap->until[row] != HEAP_NEVER)
			change[heap->until[row]] -= heap_bytes(matcher->field, row);
	}
}

void experiment_heap_course(const struct experiment_heap *heap,
			    const struct experiment_trace *trace, struct heap_course *course)
{
	struct matcher matcher = {.trace = trace};
	uint64_t live = 0, left = 0;

	*course = (struct heap_course){.change = xcalloc(trace->count + 1, sizeof(uint64_t)),
				       .live = xcalloc(trace->count + 1, sizeof(uint64_t)),
				       .left = xcalloc(trace->count + 1, sizeof(uint64_t))};
	if (!heap->fate)
		return;
	memcpy(matcher.field, trace->field, sizeof(matcher.field));
	find_changes(&matcher, heap, course->change);
	for (make_cursors(&matcher); matcher.cursors.count; next_row(&matcher)) {
		size_t row = matcher.cursors.items[0].row;

		live += course->change[row];
		if (heap->fate[row] >= HEAP_FATE_LEFT)
			left += heap_bytes(matcher.field, row);
		course->live[row] = live;
		course->left[row] = left;
	}
	cursors_fini(&matcher);
}

void heap_course_fini(struct heap_course *course)
{
	free(course->change);
	free(course->live);
	free(course->left);
	*course = (struct heap_course){0};
}
