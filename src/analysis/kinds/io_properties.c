/* SPDX-License-Identifier: Apache-2.0 */
/* I/O tracing: the properties of its events. */
#include "analysis/filter/filter_property.h"
#include "analysis/kinds/io_places.h"
#include "analysis/kinds/io_rows.h"

static void prepare_files(struct session *session)
{
	io_rows_of(session, IO_ROWS_FILES);
}

static void prepare_openings(struct session *session)
{
	io_rows_of(session, IO_ROWS_OPENINGS);
}

static void load_io_row(const struct filter_rows *rows, struct filter_slot *slot,
			enum io_row_kind kind)
{
	const uint32_t *of = rows->session->io_rows[kind]->of[rows->process->id - 1];

	EACH_ROW slot->value[i] = of[rows->run->first + i];
}

static void load_file(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_io_row(rows, slot, IO_ROWS_FILES);
}

static void load_opening(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_io_row(rows, slot, IO_ROWS_OPENINGS);
}

static void prepare_places(struct session *session)
{
	io_places_of(session);
}

static void load_place_type(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct process *process = rows->process->process;
	const uint64_t *names = event_field(rows->run, IO_NAME);
	const uint32_t *of = rows->session->io_places->of[rows->process->id - 1];
	size_t count = process->traces[TRACE_IO].texts.count;

	EACH_ROW slot->value[i] = of[names[i] < count ? names[i] : count];
	filter_forget(slot, rows->run->count, IO_PLACE_UNKNOWN);
}

/* 5 to 9 are 0 to 4 for calls that failed. */
static void load_io_type(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *types = event_column(rows->run, ROW_TYPE);
	const uint64_t *results = event_field(rows->run, IO_RESULT);

	EACH_ROW
	{
		uint64_t type = types[i];

		slot->value[i] = (type > IO_OTHER ? IO_OTHER : type) + (results[i] ? 5u : 0u);
	}
}

/* Recorded as one more, so that 0 is none. */
static void load_descriptor(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, IO_DESCRIPTOR);
	EACH_ROW slot->value[i]--;
	filter_forget(slot, rows->run->count, UINT64_MAX);
}

/* What an opening is a copy of stands in the place of an offset. */
static void load_place(const struct filter_rows *rows, struct filter_slot *slot, bool of_opening)
{
	const uint64_t *types = event_column(rows->run, ROW_TYPE);
	const uint64_t *offsets = event_field(rows->run, IO_OFFSET);

	EACH_ROW
	{
		bool opening = types[i] == IO_OPEN;
		bool has_place = opening == of_opening && !io_requests(rows->run, i);

		slot->value[i] = (has_place ? offsets[i] : 0) - 1;
	}
	filter_forget(slot, rows->run->count, UINT64_MAX);
}

static void load_original(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_place(rows, slot, true);
}

static void load_offset(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_place(rows, slot, false);
}

static void load_bytes(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot,
			  rows->run->kind == EVENTS_TRACE + TRACE_HEAP ? HEAP_SIZE : IO_BYTES);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY("IOTYPE",
			"0 read, 1 write, 2 open, 3 close, 4 other; 5 to 9: the same, failed", "io",
			FILTER_IO, load_io_type),
	FILTER_PROPERTY("IOFD", "file descriptor", "io", FILTER_IO, load_descriptor),
	FILTER_PROPERTY("IOOFD",
			"the descriptor that dup, dup2, dup3 or fcntl made the event's a copy of",
			"io", FILTER_IO, load_original),
	FILTER_PROPERTY("IOOFFSET", "the place in the file that the call named, as pread does",
			"io", FILTER_IO, load_offset),
	FILTER_PROPERTY("IOVFD", "number of the descriptor's opening, as in iodetail", "io",
			FILTER_IO, load_opening, .prepare = prepare_openings),
	FILTER_PROPERTY("IOFNAME", "number of the file's name", "io", FILTER_IO, load_file,
			.prepare = prepare_files),
	FILTER_PROPERTY("IONBYTE", "bytes", "io", FILTER_IO, load_bytes),
	FILTER_PROPERTY("IORQST", "when the call began, ns", "io", FILTER_IO, filter_load_begin),
	FILTER_PROPERTY("IOHEAPBYTES", "bytes", "heap, io", FILTER_HEAP | FILTER_IO, load_bytes),
	FILTER_PROPERTY("IOFSTYPE", "type of the file system: IOFSTYPE IN FSTYPE(...)", "io",
			FILTER_IO, load_place_type, .prepare = prepare_places),
};

const struct filter_properties io_properties = FILTER_PROPERTIES(properties);
