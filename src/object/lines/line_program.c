/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw also reads line tables, but it sorts the rows of all sequences into one
 * list, where those of discarded functions, which begin at address 0, cannot be
 * told from the rest; it makes 90 bytes of a row while it reads; and to know
 * the files of a table it runs the whole program.
 *
 * The work is linear in the section: every row takes at least one byte.
 */
#include "object/lines/line_program.h"

#include "base/search.h"

#include <dwarf.h>
#include <stdlib.h>

enum { FORMAT_LIMIT = 16 }; /* fields of a directory or file; real ones have up to 5 */

/* One field of the entries of a DWARF 5 table. */
struct field {
	uint64_t content, form;
};
struct entry {
	const char *path;
	uint64_t directory;
};

static const char *string_at(struct bytes section, uint64_t offset)
{
	struct cursor cursor = cursor_at(section, offset);

	return cursor_string(&cursor);
}

static const char *read_string(struct cursor *cursor, uint64_t form, unsigned offset_size,
			       const struct line_sections *sections)
{
	if (form == DW_FORM_string)
		return cursor_string(cursor);
	uint64_t offset = cursor_number(cursor, offset_size);

	return string_at(form == DW_FORM_strp ? sections->str : sections->line_str, offset);
}

static uint64_t read_number(struct cursor *cursor, uint64_t form)
{
	switch (form) {
	case DW_FORM_udata:
		return cursor_uleb(cursor);
	case DW_FORM_data1:
		return cursor_number(cursor, 1);
	case DW_FORM_data2:
		return cursor_number(cursor, 2);
	case DW_FORM_data4:
		return cursor_number(cursor, 4);
	case DW_FORM_data8:
		return cursor_number(cursor, 8);
	case DW_FORM_data16:
		cursor_skip(cursor, 16);
		return 0;
	case DW_FORM_block:
		cursor_skip(cursor, cursor_uleb(cursor));
		return 0;
	default: /* of unknown size: nothing behind it can be read */
		cursor_skip(cursor, UINT64_MAX);
		return 0;
	}
}

static bool is_string(uint64_t form)
{
	return form == DW_FORM_string || form == DW_FORM_line_strp || form == DW_FORM_strp;
}

static struct entry read_entry(struct cursor *cursor, const struct field *fields, size_t count,
			       unsigned offset_size, const struct line_sections *sections)
{
	struct entry entry = {.path = ""};

	for (size_t i = 0; i < count; i++) {
		const char *text = "";
		uint64_t number = 0;

		if (is_string(fields[i].form))
			text = read_string(cursor, fields[i].form, offset_size, sections);
		else
			number = read_number(cursor, fields[i].form);
		if (fields[i].content == DW_LNCT_path)
			entry.path = text;
		else if (fields[i].content == DW_LNCT_directory_index)
			entry.directory = number;
	}
	return entry;
}

/* A table of directories or files as DWARF 5 writes it. */
static void read_table(struct line_program *program, bool are_files, unsigned offset_size,
		       const struct line_sections *sections)
{
	struct cursor *cursor = &program->code;
	struct field fields[FORMAT_LIMIT];
	size_t field_count = cursor_byte(cursor);

	if (field_count > FORMAT_LIMIT)
		cursor_skip(cursor, UINT64_MAX);
	for (size_t i = 0; i < field_count && !cursor->failed; i++) {
		fields[i].content = cursor_uleb(cursor);
		fields[i].form = cursor_uleb(cursor);
	}
	uint64_t count = cursor_uleb(cursor);

	/* Entries without fields would take no bytes. */
	for (uint64_t i = 0; i < count && field_count && !cursor->failed; i++) {
		struct entry entry = read_entry(cursor, fields, field_count, offset_size, sections);

		if (are_files)
			*vec_push(&program->files) =
				(struct program_file){entry.path, entry.directory};
		else
			*vec_push(&program->directories) = entry.path;
	}
}

static struct program_file read_old_file(struct cursor *cursor, const char *name)
{
	struct program_file file = {name, cursor_uleb(cursor)};

	cursor_uleb(cursor); /* time */
	cursor_uleb(cursor); /* length */
	return file;
}

/* The tables up to DWARF 4, which begin at 1. */
static void read_old_tables(struct line_program *program)
{
	struct cursor *cursor = &program->code;
	const char *name;

	*vec_push(&program->directories) = "";
	while (*(name = cursor_string(cursor)))
		*vec_push(&program->directories) = name;
	*vec_push(&program->files) = (struct program_file){"", 0};
	while (*(name = cursor_string(cursor)))
		*vec_push(&program->files) = read_old_file(cursor, name);
}

static void read_opcodes(struct line_program *program)
{
	struct cursor *cursor = &program->code;

	program->minimum_length = cursor_byte(cursor);
	if (program->version >= 4)
		cursor_byte(cursor); /* operations per instruction: 1 but on VLIW machines */
	cursor_byte(cursor);	     /* whether rows begin statements */
	program->line_base = (int8_t)cursor_byte(cursor);
	program->line_range = cursor_byte(cursor);
	program->opcode_base = cursor_byte(cursor);
	program->opcode_lengths =
		cursor_skip(cursor, program->opcode_base ? program->opcode_base - 1u : 0);
}

bool line_program_open(const struct line_sections *sections, uint64_t offset,
		       struct line_program *out)
{
	struct cursor *cursor = &out->code;
	unsigned offset_size = 4;

	*out = (struct line_program){.code = cursor_at(sections->line, offset)};
	uint64_t length = cursor_number(cursor, 4);

	if (length == UINT32_MAX) {
		offset_size = 8;
		length = cursor_number(cursor, 8);
	}
	if (length < cursor_left(cursor))
		cursor->end = cursor->at + length;
	out->version = (unsigned)cursor_number(cursor, 2);
	if (out->version < 2 || out->version > 5)
		return false;
	if (out->version >= 5) {
		out->address_size = cursor_byte(cursor);
		cursor_byte(cursor); /* segment selectors: none */
	}
	uint64_t header_length = cursor_number(cursor, offset_size);
	struct cursor code = *cursor;

	cursor_skip(&code, header_length);
	read_opcodes(out);
	if (code.failed || cursor->failed || !out->line_range || !out->opcode_base)
		return false;
	if (out->version >= 5) {
		read_table(out, false, offset_size, sections);
		read_table(out, true, offset_size, sections);
	} else {
		read_old_tables(out);
	}
	*cursor = code;
	return true;
}

void line_program_close(struct line_program *program)
{
	vec_fini(&program->directories);
	vec_fini(&program->files);
}

/* The registers of the state machine, and where its rows go. */
struct machine {
	uint64_t address;
	uint64_t file;
	uint32_t line;

	const struct code_ranges *ranges;
	size_t file_count;
	struct program_rows *rows;
	size_t sequence;		/* its first row */
	size_t sequence_firsts;		/* … and first of its rows->firsts */
	const struct code_range *range; /* in which it lies, or NULL: left out */
	bool goes_back;			/* the sequence does */
	bool sorted;
};

static void reset(struct machine *machine)
{
	machine->address = 0;
	machine->file = 1;
	machine->line = 1;
	machine->sequence = machine->rows->count;
	machine->sequence_firsts = machine->rows->firsts.count;
	machine->range = NULL;
	machine->goes_back = false;
}

static uint64_t base_of(const struct machine *machine)
{
	return machine->ranges->items[0].start;
}

static struct program_row make_row(const struct machine *machine)
{
	bool has_line = machine->line && machine->file < machine->file_count;

	return (struct program_row){
		.offset = (uint32_t)(machine->address - base_of(machine)),
		.file = has_line ? (uint32_t)machine->file : PROGRAM_NO_FILE,
		.line = has_line ? machine->line : 0,
	};
}

/* The row that was the last one at its address is not any more. */
static void note_first(struct machine *machine, const struct program_row *row,
		       const struct program_row *next)
{
	struct program_rows *rows = machine->rows;
	size_t count = rows->firsts.count;

	if (row->file != PROGRAM_NO_FILE && (row->file != next->file || row->line != next->line) &&
	    (count == machine->sequence_firsts ||
	     rows->firsts.items[count - 1].offset != row->offset))
		*vec_push(&rows->firsts) =
			(struct program_first){row->offset, row->file, row->line};
}

/* The last of several rows at one address counts: the others have no instructions. */
static void add_row(struct machine *machine, struct program_row row)
{
	struct program_rows *rows = machine->rows;
	struct program_row *last = rows->count ? &rows->items[rows->count - 1] : NULL;

	if (last && rows->count > machine->sequence && last->offset == row.offset) {
		note_first(machine, last, &row);
		*last = row;
		return;
	}
	if (last && row.offset < last->offset) {
		machine->goes_back |= rows->count > machine->sequence;
		machine->sorted = false;
	}
	*vec_push(rows) = row;
}

static void emit_row(struct machine *machine)
{
	if (machine->rows->count == machine->sequence)
		machine->range = code_ranges_find(machine->ranges, machine->address);
	if (machine->range && machine->address - base_of(machine) <= UINT32_MAX)
		add_row(machine, make_row(machine));
}

/* A sequence that does not end where its section does, or that goes backwards, is no code. */
static void end_sequence(struct machine *machine)
{
	struct program_rows *rows = machine->rows;
	bool is_code = machine->range && rows->count > machine->sequence &&
		       machine->address >= machine->range->start &&
		       machine->address <= machine->range->end &&
		       machine->address - base_of(machine) <= UINT32_MAX;

	if (is_code) {
		struct program_row row = make_row(machine);

		row.file = PROGRAM_NO_FILE;
		row.line = 0;
		add_row(machine, row);
	}
	if (!is_code || machine->goes_back) {
		rows->count = machine->sequence;
		rows->firsts.count = machine->sequence_firsts;
	}
	reset(machine);
}

static void run_extended(struct machine *machine, struct line_program *program)
{
	struct cursor *cursor = &program->code;
	uint64_t size = cursor_uleb(cursor);
	const uint8_t *data = cursor_skip(cursor, size);
	struct cursor inside = {.at = data, .end = data ? data + size : NULL, .failed = !data};

	switch (cursor_byte(&inside)) {
	case DW_LNE_end_sequence:
		end_sequence(machine);
		break;
	case DW_LNE_set_address:
		machine->address =
			cursor_number(&inside, cursor_left(&inside) < 8 ? cursor_left(&inside) : 8);
		break;
	default: /* discriminators; DW_LNE_define_file: no compiler writes it */
		break;
	}
}

static void run_standard(struct machine *machine, struct line_program *program, unsigned opcode)
{
	struct cursor *cursor = &program->code;
	const unsigned top = 255u - program->opcode_base;

	switch (opcode) {
	case DW_LNS_copy:
		emit_row(machine);
		break;
	case DW_LNS_advance_pc:
		machine->address += cursor_uleb(cursor) * program->minimum_length;
		break;
	case DW_LNS_advance_line:
		machine->line += (uint32_t)cursor_sleb(cursor);
		break;
	case DW_LNS_set_file:
		machine->file = cursor_uleb(cursor);
		break;
	case DW_LNS_set_column:
		cursor_uleb(cursor);
		break;
	case DW_LNS_negate_stmt: /* nobody asks where statements begin */
		break;
	case DW_LNS_const_add_pc:
		machine->address += top / program->line_range * program->minimum_length;
		break;
	case DW_LNS_fixed_advance_pc:
		machine->address += cursor_number(cursor, 2);
		break;
	default:
		for (unsigned i = 0; i < program->opcode_lengths[opcode - 1]; i++)
			cursor_uleb(cursor);
		break;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct program_row *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (y->file == PROGRAM_NO_FILE) -
	       (x->file == PROGRAM_NO_FILE); /* ends before beginnings */
}

/* Rows of a table that lie together, each at or behind the one before it. */
struct sequence {
	const struct program_row *rows;
	size_t count;
};

static int compare_sequences(const void *a, const void *b)
{
	return compare_rows(((const struct sequence *)a)->rows, ((const struct sequence *)b)->rows);
}

/*
 * By address.  Sequences are many times fewer than rows, and only what a linker folded overlaps:
 * only then the rows are sorted one by one.
 */
static void sort_by_sequence(struct program_rows *rows)
{
	VEC(struct sequence) sequences = {0};
	struct program_row *sorted = xmalloc(rows->count * sizeof(*sorted));
	size_t first = 0, count = 0;
	bool overlap = false;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].file == PROGRAM_NO_FILE || i + 1 == rows->count) {
			*vec_push(&sequences) =
				(struct sequence){&rows->items[first], i + 1 - first};
			first = i + 1;
		}
	qsort(sequences.items, sequences.count, sizeof(*sequences.items), compare_sequences);
	for (size_t i = 0; i < sequences.count; i++) {
		const struct sequence *sequence = &sequences.items[i];

		overlap |= count && sorted[count - 1].offset > sequence->rows->offset;
		memcpy(&sorted[count], sequence->rows, sequence->count * sizeof(*sorted));
		count += sequence->count;
	}
	if (overlap)
		qsort(sorted, count, sizeof(*sorted), compare_rows);
	memcpy(rows->items, sorted, count * sizeof(*sorted));
	free(sorted);
	vec_fini(&sequences);
}

/* One row for each address. */
static void sort_rows(struct program_rows *rows)
{
	size_t kept = 0;

	if (rows->count)
		sort_by_sequence(rows);
	for (size_t i = 0; i < rows->count; i++) {
		if (kept && rows->items[kept - 1].offset == rows->items[i].offset)
			kept--;
		rows->items[kept++] = rows->items[i];
	}
	rows->count = kept;
}

static int compare_firsts(const void *a, const void *b)
{
	const struct program_first *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void line_program_run(const struct line_program *program, const struct code_ranges *ranges,
		      struct program_rows *rows)
{
	struct line_program running = *program;
	struct machine machine = {
		.ranges = ranges,
		.file_count = program->files.count,
		.rows = rows,
		.sorted = true,
	};

	if (!ranges->count)
		return;
	reset(&machine);
	while (cursor_left(&running.code)) {
		unsigned opcode = cursor_byte(&running.code);

		if (opcode >= program->opcode_base) {
			unsigned step = opcode - program->opcode_base;

			machine.address += step / program->line_range * program->minimum_length;
			machine.line +=
				(uint32_t)(program->line_base + (int)(step % program->line_range));
			emit_row(&machine);
		} else if (opcode) {
			run_standard(&machine, &running, opcode);
		} else {
			run_extended(&machine, &running);
		}
	}
	rows->count = machine.sequence; /* of a sequence without an end nothing is known */
	rows->firsts.count = machine.sequence_firsts;
	if (machine.sorted)
		return;
	sort_rows(rows);
	if (rows->firsts.count)
		qsort(rows->firsts.items, rows->firsts.count, sizeof(*rows->firsts.items),
		      compare_firsts);
}

const struct program_first *line_program_first(const struct program_rows *rows, uint64_t offset)
{
	size_t low = VEC_UP_TO(&rows->firsts, offset, offset);

	return low && rows->firsts.items[low - 1].offset == offset ? &rows->firsts.items[low - 1]
								   : NULL;
}

void line_program_free(struct program_rows *rows)
{
	vec_fini(rows);
	vec_fini(&rows->firsts);
}
