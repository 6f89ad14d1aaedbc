/* SPDX-License-Identifier: Apache-2.0 */
/* Profile records: see record_buffer.h for where they go. */
#include "collector/core/writer.h"

#include "collector/core/thread_state.h"
#include "collector/storage/blockfile.h"
#include "collector/storage/record_buffer.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"
#include "format/format.h"
#include "format/varint.h"

enum {
	/* an event, and before it the processor and what runtimes say */
	EVENT_MAX = 2 + 3 * VARINT_MAX + 2 + VARINT_MAX + CONTEXT_RECORDS_MAX,
	COLLECTION_MAX = 2 + 4 * VARINT_MAX + 2 * FORMAT_NAME_ROOM,
	RECORD_MAX = EVENT_MAX > COLLECTION_MAX ? EVENT_MAX : COLLECTION_MAX,
};

_Static_assert(1 + VARINT_MAX + FORMAT_NAME_ROOM <= RECORD_MAX, "a name fits");

#define STATE_WORDS(number, name, text) " " #number " " text

static const char profile_description[] =
	"blocks of records: tag u8, then varints (LEB128)\n"
	"tag < 0x80: event: state = tag & 15; [dt us unless 0x20] [weight us unless 0x40: = dt] "
	"[stack zigzag delta unless 0x10: same]\n"
	"states:" FORMAT_STATES(
		STATE_WORDS) "\n"
			     "0x80 thread: number tid time-us   0x81 thread end: dt   0x82 pause: "
			     "dt   0x83 resume: dt  "
			     " "
			     "0x84 cpu: number   0x87 context: runtime count fields   0x88 name: "
			     "length bytes   "
			     "0x89 group: length bytes   0x8a parent of the group: length bytes   "
			     "0x8b garbage collection: begin-ns duration-ns   "
			     "0x8c more of it: bytes-before+1 bytes-after+1 cause: length bytes   "
			     "collector: length "
			     "bytes   0x8d class of Java linked: time-us\n";

int writer_open(void)
{
	return blockfile_create(&collector.profile, collector.directory, FORMAT_FILE_PROFILE,
				profile_description);
}

static uint64_t time_to_us(uint64_t time_ns)
{
	return recording_since_start(time_ns) / 1000;
}

static uint8_t *room(struct thread *thread)
{
	return record_buffer_reserve(&thread->lane, &collector.profile, RECORD_MAX, thread->number,
				     FORMAT_EVENTS);
}

static void put_begin(struct thread *thread, uint8_t *out)
{
	thread->lane.time = thread->begin_us;
	*out++ = FORMAT_TAG_THREAD;
	out = varint_put(out, thread->number);
	out = varint_put(out, (uint64_t)thread->tid);
	out = varint_put(out, thread->begin_us);
	context_forget(&thread->lane.said);
	record_buffer_commit(&thread->lane, out);
	thread->begun = true;
}

/* Where there was no room for a thread's first record, it goes before the first that has some. */
static uint8_t *reserve(struct thread *thread)
{
	uint8_t *out = room(thread);

	if (!out || thread->begun)
		return out;
	put_begin(thread, out);
	return room(thread);
}

void writer_thread_begin(struct thread *thread, uint64_t time_ns)
{
	thread->begun = false;
	thread->begin_us = time_to_us(time_ns);
	thread->lane.time = thread->begin_us;
	uint8_t *out = room(thread);

	if (out && !thread->closed)
		put_begin(thread, out);
}

static void put_moment(struct thread *thread, enum format_tag tag, uint64_t time_ns)
{
	uint8_t *out = reserve(thread);
	uint64_t dt = record_buffer_advance(&thread->lane, time_to_us(time_ns));

	if (!out)
		return;
	*out++ = (uint8_t)tag;
	record_buffer_commit(&thread->lane, varint_put(out, dt));
}

void writer_thread_end(struct thread *thread, uint64_t time_ns)
{
	put_moment(thread, FORMAT_TAG_THREAD_END, time_ns);
}

static uint8_t *put_text(uint8_t *out, const char *text, size_t length)
{
	out = varint_put(out, length);
	for (size_t i = 0; i < length; i++)
		*out++ = (uint8_t)text[i];
	return out;
}

void writer_thread_name(struct thread *thread, enum format_tag tag, const char *name, size_t length)
{
	uint8_t *out = length < FORMAT_NAME_ROOM ? reserve(thread) : NULL;

	if (!out)
		return;
	*out++ = (uint8_t)tag;
	record_buffer_commit(&thread->lane, put_text(out, name, length));
}

/* As much of it as there is room for. */
static uint8_t *put_words(uint8_t *out, const char *words)
{
	size_t length = text_length(words);

	return put_text(out, words, length < FORMAT_NAME_ROOM ? length : FORMAT_NAME_ROOM - 1);
}

void writer_collection(struct thread *thread, const struct writer_collection *collection)
{
	uint8_t *out = collection->begin_ns >= collector.start_ns ? reserve(thread) : NULL;

	if (!out)
		return;
	*out++ = FORMAT_TAG_COLLECTION;
	out = varint_put(out, collection->begin_ns - collector.start_ns);
	out = varint_put(out, collection->duration_ns);
	*out++ = FORMAT_TAG_COLLECTION_MORE;
	out = varint_put(out, collection->before + 1);
	out = varint_put(out, collection->after + 1);
	out = put_words(out, collection->cause);
	record_buffer_commit(&thread->lane, put_words(out, collection->collector));
}

void writer_class(struct thread *thread, uint64_t time_ns)
{
	uint8_t *out = reserve(thread);

	if (!out)
		return;
	*out++ = FORMAT_TAG_CLASS;
	record_buffer_commit(&thread->lane, varint_put(out, time_to_us(time_ns)));
}

void writer_thread_pause(struct thread *thread, uint64_t time_ns)
{
	put_moment(thread, FORMAT_TAG_PAUSE, time_ns);
}

void writer_thread_resume(struct thread *thread, uint64_t time_ns)
{
	put_moment(thread, FORMAT_TAG_RESUME, time_ns);
}

uint8_t *writer_put_pair_of(struct record_buffer *lane, uint8_t *out, uint32_t *stack)
{
	uint32_t java[CONTEXT_FIELDS_MAX] = {0};
	uint64_t pc;

	*stack = stacktable_of_pair(*stack, &pc);
	java[JAVA_CONTEXT_STACK] = (uint32_t)pc;
	java[JAVA_CONTEXT_REASON] = (uint32_t)((pc & ~FORMAT_PC_PAIR) >> FORMAT_PAIR_REASON_SHIFT);
	return context_put(lane->said.field[RUNTIME_JAVA], java, RUNTIME_JAVA, out);
}

bool writer_event(struct thread *thread, uint64_t time_ns, enum format_state state,
		  uint64_t weight_us, uint32_t stack)
{
	struct record_buffer *lane = &thread->lane;
	uint8_t *out = reserve(thread);

	if (!out)
		return false; /* the time stays where it is: the next event's dt covers it */
	out = record_buffer_put_cpu(lane, out);
	out = record_buffer_put_context(lane, out, thread->then ? thread->then : &thread->context);
	out = writer_put_pair(lane, out, &stack);
	uint8_t *tag = out++;
	uint64_t dt = record_buffer_advance(lane, time_to_us(time_ns));

	*tag = (uint8_t)state;
	if (dt)
		out = varint_put(out, dt);
	else
		*tag |= FORMAT_TAG_SAME_TIME;
	if (weight_us == dt)
		*tag |= FORMAT_TAG_WEIGHT_IS_DT;
	else
		out = varint_put(out, weight_us);
	if (stack == lane->stack)
		*tag |= FORMAT_TAG_SAME_STACK;
	else
		out = record_buffer_put_stack(lane, out, stack);
	record_buffer_commit(lane, out);
	atomic_fetch_add_explicit(&collector.events, 1, memory_order_relaxed);
	return true;
}
