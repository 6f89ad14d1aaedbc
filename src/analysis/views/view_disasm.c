/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated disassembly of one function: its source lines stand before the first instruction
 * of each.  Parts of it that the compiler moved elsewhere and that it jumps to have no instruction
 * here that calls them: a line of its own has their inclusive metrics, behind the first jump there.
 */
#include "analysis/session/symbols.h"
#include "analysis/views/listing.h"
#include "analysis/views/view_code.h"
#include "base/strbuf.h"
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>

/* A part of the function that lies elsewhere; called: by an instruction of the function. */
struct part {
	uint32_t function;
	bool is_called;
};

struct disassembly {
	struct listing *listing;
	struct isa *isa;
	uint32_t function;
	struct object *object; /* NULL: it was made at run time */
	const uint8_t *bytes;
	uint64_t address, size;
	VEC(uint64_t) instructions;
	struct line_rows rows;
	size_t row;	    /* the one of the instruction in hand */
	uint32_t last_line; /* of the file, printed */
	uint32_t context;   /* the file that the last index line spoke of */
	int line_width;	    /* digits of the greatest number of a line, at least two */
	bool is_bytecode;
	VEC(struct part) parts;
	/* groups: of each instruction by its number; then */
	uint32_t outlined;     /* of the parts that it jumps to */
	uint32_t first_target; /* of <branch target> in front of each instruction */
	uint32_t compiled; /* what of a method of Java was compiled, and is counted above, too */
	bool has_outlined; /* the line of the parts is there */
};

static void put_place(struct strbuf *text, const char *name, uint64_t offset)
{
	strbuf_puts(text, name);
	if (offset)
		strbuf_printf(text, "+0x%llx", (unsigned long long)offset);
}

static bool name_announced(const struct disassembly *code, uint64_t address, struct strbuf *text)
{
	const struct session *session = code->listing->session;

	for (uint32_t i = 0; i < session->functions.count; i++) {
		const struct function *function = &session->functions.items[i];

		if (!function->announced || address - function->address >= function->size)
			continue;
		put_place(text, listing_function_name(code->listing, i),
			  address - function->address);
		return true;
	}
	return false;
}

static bool name_address(uint64_t address, void *arg, struct strbuf *text)
{
	const struct disassembly *code = arg;
	struct object_data data;

	if (code->is_bytecode)
		return false; /* in the method itself */
	if (!code->object)
		return name_announced(code, address, text);

	uint32_t symbol = object_function_at(code->object, address);

	if (symbol != OBJECT_NO_FUNCTION) {
		put_place(text, listing_symbol_name(code->listing, symbol),
			  address - object_function(code->object, symbol)->address);
		return true;
	}
	if (!object_data_at(code->object, address, &data) || !data.mangled)
		return false;

	char *name = object_demangle(data.mangled, code->listing->query->name_style);

	put_place(text, name, address - data.address);
	free(name);
	return true;
}

/* The part of the function in which an address lies, or NULL. */
static struct part *part_at(const struct disassembly *code, uint64_t address)
{
	const struct session *session = code->listing->session;

	for (size_t i = 0; i < code->parts.count; i++) {
		const struct function *function =
			&session->functions.items[code->parts.items[i].function];

		if (address - function->address < function->size)
			return &code->parts.items[i];
	}
	return NULL;
}

/* Those with events. */
static void find_parts(struct disassembly *code)
{
	const struct code *known = code->listing->session->code;

	if (!code->object)
		return;
	code_need_parts(code->listing->session);
	for (size_t i = 0; i < known->parts.count; i++)
		if (known->parts.items[i].parent == code->function)
			*vec_push(&code->parts) =
				(struct part){.function = known->parts.items[i].function};
}

static void find_instructions(struct disassembly *code)
{
	struct isa_instruction instruction;

	find_parts(code);
	for (uint64_t offset = 0; offset < code->size; offset += instruction.length) {
		isa_decode(code->isa, code->bytes + offset, code->size - offset,
			   code->address + offset, &instruction);
		*vec_push(&code->instructions) = code->address + offset;

		struct part *part = instruction.kind == ISA_CALL && instruction.has_target
					    ? part_at(code, instruction.target)
					    : NULL;

		if (part)
			part->is_called = true;
	}
	code->outlined = (uint32_t)code->instructions.count;
	code->first_target = code->outlined + 1;
	code->compiled = code->first_target + code->outlined;
	code->listing->inclusive_only = code->outlined;
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

static bool is_outlined(const struct disassembly *code, uint32_t function)
{
	for (size_t i = 0; i < code->parts.count; i++)
		if (code->parts.items[i].function == function)
			return !code->parts.items[i].is_called;
	return false;
}

static void count_instructions(struct disassembly *code)
{
	struct listing *listing = code->listing;
	const struct code *known = listing->session->code;
	uint32_t *group = xmalloc((known->pcs.count + 1) * sizeof(*group));

	for (size_t i = 0; i < known->pcs.count; i++) {
		const struct code_pc *pc = &known->pcs.items[i];

		if (pc->function == code->function && pc->address - code->address < code->size)
			group[i] = find_instruction(code, pc->address) +
				   (pc->is_target ? code->first_target : 0);
		else
			group[i] = is_outlined(code, pc->function) ? code->outlined : NODE_NONE;
	}
	code_count(listing->tally, group, code->compiled + 1, &listing->sums);
	free(group);
	if (code->is_bytecode)
		code_count_compiled(listing->tally, code->function, code->compiled, &listing->sums);
}

/* The metrics of the source lines, of all code from there. */
static void count_lines(struct disassembly *code)
{
	struct listing *listing = code->listing;

	if (!listing->request->source_metrics || !listing->has_source)
		return;
	uint32_t *line = listing_lines_of_pcs(listing);
	uint32_t count = (uint32_t)listing->source.count;

	for (size_t i = 0; i < listing->session->code->pcs.count; i++)
		if (line[i] > count)
			line[i] = NODE_NONE;
	code_count(listing->tally, line, count + 1, &listing->line_sums);
	listing->first_line_group = code->compiled + 1;
	free(line);
}

static bool has_code(const struct disassembly *code, uint32_t line)
{
	for (size_t i = 0; i < code->rows.count; i++)
		if (code->rows.items[i].line == line &&
		    code->rows.items[i].file == code->listing->file)
			return true;
	return false;
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

	if (!listing->has_source || listing->request->no_source || !row ||
	    row->file != listing->file || row->line <= code->last_line)
		return;
	if (!code->last_line && row->line > LEAD)
		code->last_line = row->line - LEAD;
	while (code->last_line < row->line && code->last_line < listing->source.count) {
		uint32_t line = ++code->last_line;

		listing_add_source(listing, line,
				   listing->first_line_group && has_code(code, line)
					   ? listing->first_line_group + line
					   : NODE_NONE);
	}
	code->last_line = row->line;
}

/* Of a method of Java that was compiled, how much of its time that is. */
static void add_compiled(struct disassembly *code)
{
	struct listing *listing = code->listing;

	if (code->is_bytecode && listing_has_value(listing, code->compiled))
		listing_add_row(listing, ROW_INDEX, 0, code->compiled,
				arena_printf(&listing->table->arena,
					     "       %s <HotSpot-compiled leaf instructions>",
					     listing_function_name(listing, code->function)));
}

static void add_context(struct disassembly *code, const struct line_row *row)
{
	struct listing *listing = code->listing;
	uint32_t file = row ? row->file : listing->file;
	uint32_t symbol = symbols_symbol(listing->session, code->function);
	const char *name = symbol == OBJECT_NO_FUNCTION
				   ? listing_function_name(listing, code->function)
				   : listing_entry_name(listing, symbol, row ? row->line : 0);

	if (file == code->context)
		return;
	bool is_first = code->context == NODE_NONE - 1;

	code->context = file;
	if (file == listing->file)
		listing_add_index(listing, NODE_NONE, "%s", name);
	else
		listing_add_index(listing, NODE_NONE, "%s, instructions from source file %s", name,
				  code_file_name(listing->session, listing->object, file));
	if (is_first)
		add_compiled(code);
}

static void put_bytes(struct strbuf *text, const uint8_t *bytes, unsigned length)
{
	enum { WIDTH = 8 };

	for (unsigned i = 0; i < length || i < WIDTH; i++)
		strbuf_printf(text, i < length ? "%02x " : "   ", i < length ? bytes[i] : 0);
	strbuf_putc(text, ' ');
}

static bool is_jump(const struct isa_instruction *instruction)
{
	return instruction->has_target &&
	       (instruction->kind == ISA_JUMP || instruction->kind == ISA_CONDITIONAL_JUMP);
}

static void add_outlined(struct disassembly *code)
{
	if (!code->has_outlined && listing_has_value(code->listing, code->outlined))
		listing_add_row(code->listing, ROW_INDEX, 0, code->outlined,
				"       <inclusive metrics for outlined functions>");
	code->has_outlined = true;
}

/* "[line] address:  "; of bytecode the place in the method. */
static void put_head(const struct disassembly *code, const struct line_row *row, uint64_t address,
		     struct strbuf *text)
{
	if (row)
		strbuf_printf(text, "       [%*u] ", code->line_width, row->line);
	else
		strbuf_printf(text, "       [%*s] ", code->line_width, "?");
	if (code->is_bytecode)
		strbuf_printf(text, "%08llx:  ", (unsigned long long)(address - code->address));
	else
		strbuf_printf(text, "%8llx:  ", (unsigned long long)address);
}

/* An artificial instruction: what came here from somewhere, and was not of the real one. */
static void add_target(struct disassembly *code, const struct line_row *row, uint32_t index)
{
	uint32_t group = code->first_target + index;
	struct strbuf text = {0};

	if (!listing_has_value(code->listing, group))
		return;
	put_head(code, row, code->instructions.items[index], &text);
	strbuf_puts(&text, "*  <branch target>");
	listing_add_row(code->listing, ROW_INDEX, row ? row->line : 0, group,
			arena_strdup(&code->listing->table->arena, text.text));
	strbuf_fini(&text);
}

static void add_instruction(struct disassembly *code, uint32_t index)
{
	struct listing *listing = code->listing;
	uint64_t address = code->instructions.items[index];
	uint64_t offset = address - code->address;
	const struct line_row *row = row_at(code, address);
	struct isa_instruction instruction;
	struct strbuf text = {0};
	struct row_detail *detail;

	add_source_before(code, row);
	add_context(code, row);
	add_target(code, row, index);
	put_head(code, row, address, &text);
	isa_decode(code->isa, code->bytes + offset, code->size - offset, address, &instruction);
	if (listing->request->hex)
		put_bytes(&text, code->bytes + offset, instruction.length);
	isa_text(code->isa, code->bytes + offset, code->size - offset, address,
		 listing->request->intel ? ISA_INTEL : ISA_ATT, name_address, code, &instruction,
		 &text);
	detail = listing_add_row(listing, ROW_INSTRUCTION, row ? row->line : 0, index,
				 arena_strdup(&listing->table->arena, text.text));
	detail->address = address;
	if (is_jump(&instruction) && instruction.target - code->address < code->size)
		detail->target = instruction.target;
	if (is_jump(&instruction) && part_at(code, instruction.target))
		add_outlined(code);
	strbuf_fini(&text);
}

static int widest_line(const struct disassembly *code)
{
	int width = 2;

	for (size_t i = 0; i < code->rows.count; i++) {
		int digits = snprintf(NULL, 0, "%u", code->rows.items[i].line);

		width = digits > width ? digits : width;
	}
	return width;
}

static void disassemble(struct disassembly *code)
{
	struct listing *listing = code->listing;

	find_instructions(code);
	count_instructions(code);
	code_rows(listing->session, code->function, &code->rows);
	count_lines(code);
	code->line_width = widest_line(code);
	code->context = NODE_NONE - 1;
	for (uint32_t i = 0; i < code->instructions.count; i++)
		add_instruction(code, i);
	add_outlined(code);
}

/* A native method of Java has no bytecode: it is one line. */
static bool add_native(struct disassembly *code)
{
	struct listing *listing = code->listing;
	const struct code *known = listing->session->code;
	uint32_t *group = xmalloc((known->pcs.count + 1) * sizeof(*group));
	bool is_native = false;

	for (size_t i = 0; i < known->pcs.count; i++) {
		const struct code_pc *pc = &known->pcs.items[i];
		bool is_own = pc->function == code->function;

		group[i] = is_own ? 0 : NODE_NONE;
		is_native |= is_own && pc->address - code->address == FORMAT_JAVA_NATIVE;
	}
	if (is_native) {
		code_count(listing->tally, group, 1, &listing->sums);
		listing_add_row(listing, ROW_INDEX, 0, 0,
				arena_printf(&listing->table->arena,
					     "       %s <Java native method>",
					     listing_function_name(listing, code->function)));
	}
	free(group);
	return is_native;
}

static void say_no_code(const struct listing *listing, struct diag_list *diags)
{
	const struct listing_header *header = listing->header;

	diag_add(diags, DIAG_ERROR, "The code of %s cannot be read: %s is %s",
		 listing_function_name(listing, listing->request->function), header->load_object,
		 header->provenance ? header->provenance : "not there");
}

static void fill(struct tally *tally, const struct query *query, const void *arg,
		 struct table *table)
{
	const struct listing_question *question = arg;
	struct session *session = question->session;
	uint32_t number = question->request->function;
	struct listing listing = {.session = session,
				  .tally = tally,
				  .query = query,
				  .request = question->request,
				  .header = question->header,
				  .table = table};
	const struct function *function = &session->functions.items[number];
	struct disassembly code = {
		.listing = &listing,
		.function = number,
		.object = session->objects.items[function->object].object,
		.address = function->address,
		.is_bytecode = code_is_bytecode(function),
	};

	listing_begin(&listing);
	code.isa = code_isa(session, number, &table->arena);
	if (code.isa)
		code.bytes = code_bytes(session, number, &table->arena, &code.size);
	if (code.bytes)
		disassemble(&code);
	*question->done = code.bytes || (code.is_bytecode && add_native(&code));
	table->title = "Annotated disassembly";
	if (*question->done) {
		listing_finish(&listing);
	} else {
		if (question->diags)
			say_no_code(&listing, question->diags);
		listing_drop(&listing);
	}
	if (code.isa)
		isa_free(code.isa);
	vec_fini(&code.instructions);
	vec_fini(&code.rows);
	vec_fini(&code.parts);
}

bool view_disassembly(struct session *session, const struct query *query,
		      const struct listing_request *request, struct listing_header *header,
		      struct table *table, struct diag_list *diags)
{
	return listing_run(session, query, request, header, table, diags, fill);
}
