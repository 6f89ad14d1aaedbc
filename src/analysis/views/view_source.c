/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated source: all that a load object has of one file.  Code of several functions from
 * one line is one sum; code of the file's functions that comes from elsewhere stands above.
 */
#include "analysis/cache/cache_source.h"
#include "analysis/views/listing.h"
#include "analysis/views/view_code.h"
#include "object/names/java_name.h"

#include <stdlib.h>
#include <string.h>

/* Instructions of a function of this file that are from no line, or from another file. */
struct stray {
	uint32_t function, file; /* file: LINES_NONE */
};

struct source_listing {
	struct listing *listing;
	struct line_rows rows;	 /* of the file, while the code is made of them */
	struct source_code code; /* groups are its lines, then the strays */
	VEC(struct stray) strays;
	struct hash_map known_strays; /* function << 32 | file → its place among them */
};

static int compare_entries(const void *a, const void *b)
{
	const struct source_entry *x = a, *y = b;

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

static int compare_lines(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Each line with code once. */
static void find_lines(struct source_listing *source)
{
	struct source_code *code = &source->code;
	struct hash_map seen = {0};

	for (size_t i = 0; i < source->rows.count; i++) {
		uint32_t line = source->rows.items[i].line;

		if (line && hash_map_get(&seen, line) == HASH_NONE) {
			hash_map_put(&seen, line, 0);
			*vec_push(&code->lines) = line;
		}
	}
	hash_map_fini(&seen);
	if (code->lines.count)
		qsort(code->lines.items, code->lines.count, sizeof(uint32_t), compare_lines);
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
			*vec_push(&source->code.entries) = (struct source_entry){
				listing_entry_name(listing, symbol, row->line),
				object_function(object, symbol)->mangled, row->start, row->line};
		}
	}
	hash_map_fini(&seen);
}

/* Of Java there are methods, in machine mode what was compiled of them instead. */
static bool is_of_mode(const struct listing *listing, uint32_t function)
{
	const struct function *entry = &listing->session->functions.items[function];

	return !java_is_method(entry->mangled) ||
	       code_is_bytecode(entry) == (listing->query->mode != VIEW_MACHINE);
}

static void find_announced_entries(struct source_listing *source)
{
	struct listing *listing = source->listing;
	struct session *session = listing->session;
	struct line_rows rows = {0};

	for (uint32_t i = 0; i < session->functions.count; i++) {
		if (!session->functions.items[i].announced || !is_of_mode(listing, i) ||
		    code_source_of(session, i) != listing->file)
			continue;
		rows.count = 0;
		code_rows(session, i, &rows);
		for (size_t k = 0; k < rows.count; k++) {
			if (!rows.items[k].line)
				continue;
			*vec_push(&source->code.entries) =
				(struct source_entry){listing_function_name(listing, i), NULL,
						      rows.items[k].start, rows.items[k].line};
			break;
		}
	}
	vec_fini(&rows);
}

static void read_code(struct source_listing *source)
{
	struct source_code *code = &source->code;

	find_rows(source);
	find_lines(source);
	if (code_lines(source->listing->session, source->listing->object))
		find_entries(source);
	else
		find_announced_entries(source);
	if (code->entries.count)
		qsort(code->entries.items, code->entries.count, sizeof(struct source_entry),
		      compare_entries);
	vec_fini(&source->rows);
}

static void find_code(struct source_listing *source)
{
	if (cache_load_source(source->listing, &source->code))
		return;
	read_code(source);
	cache_keep_source(source->listing, &source->code);
}

/* NODE_NONE: the line has no code. */
static uint32_t line_group(const struct source_listing *source, uint32_t line)
{
	const uint32_t *lines = source->code.lines.items;
	const uint32_t *found = source->code.lines.count
					? bsearch(&line, lines, source->code.lines.count,
						  sizeof(line), compare_lines)
					: NULL;

	return found ? (uint32_t)(found - lines) : NODE_NONE;
}

static uint32_t stray_group(struct source_listing *source, uint32_t function, uint32_t file)
{
	uint32_t fresh = (uint32_t)source->strays.count;
	uint32_t i = hash_map_put(&source->known_strays, (uint64_t)function << 32 | file, fresh);

	if (i == fresh)
		*vec_push(&source->strays) = (struct stray){function, file};
	return (uint32_t)source->code.lines.count + i;
}

static void count_source(struct source_listing *source)
{
	struct listing *listing = source->listing;
	const struct code *code = listing->session->code;
	uint32_t *group = listing_lines_of_pcs(listing);

	for (size_t i = 0; i < code->pcs.count; i++) {
		const struct code_pc *pc = &code->pcs.items[i];

		if (pc->object == listing->object && pc->file != listing->file &&
		    code_source_of(listing->session, pc->function) == listing->file)
			group[i] = stray_group(source, pc->function, pc->file);
		else
			group[i] = group[i] ? line_group(source, group[i]) : NODE_NONE;
	}
	code_count(listing->tally, group,
		   (uint32_t)(source->code.lines.count + source->strays.count), &listing->sums);
	free(group);
}

static void add_strays(struct source_listing *source)
{
	struct listing *listing = source->listing;

	for (size_t i = 0; i < source->strays.count; i++) {
		const struct stray *stray = &source->strays.items[i];
		uint32_t group = (uint32_t)(source->code.lines.count + i);
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

/* Several compilations of one method begin at one line. */
static bool is_repeated(const struct source_code *code, size_t entry)
{
	const struct source_entry *own = &code->entries.items[entry], *before = own - 1;

	return entry && !own->symbol && !before->symbol && own->line == before->line &&
	       !strcmp(own->name, before->name);
}

/* A line after the functions whose code begins there; lines come upwards. */
static void add_line(struct source_listing *source, uint32_t line, uint32_t group, size_t *entry)
{
	const struct source_code *code = &source->code;

	for (; *entry < code->entries.count && code->entries.items[*entry].line <= line; ++*entry)
		if (!is_repeated(code, *entry))
			listing_add_index(source->listing, NODE_NONE, "%s",
					  code->entries.items[*entry].name);
	listing_add_source(source->listing, line, group);
}

/* All lines of the source, and those with code that it does not have. */
static void add_lines(struct source_listing *source)
{
	struct listing *listing = source->listing;
	const struct source_code *code = &source->code;
	size_t count = listing->has_source ? listing->source.count : 0, entry = 0, next = 0;

	for (uint32_t line = 1; line <= count; line++) {
		bool has_code = next < code->lines.count && code->lines.items[next] == line;

		add_line(source, line, has_code ? (uint32_t)next : NODE_NONE, &entry);
		next += has_code;
	}
	for (; next < code->lines.count; next++)
		add_line(source, code->lines.items[next], (uint32_t)next, &entry);
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

static void fill(struct tally *tally, const struct query *query, const void *arg,
		 struct table *table)
{
	const struct listing_question *question = arg;
	struct listing listing = {.session = question->session,
				  .tally = tally,
				  .query = query,
				  .request = question->request,
				  .header = question->header,
				  .table = table};
	struct source_listing source = {.listing = &listing};

	listing_begin(&listing);
	*question->done = listing.file != LINES_NONE;
	if (!*question->done) {
		if (question->diags)
			say_no_lines(&listing, question->diags);
		return;
	}
	table->title = "Annotated source";
	find_code(&source);
	listing_find_clones(&listing, &source.code);
	count_source(&source);
	add_strays(&source);
	add_lines(&source);
	listing_finish(&listing);
	source_code_fini(&source.code);
	vec_fini(&source.strays);
	hash_map_fini(&source.known_strays);
}

bool view_source(struct session *session, const struct query *query,
		 const struct listing_request *request, struct listing_header *header,
		 struct table *table, struct diag_list *diags)
{
	return listing_run(session, query, request, header, table, diags, fill);
}
