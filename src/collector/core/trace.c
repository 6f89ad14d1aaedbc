/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/trace.h"

#include "collector/arch/sys.h"
#include "collector/arch/ticks.h"
#include "collector/core/clock_window.h"
#include "collector/core/log.h"
#include "collector/core/modules.h"
#include "collector/core/stack.h"
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/core/traced_time.h"
#include "collector/core/writer.h"
#include "collector/storage/blockfile.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"
#include "format/varint.h"

#include <sys/mman.h>

enum {
	RECORD_MAX = 3 + 2 * VARINT_MAX + 2 * VARINT_MAX + TRACE_FIELDS_MAX * VARINT_MAX +
		     CONTEXT_RECORDS_MAX,
	TEXT_MAX = PATH_MAX_HERE, /* a block holds some */
};

#define X(NAME, name) [TRACE_##NAME] = &name##_source,
static const struct trace_source *const sources[TRACE_KINDS] = {FORMAT_KINDS(X)};
#undef X

static bool is_off[TRACE_KINDS];  /* a parameter says so */
static bool is_told[TRACE_KINDS]; /* … whether it is */
static bool is_on[TRACE_KINDS];
/* Of kinds whose file is made when there is something to record: enum making. */
static _Atomic int made[TRACE_KINDS];
enum making { MADE_NOT, MADE_NOW, MADE_ALREADY };
static struct blockfile files[TRACE_KINDS];
static _Atomic uint32_t texts[TRACE_KINDS]; /* numbers given out */

/* Not 0 in the process whose files these are: the kernel clears it in every child with memory of
 * its own, however that was made. NULL: it cannot. */
static uint32_t *mark;

bool trace_read_param(char key, const char *value)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		if (format_kinds[kind].key != key)
			continue;
		is_off[kind] = !sources[kind]->read_param(value);
		is_told[kind] = true;
		is_on[kind] = !is_off[kind] && !sources[kind]->made_late;
		return true;
	}
	return false;
}

const struct trace_source *trace_source(enum trace_kind kind)
{
	return sources[kind];
}

bool trace_is_on(enum trace_kind kind)
{
	return is_on[kind];
}

struct blockfile *trace_file(enum trace_kind kind)
{
	return is_on[kind] ? &files[kind] : NULL;
}

static int create(enum trace_kind kind)
{
	char room[512];
	struct text description = TEXT_ON(room);

	text_puts(&description,
		  "blocks of records: tag u8 (bits 0-4 type, 0x20 same stack), then varints "
		  "(LEB128): dt ns, [stack zigzag delta], fields (0x40 all)\nfields: ");
	text_puts(&description, format_kinds[kind].fields_text);
	text_puts(&description, "\n0x84 cpu: number   0x85 text: number length bytes   "
				"0x86 release: dt object   "
				"0x87 context: runtime count fields\n");
	return blockfile_create(&files[kind], collector.directory, format_kinds[kind].file, room);
}

static void set_mark(void)
{
	enum { SIZE = 4096 };

	if (!mark)
		mark = sys_mmap(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mark && sys_call(SYS_madvise, mark, SIZE, MADV_WIPEONFORK, 0)) {
		sys_munmap(mark, SIZE);
		mark = NULL;
	}
	if (mark)
		*mark = 1;
}

int trace_open(void)
{
	int result = 0;

	set_mark();
	for (int kind = 0; kind < TRACE_KINDS && !result; kind++)
		if (is_on[kind] && !sources[kind]->made_late)
			result = create((enum trace_kind)kind);
	return result;
}

bool trace_is_wanted(enum trace_kind kind)
{
	return is_on[kind] || (sources[kind]->made_late && !is_off[kind] &&
			       (is_told[kind] || !sources[kind]->needs_param));
}

bool trace_make(enum trace_kind kind)
{
	int before = MADE_NOT;

	if (is_on[kind])
		return true;
	if (!trace_is_wanted(kind) ||
	    !atomic_load_explicit(&collector.recording, memory_order_relaxed) ||
	    !collector_is_ours())
		return false;
	if (atomic_compare_exchange_strong(&made[kind], &before, MADE_NOW)) {
		int result = create(kind);

		is_on[kind] = !result;
		if (result)
			log_warning(sources[kind]->unmade, -result);
		atomic_store(&made[kind], MADE_ALREADY);
	}
	while (atomic_load(&made[kind]) == MADE_NOW) /* by another thread */
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	return is_on[kind];
}

void trace_begin(void)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (is_on[kind] && sources[kind]->begin)
			sources[kind]->begin();
}

static const struct thread *finisher;

void trace_finish(void)
{
	finisher = thread_current_if_known();
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (is_on[kind] && sources[kind]->finish)
			sources[kind]->finish();
}

void trace_log(struct text *line)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		if (!is_on[kind])
			continue;
		text_attribute_decimal(line, format_kinds[kind].file,
				       (int64_t)trace_count((enum trace_kind)kind));
		if (sources[kind]->log)
			sources[kind]->log(line);
	}
}

static _Atomic uint32_t generation;

uint32_t trace_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_relaxed);
}

void trace_abandon(bool in_use)
{
	atomic_fetch_add(&generation, 1);
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		if (is_on[kind])
			blockfile_abandon(&files[kind], in_use);
		if (sources[kind]->made_late)
			is_on[kind] = false;
		atomic_store(&made[kind], MADE_NOT);
		atomic_store(&texts[kind], 0);
	}
}

/* collector_is_ours, mostly without a system call. */
static inline bool is_ours(struct thread *thread)
{
	if (mark && *mark && !thread->lends_memory)
		return !atomic_load_explicit(&collector.silent, memory_order_relaxed);
	if (!collector_is_ours())
		return false;
	thread->lends_memory = false;
	return true;
}

/* clock_is_recording, mostly without a look at the clock. */
static inline bool is_recording(const struct thread *thread)
{
	bool paused;

	if (collector.window_start_ns | collector.window_end_ns | thread->open.start_ns |
	    thread->open.end_ns)
		return clock_is_recording(thread, clock_now_ns());
	recording_clock_ns(0, &paused);
	return !paused;
}

/*
 * Whether the recording that the thread is in was left by a jump: its place on the stack is in use
 * for this call.  A handler of the program that has interrupted it lies below.
 */
static bool was_left(const struct thread *thread, uint64_t sp)
{
	return sp >= thread->inside_sp && thread_has_stack_at(thread, sp) &&
	       thread_has_stack_at(thread, thread->inside_sp);
}

/* What it was about to write is lost; its blocks may be half in its state. */
static void clean_up(struct thread *thread)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		thread->traces[kind].next = NULL;
	unwind_memory_reset(thread->unwind);
	modules_left();
	atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
	if (atomic_load_explicit(&thread->busy, memory_order_relaxed) == LOCK_BY_CALL)
		thread_unlock(thread);
}

/* One of some 60, at random: programs allocate and release in turn. */
static inline void measure(struct thread *thread)
{
	enum { GAP_LEAST = 32, GAP_MASK = 63 };

	thread->measured_ticks = 0;
	if (thread->to_measure) {
		thread->to_measure--;
		return;
	}
	thread->measured_ticks = arch_ticks();
	thread->to_measure = GAP_LEAST + (uint32_t)(thread->measured_ticks >> 4 & GAP_MASK);
}

void trace_measured(struct thread *thread)
{
	uint64_t ticks = arch_ticks() - thread->measured_ticks;

	traced_time_add(ticks, thread->measured_gap + 1);
	thread->measured_gap = thread->to_measure;
	thread->measured_ticks = 0;
}

/*
 * The recording has ended for all but the thread that writes its last: what others do while that
 * searches for lost memory is none of it, except for blocks, which the search goes by.
 */
static bool is_over(enum trace_kind kind)
{
	return atomic_load_explicit(&collector.settled, memory_order_relaxed) &&
	       kind != TRACE_HEAP && thread_current_if_known() != finisher;
}

bool trace_is_recording(const struct thread *thread, enum trace_kind kind)
{
	return atomic_load_explicit(&collector.recording, memory_order_relaxed) && !is_over(kind) &&
	       is_recording(thread);
}

struct thread *trace_enter(enum trace_kind kind)
{
	if (!is_on[kind] || !atomic_load_explicit(&collector.recording, memory_order_relaxed) ||
	    is_over(kind))
		return NULL;
	struct thread *thread = thread_current();
	uint64_t sp = (uint64_t)__builtin_frame_address(0);

	if (!thread || !is_ours(thread) || !thread_is_caller(thread, sp) || !is_recording(thread))
		return NULL;
	if (thread->inside) {
		if (!was_left(thread, sp)) {
			atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
			return NULL;
		}
		clean_up(thread);
	}
	thread->inside = 1;
	thread->inside_sp = sp;
	measure(thread);
	return thread;
}

uint32_t trace_stack_above(struct thread *thread, const void *frame)
{
	thread_lock_by_call(thread);
	uint32_t stack = stack_above_frame(thread, frame);

	thread_unlock(thread);
	return stack;
}

static uint8_t *reserve(struct thread *thread, enum trace_kind kind, size_t size)
{
	return record_buffer_reserve(&thread->traces[kind], &files[kind], size, thread->number,
				     FORMAT_TRACE);
}

static uint8_t *put_field(uint8_t *out, enum trace_encoding encoding, uint64_t *near,
			  uint64_t value)
{
	uint64_t before = *near;

	*near = value;
	if (encoding == FIELD_NEAR)
		value = zigzag_encode((int64_t)(value - before));
	return varint_put(out, value);
}

/* As many as the type is brief with, if the others are 0, else all. */
static unsigned field_count(const struct format_kind *format, unsigned type, const uint64_t *fields)
{
	unsigned brief = format->brief[type];

	for (unsigned i = brief; i < format->fields; i++)
		if (fields[i])
			return format->fields;
	return brief;
}

static inline bool write_event(struct thread *thread, enum trace_kind kind, unsigned type,
			       uint64_t time_ns, uint32_t stack,
			       const struct runtime_context *context, const uint64_t *fields)
{
	const struct format_kind *format = &format_kinds[kind];
	uint8_t *out = reserve(thread, kind, RECORD_MAX);
	struct record_buffer *lane = &thread->traces[kind];

	if (!out)
		return false;
	out = record_buffer_put_thread(lane, out, thread->number);
	out = record_buffer_put_cpu(lane, out);
	out = record_buffer_put_context(lane, out, context);
	out = writer_put_pair(lane, out, &stack);
	unsigned count = field_count(format, type, fields);
	unsigned tag = type | (count > format->brief[type] ? FORMAT_TRACE_ALL_FIELDS : 0);
	bool same = stack == lane->stack || format->stackless >> type & 1;

	*out++ = (uint8_t)(tag | (same ? FORMAT_TRACE_SAME_STACK : 0));
	out = varint_put(out, record_buffer_advance(lane, recording_since_start(time_ns)));
	if (!same)
		out = record_buffer_put_stack(lane, out, stack);
	for (unsigned i = 0; i < count; i++)
		out = put_field(out, format->encoding[i], &lane->near[i], fields[i]);
	record_buffer_commit(lane, out);
	lane->events++;
	return true;
}

bool trace_event_kept(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		      uint32_t stack, const struct runtime_context *context, const uint64_t *fields)
{
	return write_event(thread, kind, type, time_ns, stack, context, fields);
}

bool trace_event_locked(struct thread *thread, enum trace_kind kind, unsigned type,
			uint64_t time_ns, uint32_t stack, const uint64_t *fields)
{
	return write_event(thread, kind, type, time_ns, stack, &thread->context, fields);
}

/*
 * Takes the lock.  False: the process has been forked since trace_enter, in a handler; or the
 * recording of the thread has just ended.
 */
bool trace_lock(struct thread *thread)
{
	thread_lock_by_call(thread);
	if (thread->inside && !thread->over)
		return true;
	thread_unlock(thread);
	return false;
}

void trace_unlock(struct thread *thread)
{
	thread_unlock(thread);
}

struct count {
	enum trace_kind kind;
	uint64_t events;
};

static void add_count(struct thread *thread, void *arg)
{
	struct count *count = arg;

	count->events += thread->traces[count->kind].events;
}

uint64_t trace_count(enum trace_kind kind)
{
	struct count count = {.kind = kind};

	thread_for_each_state(add_count, &count);
	return count.events;
}

bool trace_event(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		 uint32_t stack, const uint64_t *fields)
{
	if (!trace_lock(thread))
		return false;
	bool done = trace_event_locked(thread, kind, type, time_ns, stack, fields);

	thread_unlock(thread);
	return done;
}

bool trace_event_here(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		      const uint64_t *fields)
{
	if (!trace_lock(thread))
		return false;
	uint32_t stack = stack_of_caller(thread);
	bool done = trace_event_locked(thread, kind, type, time_ns, stack, fields);

	thread_unlock(thread);
	return done;
}

bool trace_event_in(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		    const void *function, const uint64_t *fields)
{
	if (!trace_lock(thread))
		return false;
	uint32_t stack = stacktable_intern_leaf(stack_of_caller(thread), (uint64_t)function);
	bool done = trace_event_locked(thread, kind, type, time_ns, stack, fields);

	thread_unlock(thread);
	return done;
}

bool trace_event_above(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		       const void *frame, const uint64_t *fields)
{
	if (!trace_lock(thread))
		return false;
	uint32_t stack = stack_above_frame(thread, frame);
	bool done = trace_event_locked(thread, kind, type, time_ns, stack, fields);

	thread_unlock(thread);
	return done;
}

uint32_t trace_text(struct thread *thread, enum trace_kind kind, const char *text)
{
	size_t length = text_length(text);
	uint32_t number = atomic_fetch_add(&texts[kind], 1) + 1;

	bool cut = length > TEXT_MAX;

	if (cut)
		length = TEXT_MAX;
	while (cut && length > 3 && ((unsigned char)text[length - 3] & 0xc0) == 0x80)
		length--; /* no half a character before the dots */
	if (!trace_lock(thread))
		return 0;
	uint8_t *out = reserve(thread, kind, 1 + 2 * VARINT_MAX + length);

	if (out) {
		*out++ = FORMAT_TRACE_TEXT;
		out = varint_put(out, number);
		out = varint_put(out, length);
		for (size_t i = 0; i < length; i++)
			*out++ = (uint8_t)text[i];
		for (size_t i = 1; cut && i <= 3; i++) /* who reads it sees that */
			out[-i] = '.';
		record_buffer_commit(&thread->traces[kind], out);
	}
	thread_unlock(thread);
	return out ? number : 0;
}

void trace_release(struct thread *thread, uint64_t time_ns, uint64_t object)
{
	struct record_buffer *lane = &thread->traces[TRACE_SYNC];

	if (!trace_lock(thread))
		return;
	uint8_t *out = reserve(thread, TRACE_SYNC, RECORD_MAX);

	if (out) {
		out = record_buffer_put_thread(lane, out, thread->number);
		*out++ = FORMAT_TRACE_RELEASE;
		out = varint_put(out, record_buffer_advance(lane, recording_since_start(time_ns)));
		out = put_field(out, FIELD_NEAR, &lane->near[SYNC_OBJECT], object);
		record_buffer_commit(lane, out);
	}
	thread_unlock(thread);
}

void trace_for_each_block(enum trace_kind kind, void (*visit)(const void *block, void *arg),
			  void *arg)
{
	blockfile_for_each(&files[kind], LANE_BLOCK, visit, arg);
}
