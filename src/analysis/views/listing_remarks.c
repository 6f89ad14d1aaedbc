/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers say of the lines of a listing. */
#include "analysis/cache/cache_source.h"
#include "analysis/session/functions.h"
#include "analysis/views/listing.h"
#include "base/array.h"
#include "format/archive.h"
#include "isa/isa.h"
#include "object/names/name.h"

#include <stdlib.h>
#include <string.h>

enum { CALLER_MAX = 1 << 20 }; /* bytes of code in which calls of clones are looked for */

static const char *folder_of(struct arena *arena, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? arena_printf(arena, "%.*s", (int)(slash - path), path) : NULL;
}

/* What compiled the function, or one that begins in the source file; NULL: unknown. */
static const char *producer_of(const struct listing *listing, struct lines *lines)
{
	struct session *session = listing->session;
	uint32_t function = listing->request->function;
	const struct line_unit *unit = NULL;

	for (uint32_t i = FUNCTION_FIRST_REAL;
	     function == CODE_NONE && i < session->functions.count; i++)
		if (session->functions.items[i].object == listing->object &&
		    code_source_of(session, i) == listing->file)
			function = i;
	if (function != CODE_NONE && lines)
		unit = lines_unit_at(lines, session->functions.items[function].address);
	return unit ? unit->producer : NULL;
}

static void read_records(struct listing *listing, struct string_table *seen, const char *folder,
			 const char *producer)
{
	uint32_t known = seen->count;

	if (string_table_add(seen, folder) == known)
		remarks_read(&listing->remarks, folder, listing->header->source, producer);
}

/*
 * Records of the compiler are where it wrote its output: beside the source or the object file; or
 * their copies in an archive, under the same path.
 */
void listing_find_remarks(struct listing *listing)
{
	const struct session *session = listing->session;
	struct arena *arena = &listing->table->arena;
	struct lines *lines = code_lines(listing->session, listing->object);
	const struct line_file *file = lines ? lines_file(lines, listing->file) : NULL;
	const char *folders[] = {file ? file->directory : NULL,
				 folder_of(arena, session->objects.items[listing->object].path),
				 folder_of(arena, listing->header->source),
				 folder_of(arena, listing->header->source_found)};
	struct string_table seen = {0};
	const char *producer = listing->request->remarks ? producer_of(listing, lines) : NULL;

	for (size_t i = 0; listing->request->remarks && i < COUNT(folders); i++) {
		if (!folders[i])
			continue;
		read_records(listing, &seen, folders[i], producer);
		for (size_t k = 0; k < session->places.count && folders[i][0] == '/'; k++)
			read_records(listing, &seen,
				     arena_printf(arena, "%s/" FORMAT_ARCHIVE_SOURCES "%s",
						  session->places.items[k].archives, folders[i]),
				     producer);
	}
	string_table_fini(&seen);
	remarks_sort(&listing->remarks);
}

/* What the last suffix of a symbol says of the function. */
static const char *reason_of(const char *symbol, enum function_kind kind)
{
	static const struct {
		const char *suffix, *reason;
	} reasons[] = {
		{".cold", "code that seldom runs moved out of it"},
		{".part.", "code that is not inlined with the rest moved out of it"},
		{".isra.", "unused parameters removed, or values passed in place of pointers"},
		{".constprop.", "constant parameters propagated to clone"},
	};

	for (size_t i = 0; i < COUNT(reasons); i++)
		if (strstr(symbol, reasons[i].suffix))
			return reasons[i].reason;
	return kind == FUNCTION_PART ? "code moved out of it"
				     : "made for other callers or processors";
}

/* The first line where code of the function begins, be it its own or a clone's. */
static uint32_t line_of_parent(const struct source_code *code, const char *parent, uint32_t line)
{
	for (size_t i = 0; i < code->entries.count; i++) {
		const struct source_entry *entry = &code->entries.items[i];

		if (entry->line < line && entry->symbol && !strcmp(entry->symbol, parent))
			line = entry->line;
	}
	return line;
}

/* ---- clones ---- */

/* A function that the compiler made of another one. */
struct clone {
	const struct source_entry *entry;
	uint64_t start;
	char *text;
	bool is_called; /* from the file, at lines that have the remark */
};

struct clones {
	struct listing *listing;
	struct object *object;
	struct lines *lines;
	struct isa *isa;
	VEC(struct clone) items;
};

static char *clone_text(const struct listing *listing, const struct source_entry *entry,
			const char *parent, enum function_kind kind)
{
	enum name_style style = listing->query->name_style;
	char *function = object_demangle(parent, style);
	char *clone = object_demangle(entry->symbol, style);
	const char *file = strrchr(listing->header->source, '/');
	char *text = xasprintf("Function %s from source file %s is %s function %s; %s", function,
			       file ? file + 1 : listing->header->source,
			       kind == FUNCTION_PART ? "split, creating outlined"
						     : "cloned, creating cloned",
			       clone, reason_of(entry->symbol, kind));

	free(clone);
	free(function);
	return text;
}

/* A part is the function's own; a clone is there for those who call it. */
static void add_clone(struct clones *clones, const struct source_code *code,
		      const struct source_entry *entry, const char *parent, enum function_kind kind)
{
	char *text = clone_text(clones->listing, entry, parent, kind);
	uint32_t symbol = object_function_at(clones->object, entry->address);

	if (kind == FUNCTION_CLONE && clones->isa && symbol != OBJECT_NO_FUNCTION) {
		*vec_push(&clones->items) =
			(struct clone){.entry = entry,
				       .start = object_function(clones->object, symbol)->address,
				       .text = text};
		return;
	}
	remarks_add(&clones->listing->remarks, line_of_parent(code, parent, entry->line),
		    REMARK_INLINE, text);
	free(text);
}

/* At the line of the call; twice the same is one. */
static void note_call(struct clones *clones, uint64_t address, uint64_t target)
{
	struct line_row row;

	for (size_t i = 0; i < clones->items.count; i++) {
		struct clone *clone = &clones->items.items[i];

		if (clone->start != target)
			continue;
		lines_find(clones->lines, &address, 1, &row);
		if (row.file != clones->listing->file || !row.line)
			return;
		remarks_add(&clones->listing->remarks, row.line, REMARK_INLINE, clone->text);
		clone->is_called = true;
	}
}

/* What a function calls, or jumps to in place of a last call. */
static void find_calls(struct clones *clones, const struct source_entry *entry)
{
	uint32_t symbol = object_function_at(clones->object, entry->address);
	const struct object_function *function =
		symbol == OBJECT_NO_FUNCTION ? NULL : object_function(clones->object, symbol);
	size_t size = function && function->size <= CALLER_MAX ? (size_t)function->size : 0;
	uint8_t *bytes = xmalloc(size + 1);
	struct isa_instruction instruction;

	size = size ? object_code(clones->object, function->address, bytes, size) : 0;
	for (size_t at = 0; at < size; at += instruction.length) {
		isa_decode(clones->isa, bytes + at, size - at, function->address + at,
			   &instruction);
		if (instruction.has_target &&
		    (instruction.kind == ISA_CALL || instruction.kind == ISA_JUMP))
			note_call(clones, function->address + at, instruction.target);
	}
	free(bytes);
}

void listing_find_clones(struct listing *listing, const struct source_code *code)
{
	struct clones clones = {.listing = listing,
				.lines = code_lines(listing->session, listing->object),
				.object = listing->session->objects.items[listing->object].object};

	if (!listing->request->remarks || !clones.object || !clones.lines)
		return;
	clones.isa = isa_new(object_machine(clones.object));
	for (size_t i = 0; i < code->entries.count; i++) {
		const struct source_entry *entry = &code->entries.items[i];
		char *parent = NULL;
		enum function_kind kind = entry->symbol
						  ? function_name_parse(entry->symbol, &parent)
						  : FUNCTION_PLAIN;

		if (parent && (kind == FUNCTION_CLONE || kind == FUNCTION_PART))
			add_clone(&clones, code, entry, parent, kind);
		free(parent);
	}
	for (size_t i = 0; i < code->entries.count && clones.items.count; i++)
		find_calls(&clones, &code->entries.items[i]);
	for (size_t i = 0; i < clones.items.count; i++) {
		struct clone *clone = &clones.items.items[i];
		char *parent = NULL;

		function_name_parse(clone->entry->symbol, &parent);
		if (!clone->is_called) /* by other files */
			remarks_add(&listing->remarks,
				    line_of_parent(code, parent, clone->entry->line), REMARK_INLINE,
				    clone->text);
		free(parent);
		free(clone->text);
	}
	vec_fini(&clones.items);
	if (clones.isa)
		isa_free(clones.isa);
	remarks_sort(&listing->remarks);
}

void listing_add_remarks(struct listing *listing, uint32_t line)
{
	for (; listing->next_remark < listing->remarks.items.count; listing->next_remark++) {
		const struct remark *remark = &listing->remarks.items.items[listing->next_remark];

		if (remark->line > line)
			return;
		if (remark->line == line && remark->kind & listing->request->remarks)
			listing_add_row(
				listing, ROW_REMARK, line, NODE_NONE,
				arena_printf(&listing->table->arena, "       %s", remark->text));
	}
}
