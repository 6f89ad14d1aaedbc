/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/heap_search.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/ended_stack.h"
#include "collector/core/maps.h"
#include "collector/core/modules.h"
#include "collector/core/stack.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/core/trace.h"
#include "collector/sources/heap_pages.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <sys/mman.h>

enum {
	CHUNK = 64 * 1024,
	PAGE = 4096,
	WORD = 8,
	MAPPINGS_MAX = 1 << 15,
	ALLOCATOR_HEADER = 2 * WORD, /* glibc's, in front of a block */
	ALLOCATOR_LEAST = 4 * WORD,
	PRESERVED = 1 << 3 | 1 << 6 | 0xf << 12, /* rbx, rbp, r12 to r15, by DWARF number */
};

#define LIMIT_NS   (UINT64_C(10) * 1000000000) /* for all of it */
#define MAPPED_MAX (UINT64_C(1) << 37) /* what is larger is mostly empty: a sanitizer's, a VM's */

enum state { STATE_UNREACHED, STATE_INDIRECT, STATE_POSSIBLE, STATE_REACHED };

/* A live block. */
struct block {
	uint64_t start, size;
	uint32_t state;
	uint32_t leader; /* the block from which the lost ones around it were reached, + 1 */
};

struct mapping {
	uint64_t start, end;
	bool allocator; /* perhaps with the allocator's own pointers in it */
	bool anonymous; /* what was not written to holds nothing */
};

struct search {
	struct thread *thread;
	struct heap_extents extents;
	struct block *blocks;
	size_t count;
	uint32_t *stack; /* of blocks whose contents are to be looked at */
	size_t depth;
	struct mapping *mappings;
	size_t mapping_count;
	uint64_t mapped; /* bytes of all of them */
	struct heap_pages *pages;
	uint64_t *chunk; /* holds the words from chunk_start to chunk_end */
	uint64_t chunk_start, chunk_end;
	uint64_t ahead;		 /* may be read up to there in advance; 0: only what is looked at */
	uint64_t low, high;	 /* of all live blocks */
	struct unwind_regs regs; /* that the calling thread's outermost call of the end preserves */
	uint64_t end_ns;
	uint32_t leader; /* as in struct block; 0: reached from the roots */
	enum state from; /* what a pointer to the start of a block makes of it */
	bool allocator;	 /* the words at hand may be the allocator's */
	bool full;	 /* not all that is to be left out could be */
};

static void *map_room(size_t size)
{
	return sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void drop_room(void *room, size_t size)
{
	if (room)
		sys_munmap(room, size);
}

/* ---- pointers ---- */

/* The live block that contains the address, or NULL. */
static struct block *find_block(const struct search *search, uint64_t address)
{
	size_t low = 0, high = search->count;

	if (address < search->low || address >= search->high)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->blocks[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	struct block *block = low ? &search->blocks[low - 1] : NULL;

	/* A block of no bytes has an address all the same. */
	return block && address - block->start < (block->size ? block->size : 1) ? block : NULL;
}

/* glibc keeps pointers to the header behind a block, which may be its last word. */
static bool is_next_header(const struct block *block, uint64_t address)
{
	uint64_t whole =
		(block->size + WORD + ALLOCATOR_HEADER - 1) & ~(uint64_t)(ALLOCATOR_HEADER - 1);

	if (whole < ALLOCATOR_LEAST)
		whole = ALLOCATOR_LEAST;
	return address == block->start - ALLOCATOR_HEADER + whole;
}

static bool read_memory(uint64_t address, void *to, size_t size)
{
	return sys_read_memory(address, to, size) == size;
}

/* C++ keeps the number of elements in front of an array, others the length: a word before what
 * the program's pointer points to. */
static bool is_array(const struct block *block, uint64_t address)
{
	uint64_t number;

	return address == block->start + WORD && block->size > WORD &&
	       read_memory(block->start, &number, sizeof(number)) && number &&
	       (block->size - WORD) % number == 0;
}

static void push(struct search *search, struct block *block)
{
	search->stack[search->depth++] = (uint32_t)(block - search->blocks);
}

/* Roots, and what is reached from them. */
static void reach(struct search *search, struct block *block, bool start)
{
	enum state state = start ? search->from : STATE_POSSIBLE;

	if (block->state >= state)
		return;
	block->state = state;
	push(search, block);
}

/* From a lost block: what it points to is lost because it is. */
static void reach_lost(struct search *search, struct block *block)
{
	if (block->state != STATE_UNREACHED ||
	    (uint32_t)(block - search->blocks) + 1 == search->leader)
		return;
	block->state = STATE_INDIRECT;
	/* It had been looked at itself before: all that it leads to is indirectly lost already. */
	if (!block->leader)
		push(search, block);
	block->leader = search->leader;
}

static void look_at(struct search *search, uint64_t word)
{
	struct block *block = find_block(search, word);

	if (!block || (search->allocator && is_next_header(block, word)))
		return;
	if (search->leader)
		reach_lost(search, block);
	else
		reach(search, block, word == block->start || is_array(block, word));
}

static bool in_time(const struct search *search)
{
	return clock_now_ns() < search->end_ns;
}

static uint64_t part_up_to(uint64_t from, uint64_t to)
{
	return to - from < CHUNK ? (to - from) & ~(uint64_t)(WORD - 1) : CHUNK;
}

/* False: the chunk has nothing. */
static bool fill_chunk(struct search *search, uint64_t from, uint64_t to)
{
	uint64_t size = part_up_to(from, to);
	bool ok = read_memory(from, search->chunk, size);

	search->chunk_start = from;
	search->chunk_end = ok ? from + size : from;
	return ok;
}

/*
 * Makes [from, from + *size) readable in the chunk.  Whole pages are read, and far ahead where more
 * will be looked at soon: there are as many gaps in a heap as blocks.  NULL: it cannot be read.
 */
static const uint64_t *words_at(struct search *search, uint64_t from, uint64_t to, uint64_t *size)
{
	uint64_t page = from & ~(uint64_t)(PAGE - 1);
	uint64_t ahead = search->ahead > page + PAGE ? search->ahead : page + PAGE;

	*size = part_up_to(from, to);
	if ((from < search->chunk_start || from >= search->chunk_end) &&
	    !fill_chunk(search, page, ahead > to ? ahead : to) && !fill_chunk(search, from, to))
		return NULL;
	if (*size > search->chunk_end - from)
		*size = search->chunk_end - from;
	return search->chunk + (from - search->chunk_start) / WORD;
}

static const struct mapping *mapping_at(const struct search *search, uint64_t address)
{
	size_t low = 0, high = search->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < search->mapping_count && search->mappings[low].start <= address
		       ? &search->mappings[low]
		       : NULL;
}

/* The next address that may hold a pointer: what is less than a chunk is not asked for. */
static uint64_t skip_empty(struct search *search, uint64_t from, uint64_t to)
{
	const struct mapping *mapping = to - from < CHUNK ? NULL : mapping_at(search, from);

	if (!mapping || !mapping->anonymous)
		return from;
	return heap_pages_skip(search->pages, from, mapping->end < to ? mapping->end : to);
}

/* Memory that cannot be read holds no pointers. */
static void look_through(struct search *search, uint64_t from, uint64_t to)
{
	from = (from + WORD - 1) & ~(uint64_t)(WORD - 1);
	while ((from = skip_empty(search, from, to)) < to && to - from >= WORD && in_time(search)) {
		uint64_t size;
		const uint64_t *words = words_at(search, from, to, &size);

		for (size_t i = 0; words && i < size / WORD; i++)
			look_at(search, words[i]);
		from += size;
	}
}

static void drain(struct search *search)
{
	while (search->depth) {
		struct block *block = &search->blocks[search->stack[--search->depth]];

		search->from = block->state;
		look_through(search, block->start, block->start + block->size);
	}
}

/* ---- where pointers are looked for ---- */

static bool contains(const char *text, const char *part)
{
	for (; *text; text++)
		if (text_starts(text, part))
			return true;
	return false;
}

static bool is_libc(const char *path)
{
	return contains(path, "/libc.so") || contains(path, "/libc-") || contains(path, "/ld-");
}

static void add_mapping(const struct map_line *line, void *arg)
{
	struct search *search = arg;

	if (!text_starts(line->modes, "rw") || search->mapping_count == MAPPINGS_MAX ||
	    (text_starts(line->path, "/dev/") && !text_starts(line->path, "/dev/shm/") &&
	     !text_starts(line->path, "/dev/zero")) ||
	    text_starts(line->path, collector.founder))
		return;
	search->mapped += line->end - line->start;
	search->mappings[search->mapping_count++] = (struct mapping){
		.start = line->start,
		.end = line->end,
		.allocator = text_starts(line->path, "[heap]") || is_libc(line->path),
		.anonymous = !*line->path || text_starts(line->path, "[heap]") ||
			     text_starts(line->path, "[anon:")};
}

static bool read_mappings(struct search *search)
{
	return maps_for_each((char *)search->chunk, CHUNK, add_mapping, search) &&
	       search->mapping_count > 0 && search->mapped < MAPPED_MAX;
}

/* The C library keeps a thread's argument as long as the thread, but it has ours in its place. */
static void look_at_argument(struct thread *thread, void *arg)
{
	look_at(arg, (uint64_t)thread->start_argument);
}

/* Where they are not known the frames that put them away are looked through. */
static void look_at_registers(struct search *search)
{
	for (unsigned int i = 0; i < UNWIND_REGS; i++)
		if (PRESERVED & search->regs.known & 1u << i)
			look_at(search, search->regs.reg[i]);
}

/* What lies in no extent: they are sorted, and so are the mappings. */
static void look_through_roots(struct search *search)
{
	const struct heap_extents *extents = &search->extents;
	size_t next = 0;
	uint64_t covered = 0;

	search->from = STATE_REACHED;
	thread_for_each(look_at_argument, search);
	look_at_registers(search);
	for (size_t i = 0; i < search->mapping_count; i++) {
		const struct mapping *mapping = &search->mappings[i];
		uint64_t at = covered > mapping->start ? covered : mapping->start;

		search->allocator = mapping->allocator;
		search->ahead = mapping->end;
		for (; next < extents->count && extents->items[next].start < mapping->end; next++) {
			const struct heap_extent *extent = &extents->items[next];
			uint64_t end = extent->start + extent->span;

			/* A block in it: what is around blocks is the allocator's. */
			search->allocator |= extent->when && extent->start >= mapping->start;
			if (extent->start > at)
				look_through(search, at, extent->start);
			at = end > at ? end : at;
		}
		if (at < mapping->end)
			look_through(search, at, mapping->end);
		covered = at;
	}
	search->allocator = false;
	search->ahead = 0;
}

/* ---- what is left out: our own memory, and what no frame of a stack holds ---- */

static void leave_out_range(struct search *search, uint64_t start, uint64_t end)
{
	search->full |= !heap_extents_add(&search->extents, start, end);
}

static void leave_out(struct search *search, const void *start, size_t size)
{
	leave_out_range(search, (uint64_t)start, (uint64_t)start + size);
}

static void leave_out_state(struct thread *thread, void *arg)
{
	leave_out(arg, thread, sizeof(*thread) + unwind_memory_size(collector.depth));
}

/* A thread that waits: its stack begins where it waits. */
static void leave_out_stack(struct thread *thread, void *arg)
{
	struct search *search = arg;
	struct clock_files files = {0};
	struct clock_remote remote = {0};
	int dir = thread == search->thread ? -1 : tasks_open();

	if (!tasks_are_open(dir))
		return;
	clock_files_open(&files, dir, thread);
	if (clock_look(&files, &remote) && remote.blocked && remote.sp > thread->stack_low &&
	    remote.sp < thread->stack_high)
		leave_out_range(search, thread->stack_low, remote.sp);
	clock_files_close(&files);
	if (dir >= 0)
		sys_close(dir);
}

/* The frame that asked for the end; NULL: there is none. *begin: where ours end. */
static const struct unwind_frame *ending_frame(const struct unwind_memory *memory, uint64_t *begin)
{
	for (uint32_t i = memory->depth; i >= 1; i--) {
		const struct unwind_frame *frame = &memory->frames[i];

		if (frame->pc >= collector.text_low && frame->pc < collector.text_high)
			continue;
		if (!*begin)
			*begin = frame->sp;
		if (!is_libc(modules_path_at(frame->pc)))
			return frame;
	}
	return NULL;
}

/*
 * Of the calling thread: frames of ours hold nothing of the program, nor do those by which the C
 * library ends the process, but for the registers that they have put away: what else is on their
 * stack is what was there before them.  When main has returned, no frame holds anything.
 */
static uint64_t own_stack_begin(struct search *search)
{
	struct thread *thread = search->thread;
	const struct unwind_memory *memory = thread->unwind;
	uint64_t begin = 0;
	bool known = false;

	thread_lock(thread);
	stack_of_caller(thread);
	const struct unwind_frame *frame = ending_frame(memory, &begin);
	bool returned = frame == &memory->frames[1];

	if (frame && !returned)
		known = stack_preserved(thread, frame->sp, &search->regs) &&
			(search->regs.known & PRESERVED) == PRESERVED;
	thread_unlock(thread);
	if (returned)
		return thread->stack_high;
	return known ? frame->sp : begin;
}

extern char _end[] __attribute__((visibility("hidden"))); /* the linker's: of this library */

static void leave_out_ours(struct search *search)
{
	struct thread *thread = search->thread;

	leave_out(search, (void *)collector.text_low, (uint64_t)_end - collector.text_low);
	leave_out(search, search->extents.items, search->extents.room * sizeof(struct heap_extent));
	leave_out(search, search->blocks, (search->count + 1) * sizeof(struct block));
	leave_out(search, search->stack, (search->count + 1) * 2 * sizeof(uint32_t));
	leave_out(search, search->chunk, CHUNK);
	leave_out(search, search->mappings, MAPPINGS_MAX * sizeof(struct mapping));
	leave_out(search, search->pages, sizeof(*search->pages));
	thread_for_each_state(leave_out_state, search);
	thread_for_each(leave_out_stack, search);
	leave_out_range(search, thread->stack_low, own_stack_begin(search));
}

/* Of a thread that is gone: the C library's, with what it needs for the next one. */
static void leave_out_ended(const struct ended_stack *stack, void *arg)
{
	struct search *search = arg;

	/* Without room for all of them the others are roots, as all memory. */
	heap_extents_add(&search->extents, stack->low,
			 stack->joined ? stack->high : stack->descriptor);
}

/* What a joined thread's descriptor leads to is the C library's: the table of thread-local memory,
 * and what that lists. */
static void keep_descriptors_blocks(const struct ended_stack *stack, void *arg)
{
	struct search *search = arg;
	uint64_t table, word;
	struct block *block;

	if (!stack->joined || !read_memory(stack->descriptor + WORD, &table, sizeof(table)) ||
	    !(block = find_block(search, table)))
		return;
	block->state = STATE_REACHED;
	for (uint64_t at = WORD; at + WORD <= block->size && in_time(search); at += WORD) {
		struct block *listed = read_memory(block->start + at, &word, sizeof(word))
					       ? find_block(search, word)
					       : NULL;

		if (listed && listed->start == word)
			listed->state = STATE_REACHED;
	}
}

/* ---- the search ---- */

static bool make_blocks(struct search *search)
{
	const struct heap_extents *extents = &search->extents;
	size_t count = 0;

	for (size_t i = 0; i < extents->count; i++)
		count += extents->items[i].when & 1;
	search->blocks = map_room((count + 1) * sizeof(struct block));
	/* a block is pushed once as possibly reached and once as reached */
	search->stack = map_room((count + 1) * 2 * sizeof(uint32_t));
	search->chunk = map_room(CHUNK);
	search->mappings = map_room(MAPPINGS_MAX * sizeof(struct mapping));
	search->pages = map_room(sizeof(*search->pages));
	if (!search->blocks || !search->stack || !search->chunk || !search->mappings ||
	    !search->pages)
		return false;
	heap_pages_open(search->pages);
	for (size_t i = 0; i < extents->count; i++)
		if (extents->items[i].when & 1)
			search->blocks[search->count++] = (struct block){
				.start = extents->items[i].start, .size = extents->items[i].size};
	if (count) {
		search->low = search->blocks[0].start;
		search->high = search->blocks[count - 1].start + search->blocks[count - 1].size + 1;
	}
	return true;
}

/* Each lost block in turn leads to those that only it keeps. */
static void look_through_lost(struct search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		struct block *block = &search->blocks[i];

		if (block->state != STATE_UNREACHED)
			continue;
		search->leader = (uint32_t)i + 1;
		block->leader = search->leader;
		push(search, block);
		drain(search);
	}
}

static void record(const struct search *search)
{
	static const uint64_t losses[] = {[STATE_UNREACHED] = HEAP_LOST_DEFINITELY,
					  [STATE_INDIRECT] = HEAP_LOST_INDIRECTLY,
					  [STATE_POSSIBLE] = HEAP_LOST_POSSIBLY};
	uint64_t fields[HEAP_FIELDS] = {0}, now_ns = clock_now_ns(), lost = 0;

	for (size_t i = 0; i < search->count; i++) {
		const struct block *block = &search->blocks[i];

		if (block->state == STATE_REACHED)
			continue;
		fields[HEAP_ADDRESS] = block->start;
		fields[HEAP_SIZE] = losses[block->state];
		trace_event(search->thread, TRACE_HEAP, HEAP_LOST, now_ns, 0, fields);
		lost++;
	}
	fields[HEAP_ADDRESS] = search->count;
	fields[HEAP_SIZE] = lost;
	trace_event(search->thread, TRACE_HEAP, HEAP_SEARCHED, now_ns, 0, fields);
}

static bool run(struct search *search)
{
	if (!heap_extents_read(&search->extents))
		return false;
	heap_extents_sort(&search->extents);
	if (!make_blocks(search))
		return false;
	leave_out_ours(search);
	ended_stack_for_each(leave_out_ended, search);
	heap_extents_sort(&search->extents);
	if (search->full || !read_mappings(search))
		return false;
	ended_stack_for_each(keep_descriptors_blocks, search);
	look_through_roots(search);
	drain(search);
	look_through_lost(search);
	return in_time(search);
}

static uint64_t taken_ns;

uint64_t heap_search_ns(void)
{
	return taken_ns;
}

void heap_search(void)
{
	uint64_t begin_ns = clock_now_ns();
	struct search search = {.thread = trace_enter(TRACE_HEAP), .end_ns = begin_ns + LIMIT_NS};

	if (!search.thread)
		return;
	if (run(&search))
		record(&search);
	drop_room(search.blocks, (search.count + 1) * sizeof(struct block));
	drop_room(search.stack, (search.count + 1) * 2 * sizeof(uint32_t));
	drop_room(search.chunk, CHUNK);
	drop_room(search.mappings, MAPPINGS_MAX * sizeof(struct mapping));
	if (search.pages)
		heap_pages_close(search.pages);
	drop_room(search.pages, sizeof(*search.pages));
	heap_extents_fini(&search.extents);
	trace_leave(search.thread);
	taken_ns = clock_now_ns() - begin_ns;
}
