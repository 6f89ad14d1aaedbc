/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot loop of the analyzer: one pass over the bytes of a profile, a few ns
 * per event.  The state that every event touches (time, previous stack, where
 * the next row goes) is kept in one small struct; per-thread sums are collected
 * per segment.
 */
#include "experiment/profile.h"

#include "experiment/contexts.h"
#include "experiment/stacks.h"
#include "format/varint.h"

#include <stdlib.h>
#include <string.h>

enum {
	NO_STACK_ID = UINT32_MAX, /* what an impossible id is kept as */
	END_MAX_US = 1000,	  /* more than the end of a thread ever takes */
	LIFE_GRAIN_US = 1000,	  /* the two clocks of an event may disagree by so much */
};

#define TIME_MAX_US (1ull << 53) /* 285 years; later is damage */

struct profile_reader {
	struct experiment_profile *profile;
	struct profile_segment *segment; /* the newest; NULL: the next event begins one */
	bool adds; /* rows that no event of the file is: they count for no number of events */
	/* the block in hand */
	uint32_t thread; /* index */
	uint64_t thread_begin_us;
	uint64_t time;
	uint64_t stack; /* id of the previous event */
	uint16_t cpu;
	struct context_reader context;
	uint64_t state_us[PROFILE_STATES]; /* of the segment */
	/* doubts */
	uint64_t lost_bytes;
	uint64_t backward;
	uint64_t overlong; /* events that are longer than their thread's life so far */
	uint64_t nameless; /* events of no thread */
};

static struct profile_thread *thread_of(struct profile_reader *reader)
{
	return &reader->profile->threads.items[reader->thread];
}

static uint32_t find_thread(struct experiment_profile *profile, uint64_t number)
{
	uint32_t fresh = (uint32_t)profile->threads.count, index;

	profile->thread_ids.item = sizeof(*profile->threads.items);
	index = pair_set_put(&profile->thread_ids, profile->threads.items, (uint32_t)number,
			     (uint32_t)(number >> 32), fresh);
	if (index == fresh)
		vec_push(&profile->threads)->number = number;
	return index;
}

static uint64_t count_of_segment(const struct profile_reader *reader)
{
	return reader->profile->rows.count - reader->segment->first;
}

/* Ends the run of rows that share thread and base time. */
static void close_segment(struct profile_reader *reader)
{
	if (!reader->segment)
		return;

	struct profile_thread *thread = thread_of(reader);
	uint64_t count = count_of_segment(reader), events = reader->adds ? 0 : count;

	reader->segment->count = (uint32_t)count;
	for (size_t i = 0; i < PROFILE_STATES; i++) {
		thread->recorded_us += reader->state_us[i];
		reader->profile->state_us[i] += reader->state_us[i];
	}
	thread->has_events |= events > 0;
	if (!thread->number)
		reader->nameless += events;
	reader->profile->event_count += events;
	memset(reader->state_us, 0, sizeof(reader->state_us));
	reader->segment = NULL;
}

static void open_segment(struct profile_reader *reader)
{
	close_segment(reader);
	reader->segment = vec_push(&reader->profile->segments);
	reader->segment->first = reader->profile->rows.count;
	reader->segment->thread = reader->thread;
}

/* Once per event: it is worth being inline. */
static inline void add_row(struct profile_reader *reader, unsigned state, uint64_t weight)
{
	struct rows *rows = &reader->profile->rows;
	uint64_t *row = rows_next_row(rows);

	if (!reader->segment || count_of_segment(reader) == UINT32_MAX)
		open_segment(reader);
	row_put(row, ROW_TIME, reader->time);
	row_put(row, ROW_STACK, reader->stack < NO_STACK_ID ? reader->stack : NO_STACK_ID);
	row_put(row, ROW_CPU, reader->cpu);
	row_put(row, ROW_TYPE, state);
	row_put(row, ROW_CONTEXT, context_reader_number(&reader->context));
	row_put(row, ROW_FIELD + PROFILE_WEIGHT, weight);
	rows_next(rows);
	reader->state_us[state] += weight;
}

/* The fields after an event's tag; NULL: damaged or cut off, and nothing was added. */
static inline const uint8_t *read_event(struct profile_reader *reader, unsigned tag,
					const uint8_t *in, const uint8_t *end)
{
	uint64_t dt = 0, weight, step;
	unsigned state = tag & FORMAT_TAG_STATE_MASK;

	if (state >= FORMAT_STATE_COUNT)
		return NULL;
	if (!(tag & FORMAT_TAG_SAME_TIME) && !(in = varint_get(in, end, &dt)))
		return NULL;
	weight = dt;
	if (!(tag & FORMAT_TAG_WEIGHT_IS_DT) && !(in = varint_get(in, end, &weight)))
		return NULL;
	if (!(tag & FORMAT_TAG_SAME_STACK)) {
		if (!(in = varint_get(in, end, &step)))
			return NULL;
		reader->stack += (uint64_t)zigzag_decode(step);
	}
	if (dt > TIME_MAX_US || weight > TIME_MAX_US || reader->time + dt > TIME_MAX_US)
		return NULL;
	reader->time += dt;
	add_row(reader, state, weight);
	reader->overlong += weight > reader->time - reader->thread_begin_us + LIFE_GRAIN_US;
	return in;
}

/* The thread in force has lived until now. */
static void note_time(struct profile_reader *reader)
{
	if (!reader->profile->threads.count)
		return;

	struct profile_thread *thread = thread_of(reader);

	if (reader->time > thread->end_us)
		thread->end_us = reader->time;
	if (reader->time > reader->profile->last_us)
		reader->profile->last_us = reader->time;
}

static void set_thread(struct profile_reader *reader, uint64_t number, uint64_t time)
{
	close_segment(reader);
	note_time(reader);
	reader->thread = find_thread(reader->profile, number);
	reader->time = time;

	struct profile_thread *thread = thread_of(reader);

	reader->backward += time < thread->end_us;
	if (!thread->began && !thread->has_events && !thread->end_us)
		thread->begin_us = time;
	reader->thread_begin_us = thread->begin_us;
	note_time(reader);
}

static const uint8_t *read_thread(struct profile_reader *reader, const uint8_t *in,
				  const uint8_t *end)
{
	uint64_t number, tid, time;

	in = varint_get(in, end, &number);
	in = in ? varint_get(in, end, &tid) : NULL;
	in = in ? varint_get(in, end, &time) : NULL;
	if (!in || number > UINT32_MAX || time > TIME_MAX_US)
		return NULL;
	set_thread(reader, number, time);
	context_reader_reset(&reader->context);
	thread_of(reader)->tid = (uint32_t)(tid < UINT32_MAX ? tid : UINT32_MAX);
	thread_of(reader)->began = true;
	return in;
}

/* Valid until the next thread gets its own. */
static struct profile_more *more_of(struct profile_reader *reader)
{
	struct experiment_profile *profile = reader->profile;
	struct profile_thread *thread = thread_of(reader);

	if (!thread->more) {
		vec_push(&profile->more);
		thread->more = (uint32_t)profile->more.count;
	}
	return &profile->more.items[thread->more - 1];
}

static void pause_or_resume(struct profile_reader *reader, bool pause)
{
	struct profile_thread *thread = thread_of(reader);
	struct profile_more *more = more_of(reader);

	if (pause && !thread->paused)
		more->pause_begin_us = reader->time;
	else if (!pause && thread->paused && reader->time > more->pause_begin_us)
		more->paused_us += reader->time - more->pause_begin_us;
	thread->paused = pause;
}

static uint32_t *name_of(struct profile_more *more, unsigned tag)
{
	return tag == FORMAT_TAG_NAME	 ? &more->name
	       : tag == FORMAT_TAG_GROUP ? &more->group
					 : &more->parent;
}

/* A thread may be named again: the last name counts. */
static const uint8_t *read_name(struct profile_reader *reader, unsigned tag, const uint8_t *in,
				const uint8_t *end)
{
	struct experiment_profile *profile = reader->profile;
	uint64_t length;

	in = varint_get(in, end, &length);
	if (!in || length >= FORMAT_NAME_ROOM || length > (size_t)(end - in))
		return NULL;
	*name_of(more_of(reader), tag) = (uint32_t)profile->texts.count + 1;
	for (uint64_t i = 0; i < length; i++)
		*vec_push(&profile->texts) = (char)in[i];
	*vec_push(&profile->texts) = '\0';
	return in + length;
}

static const uint8_t *read_control(struct profile_reader *reader, unsigned tag, const uint8_t *in,
				   const uint8_t *end)
{
	uint64_t value;

	if (tag == FORMAT_TAG_THREAD)
		return read_thread(reader, in, end);
	if (tag == FORMAT_TAG_CONTEXT)
		return context_reader_read(&reader->context, in, end);
	if (tag >= FORMAT_TAG_NAME && tag <= FORMAT_TAG_PARENT)
		return read_name(reader, tag, in, end);
	if (tag == FORMAT_TAG_COLLECTION)
		return collections_read(&reader->profile->collections, thread_of(reader)->number,
					in, end);
	if (tag == FORMAT_TAG_COLLECTION_MORE)
		return collections_read_more(&reader->profile->collections,
					     thread_of(reader)->number, in, end);
	if (tag == FORMAT_TAG_CLASS) {
		reader->profile->class_count++;
		return varint_get(in, end, &value);
	}
	if (tag > FORMAT_TAG_CPU || !(in = varint_get(in, end, &value)))
		return NULL;
	if (tag == FORMAT_TAG_CPU) {
		reader->cpu = value < PROFILE_NO_CPU ? (uint16_t)value : PROFILE_NO_CPU;
		return in;
	}
	if (value > TIME_MAX_US || reader->time + value > TIME_MAX_US)
		return NULL;
	reader->time += value;
	note_time(reader);
	if (tag == FORMAT_TAG_THREAD_END)
		thread_of(reader)->ended = true;
	else
		pause_or_resume(reader, tag == FORMAT_TAG_PAUSE);
	return in;
}

static void read_block(struct profile_reader *reader, const struct block *block)
{
	const uint8_t *in = block->data, *end = in + block->used;

	reader->stack = 0;
	reader->cpu = PROFILE_NO_CPU;
	context_reader_reset(&reader->context);
	if (block->header.base_time > TIME_MAX_US) {
		reader->lost_bytes += block->used;
		return;
	}
	/* a block that begins with a thread record sets its own thread */
	if (in < end && *in != FORMAT_TAG_THREAD)
		set_thread(reader, block->header.first, block->header.base_time);
	while (in < end) {
		unsigned tag = *in;
		const uint8_t *next = tag & FORMAT_TAG_CONTROL
					      ? read_control(reader, tag, in + 1, end)
					      : read_event(reader, tag, in + 1, end);

		if (!next) {
			reader->lost_bytes += (uint64_t)(end - in);
			break;
		}
		in = next;
	}
	close_segment(reader);
	note_time(reader);
}

static void report(const struct profile_reader *reader, const struct block_file *file,
		   const struct read_context *context)
{
	unsigned long long bytes = reader->lost_bytes + file->skipped;

	reader->profile->damaged =
		bytes || file->counts.corrupt || file->cut || reader->backward || reader->overlong;
	if (bytes || file->cut)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: profile is %s: %llu of its bytes could not be read; the time they "
			 "held is missing",
			 context->name, file->cut ? "cut off" : "damaged", bytes);
	if (file->counts.corrupt)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: profile is damaged: %zu blocks are not what was written; their times "
			 "and call stacks are doubtful",
			 context->name, file->counts.corrupt);
	if (reader->backward)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: profile: the time of a thread goes backwards in %llu places; times "
			 "are doubtful",
			 context->name, (unsigned long long)reader->backward);
	if (reader->overlong)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: profile: %llu events are longer than the life of their thread; times "
			 "are doubtful",
			 context->name, (unsigned long long)reader->overlong);
	if (reader->nameless)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: profile: %llu events belong to no thread; they are listed under "
			 "thread 0",
			 context->name, (unsigned long long)reader->nameless);
}

void experiment_profile_read(struct experiment_profile *profile, const struct read_context *context)
{
	struct profile_reader reader = {.profile = profile, .context.table = context->contexts};
	struct block_file file;
	struct block block;
	enum file_state state =
		block_file_open(&file, context, FORMAT_FILE_PROFILE, 1u << FORMAT_EVENTS);

	*profile = (struct experiment_profile){.present = state != FILE_MISSING,
					       .damaged = state == FILE_UNUSABLE,
					       .rows.columns = ROW_FIELD + PROFILE_FIELDS,
					       .rows.are_full = true};
	if (state != FILE_USABLE)
		return;
	rows_open(&profile->rows);
	while (block_file_next(&file, &block))
		read_block(&reader, &block);
	collections_sort(&profile->collections);
	rows_close(&profile->rows);
	profile->dropped = file.dropped;
	profile->counts = file.counts;
	report(&reader, &file, context);
	block_file_close(&file);
}

void experiment_profile_add_thread(struct experiment_profile *profile, uint64_t number,
				   uint64_t tid)
{
	uint32_t index = find_thread(profile, number);

	profile->threads.items[index].tid = (uint32_t)(tid < UINT32_MAX ? tid : UINT32_MAX);
}

const struct profile_thread *profile_find_thread(const struct experiment_profile *profile,
						 uint64_t number)
{
	uint32_t index = pair_set_get(&profile->thread_ids, profile->threads.items,
				      (uint32_t)number, (uint32_t)(number >> 32));

	return index == HASH_NONE ? NULL : &profile->threads.items[index];
}

void experiment_profile_fill(struct experiment_profile *profile, const struct profile_event *events,
			     size_t count)
{
	struct profile_reader reader = {.profile = profile};

	profile->rows.columns = ROW_FIELD + PROFILE_FIELDS;
	profile->rows.are_full = true;
	rows_open(&profile->rows);
	for (size_t i = 0; i < count; i++) {
		const struct profile_event *event = &events[i];

		if (!i || event->thread != events[i - 1].thread)
			set_thread(&reader, event->thread, event->time_us);
		reader.time = event->time_us;
		reader.cpu = event->cpu;
		reader.stack = event->stack;
		add_row(&reader, event->state, event->weight_us);
		note_time(&reader);
	}
	close_segment(&reader);
	rows_close(&profile->rows);
}

void experiment_profile_fini(struct experiment_profile *profile)
{
	rows_fini(&profile->rows);
	vec_fini(&profile->segments);
	vec_fini(&profile->threads);
	vec_fini(&profile->more);
	vec_fini(&profile->texts);
	pair_set_fini(&profile->thread_ids);
	collections_fini(&profile->collections);
	*profile = (struct experiment_profile){0};
}

void experiment_profile_bind(struct experiment_profile *profile, struct stack_tree *stacks,
			     const struct read_context *context)
{
	unsigned long long missing = experiment_stacks_bind(stacks, &profile->rows, true);

	profile->stackless = missing;
	if (missing)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: the call stacks of %llu of %llu events are missing%s; their time "
			 "shows as <Unknown>",
			 context->name, missing, (unsigned long long)profile->event_count,
			 stacks->present ? "" : " because there is no file stacks");
}

void experiment_profile_add_before(struct experiment_profile *profile, uint64_t user_us,
				   uint64_t system_us, uint32_t node)
{
	struct profile_reader reader = {
		.profile = profile, .adds = true, .stack = node, .cpu = PROFILE_NO_CPU};
	struct profile_segment first;

	if (!profile->threads.count || !(user_us + system_us))
		return;
	reader.time = profile->threads.items[0].begin_us;
	rows_open(&profile->rows);
	if (user_us)
		add_row(&reader, FORMAT_STATE_USER, user_us);
	if (system_us)
		add_row(&reader, FORMAT_STATE_SYSTEM, system_us);
	rows_close(&profile->rows);
	/* It is not closed: these are no events, and nothing that the thread recorded. */
	reader.segment->count = (uint32_t)count_of_segment(&reader);
	profile->before_us = user_us + system_us;
	/* The segments of a thread are in the order of time. */
	first = profile->segments.items[profile->segments.count - 1];
	memmove(profile->segments.items + 1, profile->segments.items,
		(profile->segments.count - 1) * sizeof(first));
	profile->segments.items[0] = first;
}

/* What is not known of a thread's end; with all of its life, what was pending at its last event. */
static uint64_t tail_us(const struct experiment_profile *profile,
			const struct profile_thread *thread, uint64_t end_us, bool whole)
{
	bool open = thread->began && !thread->ended && !thread->paused;
	uint64_t tail = end_us > thread->end_us ? end_us - thread->end_us : 0;
	uint64_t own =
		thread->begin_us + profile_more(profile, thread)->paused_us + thread->recorded_us;

	if (whole && end_us > own && end_us - own > tail)
		tail = end_us - own;
	return open ? tail : 0;
}

uint64_t profile_user_part(uint64_t us, uint64_t user_us, uint64_t system_us)
{
	double all_us = (double)user_us + (double)system_us;
	uint64_t part = all_us > 0 ? (uint64_t)((double)us * ((double)user_us / all_us)) : us;

	return part < us ? part : us;
}

/* Takes so much CPU time out of what is left, in the same parts as that. */
static void add_rest(struct profile_reader *reader, struct profile_rest *rest, uint64_t us)
{
	uint64_t user_us = profile_user_part(us, rest->user_us, rest->system_us);

	if (user_us > rest->user_us)
		user_us = rest->user_us;
	if (us - user_us > rest->system_us)
		user_us = us - rest->system_us;
	if (user_us)
		add_row(reader, FORMAT_STATE_USER, user_us);
	if (us > user_us)
		add_row(reader, FORMAT_STATE_SYSTEM, us - user_us);
	rest->user_us -= user_us;
	rest->system_us -= us - user_us;
}

void experiment_profile_add_tails(struct experiment_profile *profile, uint64_t end_us,
				  uint32_t node, struct profile_rest rest)
{
	/* A thread that has long been without an event has hardly used more than others. */
	enum { TAIL_US = 20000 };
	struct profile_reader reader = {.profile = profile,
					.adds = true,
					.time = end_us,
					.stack = node,
					.cpu = PROFILE_NO_CPU};
	uint64_t tails_us = 0;

	for (size_t i = 0; i < profile->threads.count; i++) {
		uint64_t tail = tail_us(profile, &profile->threads.items[i], end_us, rest.whole);

		tails_us += tail < TAIL_US ? tail : TAIL_US;
	}
	rows_open(&profile->rows);
	for (size_t i = 0; i < profile->threads.count && end_us < TIME_MAX_US; i++) {
		uint64_t tail = tail_us(profile, &profile->threads.items[i], end_us, rest.whole);
		uint64_t worth = tail < TAIL_US ? tail : TAIL_US;
		uint64_t rest_us = rest.user_us + rest.system_us;
		uint64_t part =
			tails_us ? (uint64_t)((double)rest_us * (double)worth / (double)tails_us)
				 : 0;

		if (!tail)
			continue;
		part = worth == tails_us || part > rest_us ? rest_us : part;
		part = part < tail ? part : tail;
		tails_us -= worth;
		reader.thread = (uint32_t)i;
		add_rest(&reader, &rest, part);
		if (tail > part)
			add_row(&reader, FORMAT_STATE_SLEEP, tail - part);
		close_segment(&reader);
		note_time(&reader);
	}
	if (profile->threads.count && rest.user_us + rest.system_us) {
		reader.thread = 0;
		add_rest(&reader, &rest, rest.user_us + rest.system_us);
		close_segment(&reader);
	}
	rows_close(&profile->rows);
}

/* Whether the last of a thread's time can be added to. */
static bool has_ended(const struct profile_thread *thread, uint32_t last_node)
{
	return thread->ended && !thread->paused && last_node != NO_STACK_ID;
}

struct last_event {
	uint32_t node, context;
};

/* The node of each thread's last event, or NO_STACK_ID, and its context. */
static struct last_event *last_events(const struct experiment_profile *profile)
{
	struct last_event *last = xcalloc(profile->threads.count + 1, sizeof(*last));

	for (size_t i = 0; i < profile->threads.count; i++)
		last[i].node = NO_STACK_ID;
	for (size_t i = 0; i < profile->segments.count; i++) {
		const struct profile_segment *segment = &profile->segments.items[i];

		size_t row = segment->first + segment->count - 1;

		if (segment->count)
			last[segment->thread] = (struct last_event){
				.node = (uint32_t)rows_get(&profile->rows, ROW_STACK, row),
				.context = (uint32_t)rows_get(&profile->rows, ROW_CONTEXT, row)};
	}
	return last;
}

void experiment_profile_add_thread_ends(struct experiment_profile *profile, uint64_t cpu_us)
{
	struct profile_reader reader = {.profile = profile, .adds = true, .cpu = PROFILE_NO_CPU};
	struct last_event *last = last_events(profile);
	uint64_t ended = 0;

	for (size_t i = 0; i < profile->threads.count; i++)
		ended += has_ended(&profile->threads.items[i], last[i].node);
	rows_open(&profile->rows);
	if (ended && cpu_us > ended * END_MAX_US)
		cpu_us = ended * END_MAX_US;
	for (size_t i = 0; i < profile->threads.count && ended; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];
		uint64_t part = cpu_us / ended;

		if (!has_ended(thread, last[i].node))
			continue;
		ended--;
		cpu_us -= part;
		if (!part)
			continue;
		reader.thread = (uint32_t)i;
		reader.stack = last[i].node;
		reader.context.number = last[i].context;
		reader.time = thread->end_us + part;
		profile->ends_us += part;
		add_row(&reader, FORMAT_STATE_SYSTEM, part);
		close_segment(&reader);
		note_time(&reader);
	}
	rows_close(&profile->rows);
	free(last);
}
