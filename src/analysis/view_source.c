/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated source: all that a load object has of one file.  Code of several functions from
 * one line is one sum; code of the file's functions that comes from elsewhere stands above.
 */
#include "analysis/listing.h"

#include <stdlib.h>

/* A function that has code from the file: where its first instruction of it is. */
struct entry {
	const char *name;
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
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void find_rows(struct source_listing *source)
{
	struct listing *listing = source->listing;
	struct session *session = listing->session;
	struct lines *lines = code_lines(session, listing->object);

	if (lines) {
		lines_of_file(lines, listing->file, &source->rows);
		return;
	}
	for (uint32_t i = 0; i < session->functions.count; i++)
		if (session->functions.items[i].announced &&
		    code_source_of(session, i) == listing->file)
			code_rows(session, i, &source->rows);
}

static void find_line_count(struct source_listing *source)
{
	source->line_count = source->listing->has_source ? source->listing->source.count : 0;
	for (size_t i = 0; i < source->rows.count; i++)
		if (source->rows.items[i].line > source->line_count)
			source->line_count = source->rows.items[i].line;
	source->has_code = xcalloc((size_t)source->line_count + 1, sizeof(bool));
	for (size_t i = 0; i < source->rows.count; i++)
		source->has_code[source->rows.items[i].line] = true;
}

/* A line may go on in what fills the room between two functions, which has no symbol. */
static bool is_padding(struct object *object, uint32_t symbol)
{
	return *object_function(object, symbol)->mangled == '<';
}

static void find_entries(struct source_listing *source)
{
	struct listing *listing = source->listing;
	struct object *object = listing->session->objects.items[listing->object].object;
	struct hash_map seen = {0};

	for (size_t i = 0; object && i < source->rows.count; i++) {
		const struct line_row *row = &source->rows.items[i];
		uint32_t symbol = object_function_at(object, row->start);

		if (symbol != OBJECT_NO_FUNCTION && row->line && !is_padding(object, symbol) &&
		    hash_map_get(&seen, symbol) == HASH_NONE) {
			hash_map_put(&seen, symbol, 0);
			*vec_push(&source->entries) =
				(struct entry){listing_entry_name(listing, symbol, row->line),
					       row->start, row->line};
		}
	}
	hash_map_fini(&seen);
}

static void find_announced_entries(struct source_listing *source)
{
	struct listing *listing = source->listing;
	struct session *session = listing->session;
	struct line_rows rows = {0};

	for (uint32_t i = 0; i < session->functions.count; i++) {
		if (!session->functions.items[i].announced ||
		    code_source_of(session, i) != listing->file)
			continue;
		rows.count = 0;
		code_rows(session, i, &rows);
		for (size_t k = 0; k < rows.count; k++) {
			if (!rows.items[k].line)
				continue;
			*vec_push(&source->entries) =
				(struct entry){listing_function_name(listing, i),
					       rows.items[k].start, rows.items[k].line};
			break;
		}
	}
	vec_fini(&rows);
}

static void find_code(struct source_listing *source)
{
	find_rows(source);
	find_line_count(source);
	if (code_lines(source->listing->session, source->listing->object))
		find_entries(source);
	else
		find_announced_entries(source);
	if (source->entries.count)
		qsort(source->entries.items, source->entries.count, sizeof(struct entry),
		      compare_entries);
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
	uint32_t *group = listing_lines_of_pcs(listing); /* line 0 is not shown: elsewhere */

	for (size_t i = 0; i < code->pcs.count; i++) {
		const struct code_pc *pc = &code->pcs.items[i];

		if (pc->object == listing->object && pc->file != listing->file &&
		    code_source_of(listing->session, pc->function) == listing->file)
			group[i] = stray_group(source, pc->function, pc->file);
	}
	code_count(listing->session, group, source->line_count + 1 + (uint32_t)source->strays.count,
		   &listing->sums);
	free(group);
}

static void add_strays(struct source_listing *source)
{
	struct listing *listing = source->listing;

	for (size_t i = 0; i < source->strays.count; i++) {
		const struct stray *stray = &source->strays.items[i];
		uint32_t group = source->line_count + 1 + (uint32_t)i;
		const char *name = listing_function_name(listing, stray->function);

		if (!listing_has_value(listing, group))
			continue;
		if (stray->file == LINES_NONE)
			listing_add_index(listing, group, "%s, instructions without line numbers",
					  name);
		else
			listing_add_index(
				listing, group, "%s, instructions from source file %s", name,
				code_file_name(listing->session, listing->object, stray->file));
	}
}

static void add_lines(struct source_listing *source)
{
	struct listing *listing = source->listing;
	size_t entry = 0;

	for (uint32_t line = 1; line <= source->line_count; line++) {
		for (; entry < source->entries.count && source->entries.items[entry].line <= line;
		     entry++)
			listing_add_index(listing, NODE_NONE, "%s",
					  source->entries.items[entry].name);
		if (source->has_code[line] || listing->has_source)
			listing_add_source(listing, line,
					   source->has_code[line] ? line : NODE_NONE);
	}
}

static void say_no_lines(const struct listing *listing, struct diag_list *diags)
{
	const char *name = listing_function_name(listing, listing->request->function);

	if (listing->session->functions.items[listing->request->function].announced)
		diag_add(diags, DIAG_ERROR,
			 "No source lines are known of %s: the program announced it without any",
			 name);
	else
		diag_add(diags, DIAG_ERROR,
			 "No source lines are known of %s: compile it with -g, or install the "
			 "debug symbols of %s",
			 name, listing->header->load_object);
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

	listing_begin(&listing);
	if (listing.file == LINES_NONE) {
		say_no_lines(&listing, diags);
		table_fini(table);
		return false;
	}
	table->title = "Annotated source";
	find_code(&source);
	count_source(&source);
	add_strays(&source);
	add_lines(&source);
	listing_finish(&listing);
	vec_fini(&source.rows);
	vec_fini(&source.entries);
	vec_fini(&source.strays);
	free(source.has_code);
	return true;
}
