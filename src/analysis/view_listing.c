/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated source and disassembly (behaviour.md 6): tables whose names are the lines of a
 * listing.  Lines with code have values, zeros too; others have none.
 */
#include "analysis/code.h"
#include "base/strbuf.h"
#include "isa/isa.h"
#include "object/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAB = 8 };

struct listing {
	struct session *session;
	const struct query *query;
	const struct listing_request *request;
	struct listing_header *header;
	struct table *table;
	uint32_t object, file; /* file: LINES_NONE where no line is known */
	struct lines *lines;
	struct source source;
	bool has_source;
	VEC(struct row) rows;
	VEC(uint32_t) groups; /* of the rows */
	struct code_sums sums;
};

/* ---- what both have in common ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static uint32_t source_file_of(const struct listing *listing, uint32_t function)
{
	const struct function *entry = &listing->session->functions.items[function];

	return listing->lines && entry->size ? lines_source_of(listing->lines, entry->address,
							       entry->address + entry->size)
					     : LINES_NONE;
}

static void find_source(struct listing *listing)
{
	const struct session *session = listing->session;
	const struct line_file *file = lines_file(listing->lines, listing->file);
	struct source_search search = *listing->request->search;
	struct arena *arena = &listing->table->arena;
	const char **archives = arena_array(arena, const char *, session->experiments.count);
	const char **experiments = arena_array(arena, const char *, session->experiments.count);
	struct source_place place;

	for (size_t i = 0; i < session->experiments.count; i++) {
		archives[i] =
			arena_printf(arena, "%s/sources", session->experiments.items[i]->archives);
		experiments[i] = session->experiments.items[i]->path;
	}
	search.archives = archives;
	search.experiments = experiments;
	search.archive_count = search.experiment_count = session->experiments.count;
	source_find(&search, file->path, &place);
	listing->header->source = arena_strdup(arena, file->path);
	listing->has_source = place.path && !source_open(place.path, &listing->source);
	listing->header->source_missing = !listing->has_source;
	if (listing->has_source && place.origin != SOURCE_FOUND)
		listing->header->source_found = arena_strdup(arena, place.path);
	source_place_fini(&place);
}

static void begin(struct listing *listing)
{
	struct session *session = listing->session;
	const struct function *function = &session->functions.items[listing->request->function];
	const struct load_object *object = &session->objects.items[function->object];
	const struct line_unit *unit;

	code_of(session);
	*listing->header = (struct listing_header){.load_object = object->path};
	listing->object = function->object;
	listing->lines = code_lines(session, function->object);
	listing->file = source_file_of(listing, listing->request->function);
	table_init(listing->table, listing->query, COLUMNS_NO_STATIC);
	if (object->object)
		listing->header->provenance = object_provenance(object->object);
	if (listing->file == LINES_NONE)
		return;
	unit = lines_unit_at(listing->lines, function->address);
	if (unit && unit->name)
		listing->header->unit = arena_strdup(&listing->table->arena, unit->name);
	find_source(listing);
}

static void add_row(struct listing *listing, enum row_kind kind, uint32_t line, uint32_t group,
		    const char *text)
{
	*vec_push(&listing->rows) = (struct row){
		.name = text, .kind = kind, .line = line, .no_values = group == NODE_NONE};
	*vec_push(&listing->groups) = group;
}

/* "   23. \tr += i;", tabs as blanks. */
static void add_source_line(struct listing *listing, uint32_t line, uint32_t group)
{
	const char *text = listing->has_source ? source_line(&listing->source, line) : NULL;
	struct strbuf out = {0};
	size_t width = 0;

	strbuf_printf(&out, "%5u. ", line);
	for (; text && *text; text++) {
		size_t blanks = *text == '\t' ? TAB - width % TAB : 0;

		for (size_t i = 0; i < blanks; i++)
			strbuf_putc(&out, ' ');
		if (!blanks)
			strbuf_putc(&out, *text);
		width += blanks ? blanks : (*text & 0xc0) != 0x80;
	}
	add_row(listing, ROW_SOURCE, line, group,
		arena_strdup(&listing->table->arena, out.text ? out.text : ""));
	strbuf_fini(&out);
}

static const char *function_name(const struct listing *listing, uint32_t function)
{
	return symbols_name(listing->session, function, listing->query->name_style);
}

static void add_index(struct listing *listing, uint32_t group, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_index(struct listing *listing, uint32_t group, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	add_row(listing, ROW_INDEX, 0, group,
		arena_printf(&listing->table->arena, "       <Function: %s>", text));
	free(text);
}

/* Moves the rows into the table, with their values, and marks the hot ones. */
static void finish(struct listing *listing)
{
	struct table *table = listing->table;
	double *largest = arena_array(&table->arena, double, table->column_count);

	table_set_rows(table, listing->rows.count);
	for (size_t row = 0; row < table->row_count; row++) {
		table->rows[row] = listing->rows.items[row];
		for (size_t i = 0; i < table->column_count; i++) {
			double *value = &table->values[row * table->column_count + i];

			if (table->rows[row].no_values ||
			    table->columns[i].choice.metric->is_static)
				continue;
			*value = code_value(&listing->sums, listing->groups.items[row],
					    &table->columns[i].choice);
			if (*value > largest[i])
				largest[i] = *value;
		}
	}
	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = 0; i < table->column_count; i++) {
			double value = table->values[row * table->column_count + i];

			table->rows[row].hot |=
				value > 0 &&
				value * 100 >= largest[i] * listing->request->threshold;
		}
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			table->base[i] = code_total(&listing->sums, &table->columns[i].choice);
	vec_fini(&listing->rows);
	vec_fini(&listing->groups);
	code_sums_fini(&listing->sums);
	if (listing->has_source)
		source_close(&listing->source);
}

/* ---- source ---- */

/* A function that has code from the file: where its first instruction of it is. */
struct entry {
	uint32_t symbol;
	uint64_t address;
	uint32_t line;
};

/* Instructions of a function of this file that are from no line, or from another file. */
struct stray {
	uint32_t function, file; /* file: LINES_NONE */
};

struct source_listing {
	struct listing *listing;
	struct line_rows rows; /* of the file */
	uint32_t line_count;   /* groups 0 … line_count are lines, then the strays */
	bool *has_code;
	VEC(struct entry) entries;
	VEC(struct stray) strays;
	uint32_t *own_files; /* by function of the session; NODE_NONE - 1: not looked up */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void find_code(struct source_listing *source)
{
	struct listing *listing = source->listing;
	struct object *object = listing->session->objects.items[listing->object].object;
	struct hash_map seen = {0};

	source->line_count = listing->has_source ? listing->source.count : 0;
	lines_of_file(listing->lines, listing->file, &source->rows);
	for (size_t i = 0; i < source->rows.count; i++)
		if (source->rows.items[i].line > source->line_count)
			source->line_count = source->rows.items[i].line;
	source->has_code = xcalloc((size_t)source->line_count + 1, sizeof(bool));
	for (size_t i = 0; i < source->rows.count; i++) {
		const struct line_row *row = &source->rows.items[i];
		uint32_t symbol = object_function_at(object, row->start);
		uint32_t fresh = (uint32_t)source->entries.count;

		source->has_code[row->line] = true;
		if (symbol != OBJECT_NO_FUNCTION && hash_map_put(&seen, symbol, fresh) == fresh)
			*vec_push(&source->entries) = (struct entry){symbol, row->start, row->line};
	}
	hash_map_fini(&seen);
	if (source->entries.count)
		qsort(source->entries.items, source->entries.count, sizeof(struct entry),
		      compare_entries);
}

static uint32_t own_file(struct source_listing *source, uint32_t function)
{
	enum { NOT_LOOKED_UP = UINT32_MAX - 1 };
	const struct session *session = source->listing->session;

	if (!source->own_files) {
		source->own_files = xmalloc(session->functions.count * sizeof(uint32_t));
		for (size_t i = 0; i < session->functions.count; i++)
			source->own_files[i] = NOT_LOOKED_UP;
	}
	if (source->own_files[function] == NOT_LOOKED_UP)
		source->own_files[function] = source_file_of(source->listing, function);
	return source->own_files[function];
}

static uint32_t stray_group(struct source_listing *source, uint32_t function, uint32_t file)
{
	size_t i = 0;

	while (i < source->strays.count && (source->strays.items[i].function != function ||
					    source->strays.items[i].file != file))
		i++;
	if (i == source->strays.count)
		*vec_push(&source->strays) = (struct stray){function, file};
	return source->line_count + 1 + (uint32_t)i;
}

static void count_source(struct source_listing *source)
{
	struct listing *listing = source->listing;
	const struct code *code = listing->session->code;
	uint32_t *group = xmalloc((code->pcs.count + 1) * sizeof(*group));

	for (size_t i = 0; i < code->pcs.count; i++) {
		const struct code_pc *pc = &code->pcs.items[i];

		group[i] = 0; /* line 0 is not shown: elsewhere */
		if (pc->object != listing->object)
			continue;
		if (pc->file == listing->file)
			group[i] = pc->line;
		else if (own_file(source, pc->function) == listing->file)
			group[i] = stray_group(source, pc->function, pc->file);
	}
	code_count(listing->session, group, source->line_count + 1 + (uint32_t)source->strays.count,
		   &listing->sums);
	free(group);
}

static bool any_value(const struct listing *listing, uint32_t group)
{
	const struct metric_choice any = {.metric = &values_any, .flavor = FLAVOR_INCLUSIVE};

	return code_value(&listing->sums, group, &any) > 0;
}

static void add_strays(struct source_listing *source)
{
	struct listing *listing = source->listing;

	for (size_t i = 0; i < source->strays.count; i++) {
		const struct stray *stray = &source->strays.items[i];
		uint32_t group = source->line_count + 1 + (uint32_t)i;
		const char *name = function_name(listing, stray->function);

		if (!any_value(listing, group))
			continue;
		if (stray->file == LINES_NONE)
			add_index(listing, group, "%s, instructions without line numbers", name);
		else
			add_index(listing, group, "%s, instructions from source file %s", name,
				  base_name(lines_file(listing->lines, stray->file)->path));
	}
}

static const char *symbol_name(const struct listing *listing, uint32_t symbol)
{
	struct object *object = listing->session->objects.items[listing->object].object;
	char *name = object_demangle(object_function(object, symbol)->mangled,
				     listing->query->name_style);
	const char *kept = arena_strdup(&listing->table->arena, name);

	free(name);
	return kept;
}

static void add_lines(struct source_listing *source)
{
	struct listing *listing = source->listing;
	size_t entry = 0;

	for (uint32_t line = 1; line <= source->line_count; line++) {
		for (; entry < source->entries.count && source->entries.items[entry].line <= line;
		     entry++)
			if (source->entries.items[entry].line)
				add_index(
					listing, NODE_NONE, "%s",
					symbol_name(listing, source->entries.items[entry].symbol));
		if (source->has_code[line] || listing->has_source)
			add_source_line(listing, line, source->has_code[line] ? line : NODE_NONE);
	}
}

bool view_source(struct session *session, const struct query *query,
		 const struct listing_request *request, struct listing_header *header,
		 struct table *table, struct diag_list *diags)
{
	struct listing listing = {.session = session,
				  .query = query,
				  .request = request,
				  .header = header,
				  .table = table};
	struct source_listing source = {.listing = &listing};

	begin(&listing);
	if (listing.file == LINES_NONE) {
		diag_add(diags, DIAG_ERROR,
			 "No source lines are known of %s: compile it with -g, or install the "
			 "debug symbols of %s",
			 function_name(&listing, request->function), header->load_object);
		table_fini(table);
		return false;
	}
	table->title = "Annotated source";
	find_code(&source);
	count_source(&source);
	add_strays(&source);
	add_lines(&source);
	finish(&listing);
	vec_fini(&source.rows);
	vec_fini(&source.entries);
	vec_fini(&source.strays);
	free(source.has_code);
	free(source.own_files);
	return true;
}

/* ---- disassembly ---- */

struct disassembly {
	struct listing *listing;
	struct isa *isa;
	struct object *object;
	const uint8_t *bytes;
	uint64_t address, size;
	VEC(uint64_t) instructions;
	struct line_rows rows;
	size_t row;	    /* the one of the instruction in hand */
	uint32_t last_line; /* of the file, printed */
	uint32_t context;   /* the file that the last index line spoke of */
};

static bool name_address(uint64_t address, void *arg, struct strbuf *text)
{
	const struct disassembly *code = arg;
	uint32_t symbol = object_function_at(code->object, address);

	if (symbol == OBJECT_NO_FUNCTION)
		return false;

	uint64_t offset = address - object_function(code->object, symbol)->address;

	strbuf_puts(text, symbol_name(code->listing, symbol));
	if (offset)
		strbuf_printf(text, "+0x%llx", (unsigned long long)offset);
	return true;
}

static void find_instructions(struct disassembly *code)
{
	struct isa_instruction instruction;

	for (uint64_t offset = 0; offset < code->size; offset += instruction.length) {
		isa_decode(code->isa, code->bytes + offset, code->size - offset,
			   code->address + offset, &instruction);
		*vec_push(&code->instructions) = code->address + offset;
	}
}

static uint32_t find_instruction(const struct disassembly *code, uint64_t address)
{
	size_t low = 0, high = code->instructions.count;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (code->instructions.items[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static void count_instructions(struct disassembly *code)
{
	struct listing *listing = code->listing;
	const struct code *known = listing->session->code;
	uint32_t *group = xmalloc((known->pcs.count + 1) * sizeof(*group));
	uint32_t elsewhere = (uint32_t)code->instructions.count;

	for (size_t i = 0; i < known->pcs.count; i++) {
		const struct code_pc *pc = &known->pcs.items[i];

		group[i] = pc->object == listing->object && pc->address - code->address < code->size
				   ? find_instruction(code, pc->address)
				   : elsewhere;
	}
	code_count(listing->session, group, elsewhere + 1, &listing->sums);
	free(group);
}

static const struct line_row *row_at(struct disassembly *code, uint64_t address)
{
	while (code->row + 1 < code->rows.count && code->rows.items[code->row].end <= address)
		code->row++;
	return code->row < code->rows.count && code->rows.items[code->row].line
		       ? &code->rows.items[code->row]
		       : NULL;
}

/* The source lines up to this one that have not been shown. */
static void add_source_before(struct disassembly *code, const struct line_row *row)
{
	enum { LEAD = 8 }; /* lines shown before the function's first */
	struct listing *listing = code->listing;

	if (!listing->has_source || !row || row->file != listing->file ||
	    row->line <= code->last_line)
		return;
	if (!code->last_line && row->line > LEAD)
		code->last_line = row->line - LEAD;
	while (code->last_line < row->line && code->last_line < listing->source.count)
		add_source_line(listing, ++code->last_line, NODE_NONE);
	code->last_line = row->line;
}

static void add_context(struct disassembly *code, const struct line_row *row)
{
	struct listing *listing = code->listing;
	uint32_t file = row ? row->file : listing->file;
	const char *name = function_name(listing, listing->request->function);

	if (file == code->context)
		return;
	code->context = file;
	if (file == listing->file)
		add_index(listing, NODE_NONE, "%s", name);
	else
		add_index(listing, NODE_NONE, "%s, instructions from source file %s", name,
			  base_name(lines_file(listing->lines, file)->path));
}

static void put_bytes(struct strbuf *text, const uint8_t *bytes, unsigned length)
{
	enum { WIDTH = 8 };

	for (unsigned i = 0; i < length || i < WIDTH; i++)
		strbuf_printf(text, i < length ? "%02x " : "   ", i < length ? bytes[i] : 0);
	strbuf_putc(text, ' ');
}

static void add_instruction(struct disassembly *code, uint32_t index)
{
	struct listing *listing = code->listing;
	uint64_t address = code->instructions.items[index];
	uint64_t offset = address - code->address;
	const struct line_row *row = row_at(code, address);
	struct isa_instruction instruction;
	struct strbuf text = {0};

	add_source_before(code, row);
	add_context(code, row);
	if (row)
		strbuf_printf(&text, "       [%2u] %8llx:  ", row->line,
			      (unsigned long long)address);
	else
		strbuf_printf(&text, "       [ ?] %8llx:  ", (unsigned long long)address);
	isa_decode(code->isa, code->bytes + offset, code->size - offset, address, &instruction);
	if (listing->request->hex)
		put_bytes(&text, code->bytes + offset, instruction.length);
	isa_text(code->isa, code->bytes + offset, code->size - offset, address,
		 listing->request->intel ? ISA_INTEL : ISA_ATT, name_address, code, &instruction,
		 &text);
	add_row(listing, ROW_INSTRUCTION, row ? row->line : 0, index,
		arena_strdup(&listing->table->arena, text.text));
	listing->rows.items[listing->rows.count - 1].address = address;
	strbuf_fini(&text);
}

static void disassemble(struct disassembly *code)
{
	struct listing *listing = code->listing;

	find_instructions(code);
	count_instructions(code);
	if (listing->lines)
		lines_in_range(listing->lines, code->address, code->address + code->size,
			       &code->rows);
	code->context = NODE_NONE - 1;
	for (uint32_t i = 0; i < code->instructions.count; i++)
		add_instruction(code, i);
}

bool view_disassembly(struct session *session, const struct query *query,
		      const struct listing_request *request, struct listing_header *header,
		      struct table *table, struct diag_list *diags)
{
	const struct function *function = &session->functions.items[request->function];
	struct listing listing = {.session = session,
				  .query = query,
				  .request = request,
				  .header = header,
				  .table = table};
	struct disassembly code = {
		.listing = &listing,
		.object = session->objects.items[function->object].object,
		.address = function->address,
		.size = function->size,
	};

	begin(&listing);
	if (code.object) {
		code.isa = isa_new(object_machine(code.object));
		code.bytes = code_bytes(session, request->function, &table->arena);
	}
	if (!code.isa || !code.bytes) {
		diag_add(diags, DIAG_ERROR, "The code of %s cannot be read: %s is %s",
			 function_name(&listing, request->function), header->load_object,
			 header->provenance ? header->provenance : "not there");
		table_fini(table);
	} else {
		table->title = "Annotated disassembly";
		disassemble(&code);
		finish(&listing);
	}
	if (code.isa)
		isa_free(code.isa);
	vec_fini(&code.instructions);
	vec_fini(&code.rows);
	return code.isa && code.bytes;
}
