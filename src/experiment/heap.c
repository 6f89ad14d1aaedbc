/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over all rows in the order of time: the rows of each thread are in order, so the threads
 * are merged by a heap (the other kind) of one cursor each, which reads some rows ahead.  A table
 * keeps the rows of the live blocks by address.  It has nothing else of them: an allocation takes
 * some 4 bytes of the file, and all of them may be live.
 */
#include "experiment/heap.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Some rows of a thread: of a trace of many threads few of each. */
enum { WINDOW_ROWS = 128, WINDOWS_OF_THREAD = 4 };
enum { WINDOW_TIME, WINDOW_TYPE, WINDOW_ADDRESS, WINDOW_SIZE, WINDOW_WEIGHT, WINDOW_COLUMNS };

struct window {
	struct window *next; /* of those that are free */
	uint64_t columns[];  /* of matcher->window_rows each */
};

/*
 * The rest of a thread's rows: runs [run, end) of the sorted list, from `row` of the first.  There
 * may be a thread for every few bytes of the file.
 */
struct cursor {
	uint64_t time_ns;      /* of `row` */
	struct window *window; /* NULL: `row` has not been read yet */
	uint32_t thread;
	uint32_t run, end;
	uint32_t row;	  /* of the trace */
	uint8_t at, read; /* … in the window, which has so many */
	bool is_release;
};
_Static_assert(WINDOW_ROWS <= UINT8_MAX, "rows of a window are counted in a byte");

/* A live block. */
struct live_block {
	uint64_t bytes, blocks; /* that it stands for */
	uint32_t row;		/* of its allocation */
};

/* The live blocks by address: a slot is where its address says, or as near behind as can be. */
struct block_table {
	const struct experiment_trace *trace;
	uint32_t *rows; /* by slot: of the allocation, whose address the trace has */
	uint8_t *steps; /* by slot: 1 + how far behind it is, at most STEPS_MAX; 0: it is free */
	size_t mask, count;
	unsigned shift; /* 64 - log2 of how many slots there are */
};
enum { STEPS_MAX = UINT8_MAX };

/*
 * The peak of a sample: each block that stands for several is in one of two halves by chance, all
 * others are in both.  The moment at which one half is highest says nothing of the chance that
 * made up the other, which tells what was live then.
 */
struct half {
	uint64_t bytes, blocks;		    /* live: of others, and twice those of the half */
	uint64_t highest;		    /* bytes so far */
	uint64_t other_bytes, other_blocks; /* of the other half then */
};

struct matcher {
	struct experiment_heap *heap;
	const struct experiment_trace *trace;
	uint32_t *runs;		    /* of the trace: by thread, then as they lie in the file */
	VEC(struct cursor) cursors; /* a heap: the earliest is first */
	size_t window_rows;
	struct window *spare;
	struct block_table live;
	VEC(uint32_t)
	newest; /* by thread: the row of its last call, if that allocated, or HEAP_NEVER */
	uint64_t bytes, blocks; /* live */
	double variance;
	struct half halves[2];
	uint64_t noted;	    /* live bytes after the row before */
	size_t range;	    /* of that row */
	uint64_t range_end; /* the first ns after it, since the first event */
};

/* ---- live blocks ---- */

static size_t home_of(const struct block_table *table, uint64_t address)
{
	return (size_t)(hash_u64(address) >> table->shift);
}

static uint64_t address_of(const struct block_table *table, size_t slot)
{
	return trace_field(table->trace, HEAP_ADDRESS, table->rows[slot]);
}

/* What `steps` is of a slot. */
static uint8_t steps_to(const struct block_table *table, size_t home, size_t slot)
{
	size_t steps = ((slot - home) & table->mask) + 1;

	return (uint8_t)(steps < STEPS_MAX ? steps : STEPS_MAX);
}

/* Where the address of a slot says that it is. */
static size_t home_of_slot(const struct block_table *table, size_t slot)
{
	if (table->steps[slot] < STEPS_MAX)
		return (slot + 1 - table->steps[slot]) & table->mask;
	return home_of(table, address_of(table, slot));
}

/* The address's slot, or the free one where it would be: addresses of other places are not read. */
static size_t find_block(const struct block_table *table, uint64_t address)
{
	size_t home = home_of(table, address), at = home;

	while (table->steps[at] &&
	       (table->steps[at] != steps_to(table, home, at) || address_of(table, at) != address))
		at = (at + 1) & table->mask;
	return at;
}

/* Into a free slot that was found for it. */
static void put_block(struct block_table *table, size_t slot, uint64_t address, uint32_t row)
{
	table->rows[slot] = row;
	table->steps[slot] = steps_to(table, home_of(table, address), slot);
}

static void grow_table(struct block_table *table)
{
	struct block_table old = *table;
	size_t size = old.rows ? (old.mask + 1) * 2 : 64;

	table->rows = xmalloc(size * sizeof(*table->rows));
	table->steps = xcalloc(size, sizeof(*table->steps));
	table->mask = size - 1;
	table->shift = (unsigned)__builtin_clzll(table->mask);
	for (size_t i = 0; old.rows && i <= old.mask; i++) {
		uint64_t address;

		if (!old.steps[i])
			continue;
		address = address_of(&old, i);
		put_block(table, find_block(table, address), address, old.rows[i]);
	}
	free(old.rows);
	free(old.steps);
}

/* Later ones that were put behind because of this one move up. */
static void remove_block(struct block_table *table, size_t hole)
{
	for (size_t at = (hole + 1) & table->mask; table->steps[at]; at = (at + 1) & table->mask) {
		size_t home = home_of_slot(table, at);

		if (((at - home) & table->mask) < ((at - hole) & table->mask))
			continue;
		table->rows[hole] = table->rows[at];
		table->steps[hole] = steps_to(table, home, hole);
		hole = at;
	}
	table->steps[hole] = 0;
	table->count--;
}

static struct live_block block_of(const struct experiment_trace *trace, uint32_t row)
{
	uint64_t size = trace_field(trace, HEAP_SIZE, row);
	uint64_t weight = trace_field(trace, HEAP_WEIGHT, row);

	return (struct live_block){heap_bytes(size, weight), heap_blocks(weight), row};
}

/* ---- rows in the order of time ---- */

/* At one moment the release comes first: its memory may be what another thread got. */
static bool is_before(const struct cursor *a, const struct cursor *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->is_release && !b->is_release;
}

static void sift(struct matcher *matcher, size_t at)
{
	struct cursor *cursors = matcher->cursors.items;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < matcher->cursors.count &&
		    is_before(&cursors[child + 1], &cursors[child]))
			child++;
		if (child >= matcher->cursors.count || !is_before(&cursors[child], &cursors[at]))
			return;

		struct cursor swapped = cursors[at];

		cursors[at] = cursors[child];
		cursors[child] = swapped;
		at = child;
	}
}

static struct window *new_window(struct matcher *matcher)
{
	struct window *window = matcher->spare;

	if (!window)
		return xmalloc(sizeof(*window) +
			       WINDOW_COLUMNS * matcher->window_rows * sizeof(*window->columns));
	matcher->spare = window->next;
	return window;
}

/* A column of the cursor's window. */
static uint64_t *column_of(const struct matcher *matcher, const struct cursor *cursor,
			   unsigned column)
{
	return cursor->window->columns + column * matcher->window_rows;
}

/* Of the cursor's row. */
static uint64_t value_of(const struct matcher *matcher, const struct cursor *cursor,
			 unsigned column)
{
	return column_of(matcher, cursor, column)[cursor->at];
}

static const struct trace_run *run_of(const struct matcher *matcher, size_t number)
{
	return &matcher->trace->runs.items[matcher->runs[number]];
}

/* Reads on from the cursor's row, no further than its run and the rows' page. */
static void read_window(struct matcher *matcher, struct cursor *cursor)
{
	const struct rows *rows = &matcher->trace->rows;
	const struct trace_run *run = run_of(matcher, cursor->run);
	size_t left = run->first + run->count - cursor->row;
	size_t in_page = ROWS_PAGE - cursor->row % ROWS_PAGE;
	size_t count = left < in_page ? left : in_page;

	cursor->window = new_window(matcher);

	static const unsigned columns[WINDOW_COLUMNS] = {
		[WINDOW_TIME] = ROW_TIME,
		[WINDOW_TYPE] = ROW_TYPE,
		[WINDOW_ADDRESS] = ROW_FIELD + HEAP_ADDRESS,
		[WINDOW_SIZE] = ROW_FIELD + HEAP_SIZE,
		[WINDOW_WEIGHT] = ROW_FIELD + HEAP_WEIGHT,
	};

	count = count < matcher->window_rows ? count : matcher->window_rows;
	for (unsigned i = 0; i < WINDOW_COLUMNS; i++)
		rows_read(rows, columns[i], cursor->row, count, column_of(matcher, cursor, i));
	cursor->at = 0;
	cursor->read = (uint8_t)count;
}

static void give_back_window(struct matcher *matcher, struct cursor *cursor)
{
	cursor->window->next = matcher->spare;
	matcher->spare = cursor->window;
	cursor->window = NULL;
}

/* The place of the cursor's row, which is not in its window, in the order of time. */
static void look_ahead(const struct matcher *matcher, struct cursor *cursor)
{
	cursor->time_ns = trace_time(matcher->trace, cursor->row);
	cursor->is_release = trace_type(matcher->trace, cursor->row) == HEAP_FREE;
}

/*
 * To the thread's next row; false: there is none.  Between windows a thread has none, so that
 * threads of a few rows share one.
 */
static bool advance(struct matcher *matcher, struct cursor *cursor)
{
	const struct trace_run *run = run_of(matcher, cursor->run);

	cursor->row++;
	if (++cursor->at < cursor->read) {
		cursor->time_ns = value_of(matcher, cursor, WINDOW_TIME);
		cursor->is_release = value_of(matcher, cursor, WINDOW_TYPE) == HEAP_FREE;
		return true;
	}
	give_back_window(matcher, cursor);
	if (cursor->row == run->first + run->count) {
		if (++cursor->run == cursor->end)
			return false;
		cursor->row = (uint32_t)run_of(matcher, cursor->run)->first;
	}
	look_ahead(matcher, cursor);
	return true;
}

static int compare_runs(const void *a, const void *b, void *arg)
{
	const struct trace_run *runs = arg;
	const struct trace_run *x = &runs[*(const uint32_t *)a], *y = &runs[*(const uint32_t *)b];

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static struct cursor first_cursor(const struct matcher *matcher, uint32_t run, uint32_t thread)
{
	struct cursor cursor = {.thread = thread,
				.run = run,
				.end = run + 1,
				.row = (uint32_t)run_of(matcher, run)->first};

	look_ahead(matcher, &cursor);
	return cursor;
}

/* Each thread reads ahead: all of them together no more than a part of the rows. */
static void set_windows(struct matcher *matcher)
{
	size_t threads = matcher->cursors.count ? matcher->cursors.count : 1;
	size_t rows = matcher->trace->rows.count / threads / WINDOWS_OF_THREAD;

	matcher->window_rows = rows < 1 ? 1 : rows < WINDOW_ROWS ? rows : WINDOW_ROWS;
}

static void make_cursors(struct matcher *matcher)
{
	size_t count = matcher->trace->runs.count; /* each has a row */

	matcher->runs = xmalloc(count * sizeof(*matcher->runs));
	for (uint32_t i = 0; i < count; i++)
		matcher->runs[i] = i;
	qsort_r(matcher->runs, count, sizeof(*matcher->runs), compare_runs,
		matcher->trace->runs.items);
	for (uint32_t i = 0; i < count; i++) {
		size_t last = matcher->cursors.count;

		if (i && run_of(matcher, i)->thread == run_of(matcher, i - 1)->thread) {
			matcher->cursors.items[last - 1].end = i + 1;
			continue;
		}
		*vec_push(&matcher->cursors) = first_cursor(matcher, i, (uint32_t)last);
		*vec_push(&matcher->newest) = HEAP_NEVER;
	}
	for (size_t i = matcher->cursors.count; i-- > 0;)
		sift(matcher, i);
	set_windows(matcher);
}

static void cursors_fini(struct matcher *matcher)
{
	for (struct window *window; (window = matcher->spare);) {
		matcher->spare = window->next;
		free(window);
	}
	free(matcher->runs);
	vec_fini(&matcher->cursors);
	vec_fini(&matcher->newest);
}

/* The cursor in front, whose row can be read; NULL: there are no more. */
static struct cursor *front(struct matcher *matcher)
{
	if (!matcher->cursors.count)
		return NULL;
	if (!matcher->cursors.items[0].window)
		read_window(matcher, &matcher->cursors.items[0]);
	return &matcher->cursors.items[0];
}

/* Leaves the row in front behind. */
static void next_row(struct matcher *matcher)
{
	struct cursor *cursor = &matcher->cursors.items[0];

	if (!advance(matcher, cursor))
		*cursor = matcher->cursors.items[--matcher->cursors.count];
	sift(matcher, 0);
}

/* ---- what one row does ---- */

/* A block comes (1) or goes (-1). */
static void count_block(struct matcher *matcher, const struct live_block *block, int sign)
{
	uint64_t by = (uint64_t)(int64_t)sign;
	uint64_t chance = block->row * UINT64_C(0x9e3779b97f4a7c15) >> 63;

	matcher->bytes += block->bytes * by;
	matcher->blocks += block->blocks * by;
	if (block->blocks > 1)
		matcher->variance += sign * heap_variance(block->bytes, block->blocks);
	for (uint64_t i = 0; i < 2; i++) {
		struct half *half = &matcher->halves[i];
		uint64_t times = block->blocks == 1 ? 1 : chance == i ? 2 : 0;

		half->bytes += times * block->bytes * by;
		half->blocks += times * block->blocks * by;
	}
}

/* The block that was allocated by `of` ends with this row. */
static void end_block(struct matcher *matcher, uint32_t of, size_t row)
{
	struct live_block block = block_of(matcher->trace, of);

	matcher->heap->until[of] = (uint32_t)row;
	matcher->heap->fate[of] = HEAP_FATE_RELEASED;
	count_block(matcher, &block, -1);
}

static void release(struct matcher *matcher, uint64_t address, size_t row, uint32_t *newest)
{
	struct block_table *live = &matcher->live;
	size_t slot = find_block(live, address);

	if (!live->steps[slot]) {
		matcher->heap->unmatched++;
	} else {
		uint32_t block = live->rows[slot];

		end_block(matcher, block, row);
		if (block == *newest)
			matcher->heap->fate[block] = HEAP_FATE_TEMPORARY;
		remove_block(live, slot);
	}
	*newest = HEAP_NEVER;
}

/*
 * The live bytes are what they were up to this row, and other ones from here on.  Times of a
 * damaged trace may go back, or be as far apart as numbers go.
 */
static void note_course(struct matcher *matcher, uint64_t time_ns)
{
	struct experiment_heap *heap = matcher->heap;
	unsigned __int128 length = (unsigned __int128)(heap->last_ns - heap->first_ns) + 1;
	uint64_t time = time_ns < heap->last_ns ? time_ns : heap->last_ns;
	uint64_t since = time > heap->first_ns ? time - heap->first_ns : 0;

	if (since >= matcher->range_end) {
		size_t range = (size_t)(since * (unsigned __int128)HEAP_RANGES / length);
		unsigned __int128 end = ((range + 1) * length + HEAP_RANGES - 1) / HEAP_RANGES;

		for (; matcher->range < range; matcher->range++)
			heap->most[matcher->range + 1] = matcher->noted;
		matcher->range_end = end < UINT64_MAX ? (uint64_t)end : UINT64_MAX;
	}
	matcher->noted = matcher->bytes;
	if (matcher->bytes > heap->most[matcher->range])
		heap->most[matcher->range] = matcher->bytes;
	if (matcher->bytes <= heap->peak_bytes)
		return;
	heap->peak_bytes = matcher->bytes;
	heap->peak_blocks = matcher->blocks;
	heap->peak_ns = time_ns;
	heap->peak_variance = matcher->variance;
}

static void note_halves(struct matcher *matcher)
{
	for (int i = 0; i < 2; i++) {
		struct half *half = &matcher->halves[i], *other = &matcher->halves[!i];

		if (half->bytes <= half->highest)
			continue;
		half->highest = half->bytes;
		half->other_bytes = other->bytes;
		half->other_blocks = other->blocks;
	}
}

/* At most what it looked like. */
static void settle_peak(struct experiment_heap *heap, const struct half *halves)
{
	uint64_t bytes = (halves[0].other_bytes + halves[1].other_bytes) / 2;
	uint64_t blocks = (halves[0].other_blocks + halves[1].other_blocks) / 2;
	bool is_lower = bytes < heap->peak_bytes;

	heap->likely_bytes = is_lower ? bytes : heap->peak_bytes;
	heap->likely_blocks = is_lower ? blocks : heap->peak_blocks;
}

static void allocate(struct matcher *matcher, const struct cursor *cursor, uint32_t *newest)
{
	uint64_t address = value_of(matcher, cursor, WINDOW_ADDRESS);
	uint64_t weight = value_of(matcher, cursor, WINDOW_WEIGHT);
	struct live_block block = {
		.bytes = heap_bytes(value_of(matcher, cursor, WINDOW_SIZE), weight),
		.blocks = heap_blocks(weight),
		.row = (uint32_t)cursor->row};
	struct block_table *live = &matcher->live;
	size_t slot;

	if (!address)
		return;
	if (live->count > live->mask / 8 * 7)
		grow_table(live);
	slot = find_block(live, address);
	/* A block that is there already: a realloc in place, or a release that was not recorded. */
	if (live->steps[slot])
		end_block(matcher, live->rows[slot], cursor->row);
	else
		live->count++;
	put_block(live, slot, address, block.row);
	matcher->heap->fate[cursor->row] = HEAP_FATE_LEFT;
	count_block(matcher, &block, 1);
	*newest = block.row;
}

static void note_loss(struct matcher *matcher, uint64_t address, uint64_t loss)
{
	static const uint8_t fates[] = {
		[HEAP_LOST_DEFINITELY] = HEAP_FATE_LOST,
		[HEAP_LOST_INDIRECTLY] = HEAP_FATE_INDIRECTLY_LOST,
		[HEAP_LOST_POSSIBLY] = HEAP_FATE_POSSIBLY_LOST,
	};
	size_t slot = find_block(&matcher->live, address);

	if (matcher->live.steps[slot] && loss >= HEAP_LOST_DEFINITELY && loss <= HEAP_LOST_POSSIBLY)
		matcher->heap->fate[matcher->live.rows[slot]] = fates[loss];
}

/* What the search did not call lost is reachable. */
static void note_search(struct matcher *matcher)
{
	struct experiment_heap *heap = matcher->heap;

	heap->searched = true;
	for (size_t i = 0; i <= matcher->live.mask; i++) {
		uint32_t block = matcher->live.steps[i] ? matcher->live.rows[i] : HEAP_NEVER;

		if (block != HEAP_NEVER && heap->fate[block] == HEAP_FATE_LEFT)
			heap->fate[block] = HEAP_FATE_REACHABLE;
	}
}

static void take(struct matcher *matcher, const struct cursor *cursor)
{
	unsigned type = (unsigned)value_of(matcher, cursor, WINDOW_TYPE);
	uint64_t address = value_of(matcher, cursor, WINDOW_ADDRESS);
	uint32_t *newest = &matcher->newest.items[cursor->thread];

	if (heap_is_allocation(type))
		allocate(matcher, cursor, newest);
	else if (type == HEAP_FREE)
		release(matcher, address, cursor->row, newest);
	else if (type == HEAP_LOST)
		note_loss(matcher, address, value_of(matcher, cursor, WINDOW_SIZE));
	else if (type == HEAP_SEARCHED)
		note_search(matcher);
	note_course(matcher, cursor->time_ns);
	note_halves(matcher);
}

static void find_span(struct experiment_heap *heap, const struct experiment_trace *trace)
{
	heap->first_ns = UINT64_MAX;
	for (size_t i = 0; i < trace->runs.count; i++) {
		const struct trace_run *run = &trace->runs.items[i];
		uint64_t first = trace_time(trace, run->first);
		uint64_t last = trace_time(trace, run->first + run->count - 1);

		heap->first_ns = first < heap->first_ns ? first : heap->first_ns;
		heap->last_ns = last > heap->last_ns ? last : heap->last_ns;
	}
	if (heap->last_ns < heap->first_ns)
		heap->last_ns = heap->first_ns;
}

void experiment_heap_match(struct experiment_heap *heap, const struct experiment_trace *trace)
{
	struct matcher matcher = {.heap = heap, .trace = trace, .live.trace = trace};

	size_t count = trace->rows.count;

	*heap = (struct experiment_heap){0};
	if (!count || count >= HEAP_NEVER)
		return;
	heap->fate = xcalloc(count, sizeof(*heap->fate));
	heap->until = xmalloc(count * sizeof(*heap->until));
	memset(heap->until, 0xff, count * sizeof(*heap->until));
	find_span(heap, trace);
	grow_table(&matcher.live);
	make_cursors(&matcher);
	for (const struct cursor *cursor; (cursor = front(&matcher)); next_row(&matcher))
		take(&matcher, cursor);
	settle_peak(heap, matcher.halves);
	heap->left_bytes = matcher.bytes;
	heap->left_blocks = matcher.blocks;
	cursors_fini(&matcher);
	free(matcher.live.rows);
	free(matcher.live.steps);
}

void experiment_heap_fini(struct experiment_heap *heap)
{
	free(heap->fate);
	free(heap->until);
	*heap = (struct experiment_heap){0};
}

static uint64_t bytes_of(const struct experiment_trace *trace, size_t row)
{
	return heap_bytes(trace_field(trace, HEAP_SIZE, row), trace_field(trace, HEAP_WEIGHT, row));
}

/* What each row does to the live bytes: its own block comes, another one goes. */
static void find_changes(const struct experiment_trace *trace, const struct experiment_heap *heap,
			 uint64_t *change)
{
	for (size_t row = 0; row < trace->rows.count; row++) {
		if (heap->fate[row] == HEAP_FATE_NONE)
			continue;
		change[row] += bytes_of(trace, row);
		if (heap->until[row] != HEAP_NEVER)
			change[heap->until[row]] -= bytes_of(trace, row);
	}
}

void experiment_heap_course(const struct experiment_heap *heap,
			    const struct experiment_trace *trace, struct heap_course *course)
{
	struct matcher matcher = {.trace = trace};
	uint64_t live = 0, left = 0;
	size_t count = trace->rows.count + 1;

	*course = (struct heap_course){.change = xcalloc(count, sizeof(uint64_t)),
				       .live = xcalloc(count, sizeof(uint64_t)),
				       .left = xcalloc(count, sizeof(uint64_t))};
	if (!heap->fate)
		return;
	find_changes(trace, heap, course->change);
	make_cursors(&matcher);
	for (const struct cursor *cursor; (cursor = front(&matcher)); next_row(&matcher)) {
		size_t row = cursor->row;

		live += course->change[row];
		if (heap->fate[row] >= HEAP_FATE_LEFT)
			left += bytes_of(trace, row);
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
