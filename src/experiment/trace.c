/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/trace.h"

#include "experiment/contexts.h"
#include "experiment/profile.h"
#include "experiment/stacks.h"
#include "format/counter.h"
#include "format/varint.h"

#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS (UINT64_C(1) << 62)

struct trace_reader {
	struct experiment_trace *trace;
	const struct format_kind *format;
	struct arena *arena; /* NULL: texts are not kept */
	uint64_t texts_max;  /* each takes some bytes of the file: a higher number is damage */
	/* the block in hand */
	uint64_t time, stack;
	uint64_t near[TRACE_FIELDS_MAX];
	uint16_t cpu;
	struct context_reader context;
	uint64_t thread;
	size_t first; /* row of the run that goes on */
	uint64_t lost_bytes;
};

static void put_field(struct trace_reader *reader, unsigned field, uint64_t value)
{
	uint64_t *row = rows_next_row(&reader->trace->rows);

	if (reader->format == &format_kinds[TRACE_COUNTER] && field == COUNTER_ADDRESS) {
		row_put(row, ROW_FIELD + COUNTER_NODE, counter_node(value));
		value = counter_address(value);
	}
	row_put(row, ROW_FIELD + field, value);
}

static const uint8_t *read_fields(struct trace_reader *reader, unsigned tag, const uint8_t *in,
				  const uint8_t *end)
{
	const struct format_kind *format = reader->format;
	unsigned count = tag & FORMAT_TRACE_ALL_FIELDS
				 ? format->fields
				 : format->brief[tag & FORMAT_TRACE_TYPE_MASK];

	for (unsigned i = 0; i < count; i++) {
		uint64_t value;

		if (!(in = varint_get(in, end, &value)))
			return NULL;
		if (reader->format->encoding[i] == FIELD_NEAR)
			value = reader->near[i] + (uint64_t)zigzag_decode(value);
		reader->near[i] = value;
		put_field(reader, i, value);
	}
	return in;
}

static uint32_t stack_of(const struct trace_reader *reader, unsigned type)
{
	if (reader->format->stackless >> type & 1)
		return 0;
	return reader->stack < UINT32_MAX ? (uint32_t)reader->stack : UINT32_MAX;
}

/* NULL: damaged or cut off, and no row was added. */
static const uint8_t *read_event(struct trace_reader *reader, unsigned tag, const uint8_t *in,
				 const uint8_t *end)
{
	struct rows *rows = &reader->trace->rows;
	unsigned type = tag & FORMAT_TRACE_TYPE_MASK;
	uint64_t dt, step = 0, *row;

	if (type >= reader->format->types || tag & ~(0x7fu) || !(in = varint_get(in, end, &dt)) ||
	    dt > TIME_MAX_NS || reader->time + dt > TIME_MAX_NS)
		return NULL;
	if (!(tag & FORMAT_TRACE_SAME_STACK) && !(in = varint_get(in, end, &step)))
		return NULL;
	reader->time += dt;
	reader->stack += (uint64_t)zigzag_decode(step);
	if (!(in = read_fields(reader, tag, in, end))) {
		rows_drop(rows);
		return NULL;
	}
	row = rows_next_row(rows);
	row_put(row, ROW_TIME, reader->time);
	row_put(row, ROW_STACK, stack_of(reader, type));
	row_put(row, ROW_CPU, reader->cpu);
	row_put(row, ROW_TYPE, type);
	row_put(row, ROW_CONTEXT, context_reader_number(&reader->context));
	rows_next(rows);
	return in;
}

static const uint8_t *read_text(struct trace_reader *reader, const uint8_t *in, const uint8_t *end)
{
	struct experiment_trace *trace = reader->trace;
	uint64_t number, length;

	in = varint_get(in, end, &number);
	in = in ? varint_get(in, end, &length) : NULL;
	if (!in || number >= reader->texts_max || length > (uint64_t)(end - in))
		return NULL;
	if (!reader->arena)
		return in + length;
	while (trace->texts.count <= number)
		*vec_push(&trace->texts) = NULL;
	trace->texts.items[number] = arena_strndup(reader->arena, (const char *)in, (size_t)length);
	return in + length;
}

static const uint8_t *read_cpu(struct trace_reader *reader, const uint8_t *in, const uint8_t *end)
{
	uint64_t cpu;

	if ((in = varint_get(in, end, &cpu)))
		reader->cpu = cpu < PROFILE_NO_CPU ? (uint16_t)cpu : PROFILE_NO_CPU;
	return in;
}

static const uint8_t *read_release(struct trace_reader *reader, const uint8_t *in,
				   const uint8_t *end)
{
	uint64_t dt, step;

	if (!(in = varint_get(in, end, &dt)) || dt > TIME_MAX_NS ||
	    reader->time + dt > TIME_MAX_NS || !(in = varint_get(in, end, &step)))
		return NULL;
	reader->time += dt;
	reader->near[SYNC_OBJECT] += (uint64_t)zigzag_decode(step);
	*vec_push(&reader->trace->releases) =
		(struct trace_release){.time_ns = reader->time,
				       .thread = reader->thread,
				       .object = reader->near[SYNC_OBJECT]};
	return in;
}

/* The rows that were added since the last run are of the thread in force. */
static void end_run(struct trace_reader *reader)
{
	struct experiment_trace *trace = reader->trace;

	if (trace->rows.count > reader->first)
		*vec_push(&trace->runs) =
			(struct trace_run){.first = reader->first,
					   .count = trace->rows.count - reader->first,
					   .thread = reader->thread};
	reader->first = trace->rows.count;
}

static const uint8_t *read_thread(struct trace_reader *reader, const uint8_t *in,
				  const uint8_t *end)
{
	uint64_t number;

	if (!(in = varint_get(in, end, &number)) || number > UINT32_MAX)
		return NULL;
	end_run(reader);
	context_reader_reset(&reader->context);
	reader->thread = number;
	return in;
}

static const uint8_t *read_record(struct trace_reader *reader, const uint8_t *in,
				  const uint8_t *end)
{
	unsigned tag = *in++;

	if (tag == FORMAT_TAG_CPU)
		return read_cpu(reader, in, end);
	if (tag == FORMAT_TAG_THREAD)
		return read_thread(reader, in, end);
	if (tag == FORMAT_TAG_CONTEXT)
		return context_reader_read(&reader->context, in, end);
	if (tag == FORMAT_TRACE_TEXT)
		return read_text(reader, in, end);
	if (tag == FORMAT_TRACE_RELEASE && reader->format == &format_kinds[TRACE_SYNC])
		return read_release(reader, in, end);
	return read_event(reader, tag, in, end);
}

static void read_block(struct trace_reader *reader, const struct block *block)
{
	const uint8_t *in = block->data, *end = in + block->used;

	reader->thread = block->header.first;
	reader->time = block->header.base_time < TIME_MAX_NS ? block->header.base_time : 0;
	reader->stack = 0;
	reader->cpu = PROFILE_NO_CPU;
	context_reader_reset(&reader->context);
	memset(reader->near, 0, sizeof(reader->near));
	while (in && in < end) {
		const uint8_t *at = in;

		in = read_record(reader, in, end);
		if (!in)
			reader->lost_bytes += (uint64_t)(end - at);
	}
	end_run(reader);
}

static void report(const struct trace_reader *reader, const struct block_file *file,
		   const struct read_context *context)
{
	unsigned long long bytes = reader->lost_bytes + file->skipped;

	reader->trace->damaged = bytes || file->counts.corrupt || file->cut;
	if (bytes || file->cut)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s is %s: %llu of its bytes could not be read; their events are "
			 "missing",
			 context->name, reader->format->file, file->cut ? "cut off" : "damaged",
			 bytes);
	if (file->counts.corrupt)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: %s is damaged: %zu blocks are not what was written; their events are "
			 "doubtful",
			 context->name, reader->format->file, file->counts.corrupt);
}

void experiment_trace_init(struct experiment_trace *trace, enum trace_kind kind)
{
	*trace = (struct experiment_trace){0};
	trace->rows.columns = ROW_FIELD + format_kinds[kind].fields + (kind == TRACE_COUNTER);
}

void experiment_trace_read(struct experiment_trace *trace, enum trace_kind kind,
			   struct arena *arena, const struct read_context *context)
{
	struct trace_reader reader = {.trace = trace,
				      .format = &format_kinds[kind],
				      .arena = arena,
				      .context.table = context->contexts};
	struct block_file file;
	struct block block;
	enum file_state state =
		block_file_open(&file, context, reader.format->file, 1u << FORMAT_TRACE);

	experiment_trace_init(trace, kind);
	trace->present = state != FILE_MISSING;
	trace->damaged = state == FILE_UNUSABLE;
	if (state != FILE_USABLE)
		return;
	reader.texts_max = file.size;
	rows_open(&trace->rows);
	while (block_file_next(&file, &block))
		read_block(&reader, &block);
	rows_close(&trace->rows);
	trace->dropped = file.dropped;
	trace->counts = file.counts;
	report(&reader, &file, context);
	block_file_close(&file);
}

uint64_t experiment_trace_count(enum trace_kind kind, const struct read_context *context)
{
	struct experiment_trace trace;
	struct block_file file;
	struct block block;
	uint64_t events = 0;

	if (block_file_open(&file, context, format_kinds[kind].file, 1u << FORMAT_TRACE) !=
	    FILE_USABLE)
		return 0;
	while (block_file_next(&file, &block)) {
		struct trace_reader reader = {
			.trace = &trace, .format = &format_kinds[kind], .texts_max = file.size};

		experiment_trace_init(&trace, kind);
		rows_open(&trace.rows);
		read_block(&reader, &block);
		events += trace.rows.count;
		experiment_trace_fini(&trace);
	}
	block_file_close(&file);
	return events;
}

void experiment_trace_add(struct experiment_trace *trace, enum trace_kind kind,
			  const struct trace_event *event)
{
	struct rows *rows = &trace->rows;
	uint64_t *row = rows_next_row(rows);
	unsigned fields = format_kinds[kind].fields;
	struct trace_run *last =
		trace->runs.count ? &trace->runs.items[trace->runs.count - 1] : NULL;

	row_put(row, ROW_TIME, event->time_ns);
	row_put(row, ROW_STACK, event->stack);
	row_put(row, ROW_CPU, event->cpu);
	row_put(row, ROW_TYPE, event->type);
	for (unsigned i = 0; i < fields; i++)
		row_put(row, ROW_FIELD + i, event->field[i]);
	if (!last || last->thread != event->thread) {
		last = vec_push(&trace->runs);
		last->first = rows->count;
		last->thread = event->thread;
	}
	last->count++;
	rows_next(rows);
}

void experiment_trace_fini(struct experiment_trace *trace)
{
	rows_fini(&trace->rows);
	vec_fini(&trace->runs);
	vec_fini(&trace->releases);
	vec_fini(&trace->texts);
	*trace = (struct experiment_trace){0};
}

void experiment_trace_bind(struct experiment_trace *trace, struct stack_tree *stacks,
			   const struct read_context *context)
{
	unsigned long long missing = experiment_stacks_bind(stacks, &trace->rows, false);

	if (missing)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: the call stacks of %llu of %zu traced events are missing; they show "
			 "as <Unknown>",
			 context->name, missing, trace->rows.count);
}
