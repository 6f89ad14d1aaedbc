/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of gprofng: clock profile packets of so many ticks, and traced calls of the heap,
 * of synchronization and of I/O.  Packets of one file are in chunks of several threads; here they
 * are put in order.  Threads get numbers by their first events of all kinds of data.
 */
#include "experiment/gprofng/gprofng.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Solaris's microstates are ours; Linux has one for all the time on a processor. */
enum { STATE_LINUX_CPU = 10, STATE_KERNEL_CPU = 11 };

enum heap_type { TYPE_MALLOC, TYPE_FREE, TYPE_REALLOC, TYPE_MMAP, TYPE_MUNMAP };
enum io_type { TYPE_READ, TYPE_WRITE, TYPE_OPEN, TYPE_CLOSE, TYPE_OTHER, TYPE_FIRST_ERROR };

/* The longest that a tick can be; longer is damage. */
#define WEIGHT_MAX_US (1ull << 40)
#define TIME_MAX_NS   (1ull << 60)

struct packet_event {
	struct trace_event event;
	size_t order; /* in the file */
};

struct event_list {
	struct packet_event *items;
	size_t count, capacity;
};

struct event_reader {
	struct process *process;
	const struct gprofng_log *log;
	const struct gprofng_layout *layout;
	const struct gprofng_changes *changes;
	struct gprofng_stacks *stacks;
	struct arena *arena;
	struct hash_map threads; /* id as recorded → number - 1 */
	VEC(uint64_t) thread_ids;
	struct string_table names; /* of files; text 0 is none */
	uint64_t odd;		   /* events that make no sense */
};

static uint64_t thread_number(struct event_reader *reader, uint64_t id)
{
	uint32_t fresh = (uint32_t)reader->thread_ids.count;
	uint32_t index = hash_map_put(&reader->threads, id, fresh);

	if (index == fresh)
		*vec_push(&reader->thread_ids) = id;
	return index + 1;
}

static uint64_t value_of(const struct event_reader *reader, const struct gprofng_packet *packet,
			 enum gprofng_property property)
{
	return gprofng_value(reader->layout, packet, property);
}

/* What all packets say. */
static struct packet_event *add_event(struct event_reader *reader, struct event_list *list,
				      const struct gprofng_packet *packet)
{
	uint64_t time_ns = value_of(reader, packet, GPROFNG_TSTAMP) - reader->log->base_ns;
	uint64_t cpu = value_of(reader, packet, GPROFNG_CPUID);
	struct packet_event *added = vec_push(list);

	added->order = list->count;
	added->event.time_ns = time_ns;
	added->event.thread = thread_number(reader, value_of(reader, packet, GPROFNG_LWPID));
	added->event.cpu = cpu < PROFILE_NO_CPU ? (uint16_t)cpu : PROFILE_NO_CPU;
	added->event.stack =
		gprofng_stacks_node(reader->stacks, value_of(reader, packet, GPROFNG_FRINFO),
				    gprofng_epoch(reader->changes, time_ns));
	return added;
}

/* The time from the request to the packet's own. */
static uint64_t waited_ns(const struct event_reader *reader, const struct gprofng_packet *packet,
			  enum gprofng_property request)
{
	uint64_t end = value_of(reader, packet, GPROFNG_TSTAMP),
		 begin = value_of(reader, packet, request);

	return begin && begin < end ? end - begin : 0;
}

/* ---- one function per kind of data ---- */

static bool add_clock(struct event_reader *reader, struct event_list *list,
		      const struct gprofng_packet *packet)
{
	uint64_t state = value_of(reader, packet, GPROFNG_MSTATE);
	uint64_t weight = value_of(reader, packet, GPROFNG_NTICK) * reader->layout->interval_us;

	if (state > STATE_KERNEL_CPU || weight > WEIGHT_MAX_US)
		return false;

	struct packet_event *added = add_event(reader, list, packet);

	added->event.type = state < STATE_LINUX_CPU ? (uint8_t)state : PROFILE_STATE_CPU;
	added->event.field[0] = weight;
	return true;
}

/* A block that moves is released and allocated, as in our own traces. */
static bool add_heap(struct event_reader *reader, struct event_list *list,
		     const struct gprofng_packet *packet)
{
	static const uint8_t types[] = {
		[TYPE_MALLOC] = HEAP_MALLOC,   [TYPE_FREE] = HEAP_FREE,
		[TYPE_REALLOC] = HEAP_REALLOC, [TYPE_MMAP] = HEAP_MMAP,
		[TYPE_MUNMAP] = HEAP_MUNMAP,
	};
	uint64_t type = value_of(reader, packet, GPROFNG_HTYPE);
	uint64_t address = value_of(reader, packet, GPROFNG_HVADDR),
		 old = value_of(reader, packet, GPROFNG_HOVADDR);
	struct packet_event *added;

	if (type >= sizeof(types))
		return false;
	if (type == TYPE_REALLOC && old && old != address) {
		added = add_event(reader, list, packet);
		added->event.type = HEAP_FREE;
		added->event.field[HEAP_ADDRESS] = old;
	}
	added = add_event(reader, list, packet);
	added->event.type = types[type];
	added->event.field[HEAP_ADDRESS] = address;
	added->event.field[HEAP_SIZE] = value_of(reader, packet, GPROFNG_HSIZE);
	added->event.field[HEAP_OLD] = type == TYPE_REALLOC ? old : 0;
	return true;
}

static bool add_sync(struct event_reader *reader, struct event_list *list,
		     const struct gprofng_packet *packet)
{
	struct packet_event *added = add_event(reader, list, packet);

	added->event.type = SYNC_OTHER;
	added->event.field[SYNC_OBJECT] = value_of(reader, packet, GPROFNG_SOBJ);
	added->event.field[SYNC_WAITED] = waited_ns(reader, packet, GPROFNG_SRQST);
	return true;
}

static bool add_io(struct event_reader *reader, struct event_list *list,
		   const struct gprofng_packet *packet)
{
	static const uint8_t types[] = {[TYPE_READ] = IO_READ,
					[TYPE_WRITE] = IO_WRITE,
					[TYPE_OPEN] = IO_OPEN,
					[TYPE_CLOSE] = IO_CLOSE,
					[TYPE_OTHER] = IO_OTHER};
	uint64_t type = value_of(reader, packet, GPROFNG_IOTYPE);
	int32_t descriptor = gprofng_signed(reader->layout, packet, GPROFNG_IOFD);
	const char *name = gprofng_text(reader->layout, packet, GPROFNG_IOFNAME, reader->arena);
	bool failed = type >= TYPE_FIRST_ERROR;

	if (type >= 2 * TYPE_FIRST_ERROR)
		return false;

	struct packet_event *added = add_event(reader, list, packet);

	added->event.type = types[type % TYPE_FIRST_ERROR];
	added->event.field[IO_DESCRIPTOR] = descriptor >= 0 ? (uint64_t)descriptor + 1 : 0;
	added->event.field[IO_WAITED] = waited_ns(reader, packet, GPROFNG_IORQST);
	added->event.field[IO_NAME] = name ? string_table_add(&reader->names, name) + 1 : 0;
	added->event.field[IO_BYTES] = failed ? 0 : value_of(reader, packet, GPROFNG_IONBYTE);
	added->event.field[IO_RESULT] = failed ? IO_ERROR_UNKNOWN : 0;
	return true;
}

static bool (*const add_packet[GPROFNG_DATA_KINDS])(struct event_reader *, struct event_list *,
						    const struct gprofng_packet *) = {
	[GPROFNG_CLOCK] = add_clock,
	[GPROFNG_HEAP] = add_heap,
	[GPROFNG_SYNC] = add_sync,
	[GPROFNG_IO] = add_io,
};

/* ---- a file ---- */

/* Whether an event was between the founder's start and a time that is far away. */
static bool is_in_time(const struct event_reader *reader, const struct gprofng_packet *packet)
{
	uint64_t time = value_of(reader, packet, GPROFNG_TSTAMP);

	return time >= reader->log->base_ns && time - reader->log->base_ns < TIME_MAX_NS;
}

static int compare_times(const struct packet_event *x, const struct packet_event *y)
{
	if (x->event.time_ns != y->event.time_ns)
		return x->event.time_ns < y->event.time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_time(const void *a, const void *b)
{
	return compare_times(a, b);
}

static int by_thread(const void *a, const void *b)
{
	const struct packet_event *x = a, *y = b;

	if (x->event.thread != y->event.thread)
		return x->event.thread < y->event.thread ? -1 : 1;
	return compare_times(x, y);
}

/* Only the opening of a descriptor says what it is; the first three were open before. */
static void name_descriptors(struct event_reader *reader, struct event_list *list)
{
	static const char *const standard[] = {"<stdin>", "<stdout>", "<stderr>"};
	struct hash_map index = {0};
	VEC(uint64_t) names = {0};

	for (uint64_t i = 0; i < COUNT(standard); i++) {
		hash_map_put(&index, i + 1, (uint32_t)i);
		*vec_push(&names) = string_table_add(&reader->names, standard[i]) + 1;
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_time);
	for (size_t i = 0; i < list->count; i++) {
		struct trace_event *event = &list->items[i].event;
		uint64_t descriptor = event->field[IO_DESCRIPTOR];
		uint32_t fresh = (uint32_t)names.count, at;

		if (!descriptor)
			continue;
		at = hash_map_put(&index, descriptor, fresh);
		if (at == fresh)
			*vec_push(&names) = 0;
		if (event->field[IO_NAME] && !event->field[IO_RESULT])
			names.items[at] = event->field[IO_NAME];
		else if (!event->field[IO_NAME])
			event->field[IO_NAME] = names.items[at];
		if (event->type == IO_CLOSE && !event->field[IO_RESULT])
			names.items[at] = 0;
	}
	hash_map_fini(&index);
	vec_fini(&names);
}

static enum file_state read_file(struct event_reader *reader, enum gprofng_data data,
				 struct event_list *list, const struct read_context *context)
{
	struct gprofng_file file;
	struct gprofng_packet packet;
	enum file_state state = gprofng_file_open(&file, context, reader->layout->file);

	if (state != FILE_USABLE)
		return state;
	while (gprofng_file_next(&file, &packet))
		if (packet.kind == reader->layout->kind)
			reader->odd += !is_in_time(reader, &packet) ||
				       !add_packet[data](reader, list, &packet);
	gprofng_file_close(&file, context);
	if (data == GPROFNG_IO)
		name_descriptors(reader, list);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_thread);
	return state;
}

static void fill_profile(struct event_reader *reader, const struct event_list *list)
{
	struct profile_event *events = xcalloc(list->count + 1, sizeof(*events));

	for (size_t i = 0; i < list->count; i++) {
		const struct trace_event *event = &list->items[i].event;

		events[i] = (struct profile_event){
			.thread = event->thread,
			.time_us = event->time_ns / 1000,
			.weight_us = event->field[0],
			.stack = event->stack,
			.cpu = event->cpu,
			.state = event->type,
		};
	}
	experiment_profile_fill(&reader->process->profile, events, list->count);
	free(events);
}

static void fill_trace(struct event_reader *reader, enum trace_kind kind,
		       const struct event_list *list)
{
	struct experiment_trace *trace = &reader->process->traces[kind];

	rows_open(&trace->rows);
	for (size_t i = 0; i < list->count; i++)
		experiment_trace_add(trace, kind, &list->items[i].event);
	rows_close(&trace->rows);
	if (kind != TRACE_IO)
		return;
	*vec_push(&trace->texts) = NULL;
	for (size_t i = 0; i < reader->names.count; i++)
		*vec_push(&trace->texts) =
			arena_strdup(reader->arena, string_table_text(&reader->names, (uint32_t)i));
}

static void read_kind(struct event_reader *reader, enum gprofng_data data,
		      const struct read_context *context)
{
	struct event_list list = {0};

	reader->layout = &reader->log->layouts[data];
	reader->odd = 0;
	if (!reader->layout->file)
		return;

	bool present = read_file(reader, data, &list, context) != FILE_MISSING;

	if (data == GPROFNG_CLOCK) {
		reader->process->profile.present = present;
		reader->process->profile.damaged = reader->odd;
		fill_profile(reader, &list);
	} else {
		struct experiment_trace *trace = &reader->process->traces[gprofng_trace(data)];

		experiment_trace_init(trace, gprofng_trace(data));
		trace->present = present;
		trace->damaged = reader->odd;
		fill_trace(reader, gprofng_trace(data), &list);
	}
	if (reader->odd)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s is damaged: %llu of its events make no sense and are left out",
			 context->name, reader->layout->file, (unsigned long long)reader->odd);
	vec_fini(&list);
}

void gprofng_events_read(struct process *process, const struct gprofng_log *log,
			 const struct gprofng_changes *changes, struct gprofng_stacks *stacks,
			 struct arena *arena, const struct read_context *context)
{
	struct event_reader reader = {
		.process = process,
		.log = log,
		.changes = changes,
		.stacks = stacks,
		.arena = arena,
	};

	/* the first thread, whether it did something or not */
	thread_number(&reader, (uint64_t)process->log.pid);
	for (int data = 0; data < GPROFNG_DATA_KINDS; data++)
		read_kind(&reader, (enum gprofng_data)data, context);
	for (size_t i = 0; i < reader.thread_ids.count; i++)
		experiment_profile_add_thread(&process->profile, i + 1, reader.thread_ids.items[i]);
	experiment_heap_match(&process->heap, &process->traces[TRACE_HEAP]);
	hash_map_fini(&reader.threads);
	vec_fini(&reader.thread_ids);
	string_table_fini(&reader.names);
}
