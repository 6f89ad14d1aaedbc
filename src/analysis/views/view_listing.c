/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listings of code: tables whose names are the lines of a listing.  Lines with
 * code have values, zeros too; others have none.
 */
#include "analysis/code/class_path.h"
#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/compare.h"
#include "analysis/views/listing.h"
#include "analysis/views/table_rows.h"
#include "analysis/views/view_code.h"
#include "base/strbuf.h"
#include "object/names/name.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAB = 8 };

/* Of an announced function nobody knows when it was made. */
static bool is_newer(const struct listing *listing, const struct source_place *place)
{
	uint64_t made = listing->session->objects.items[listing->object].mtime;

	return made && place->mtime > made && place->origin != SOURCE_ARCHIVED &&
	       place->origin != SOURCE_DOWNLOADED;
}

static void find_source(struct listing *listing)
{
	const struct session *session = listing->session;
	const char *path = code_file(listing->session, listing->object, listing->file);
	struct source_search search = *listing->request->search;
	struct arena *arena = &listing->table->arena;
	const char **archives = arena_array(arena, const char *, session->places.count);
	const char **experiments = arena_array(arena, const char *, session->places.count);
	struct class_path class_path = {0};
	struct source_place place;

	if (*path != '/' && !session->objects.items[listing->object].is_file)
		class_path_find(session, arena, &class_path);
	for (size_t i = 0; i < session->places.count; i++) {
		archives[i] = arena_printf(arena, "%s/sources", session->places.items[i].archives);
		experiments[i] = session->places.items[i].path;
	}
	search.archives = archives;
	search.experiments = experiments;
	search.archive_count = search.experiment_count = session->places.count;
	search.class_path = class_path.items;
	search.class_path_count = class_path.count;
	source_find(&search, path, &place);
	listing->header->source = arena_strdup(arena, path);
	listing->has_source = place.path && !source_open(place.path, &listing->source);
	listing->header->source_missing = !listing->has_source;
	if (listing->has_source && place.origin != SOURCE_FOUND)
		listing->header->source_found = arena_strdup(arena, place.path);
	listing->header->source_newer = listing->has_source && is_newer(listing, &place);
	source_place_fini(&place);
	vec_fini(&class_path);
}

/* The unit of all functions whose source the file is, or NULL. */
static const char *unit_of_file(struct session *session, uint32_t object, uint32_t file)
{
	const char *found = NULL;

	for (uint32_t i = FUNCTION_FIRST_REAL; i < session->functions.count; i++) {
		if (session->functions.items[i].object != object ||
		    code_source_of(session, i) != file)
			continue;
		const char *unit = code_unit(session, i);

		if (!unit || (found && strcmp(found, unit) != 0))
			return NULL;
		found = unit;
	}
	return found;
}

void listing_begin(struct listing *listing)
{
	struct session *session = listing->session;
	const struct listing_request *request = listing->request;
	bool is_function = request->function != CODE_NONE;

	code_of(session);
	listing->object =
		is_function ? session->functions.items[request->function].object : request->object;
	listing->file = request->file == CODE_NONE && is_function
				? code_source_of(session, request->function)
				: request->file;
	table_init(listing->table, listing->query, COLUMNS_NO_STATIC);

	const struct load_object *object = &session->objects.items[listing->object];

	*listing->header = (struct listing_header){
		.load_object = object->path,
		.provenance = object->object ? object_provenance(object->object)
			      : listing->object == OBJECT_UNKNOWN	? NULL
			      : !strcmp(object->name, MAP_JAVA_CLASSES) ? "bytecode"
									: "made at run time",
		.unit = is_function ? code_unit(session, request->function)
				    : unit_of_file(session, listing->object, listing->file),
	};
	if (listing->file == LINES_NONE)
		return;
	find_source(listing);
	listing_find_remarks(listing);
}

struct row_detail *listing_add_row(struct listing *listing, enum row_kind kind, uint32_t line,
				   uint32_t group, const char *text)
{
	struct row_detail *detail = arena_new(&listing->table->arena, struct row_detail);
	struct row *row = vec_push(&listing->rows);

	detail->line = line;
	*row = (struct row){.name = text, .kind = kind, .no_values = group == NODE_NONE};
	row_set_detail(row, detail);
	*vec_push(&listing->groups) = group;
	return detail;
}

/* "   23. \tr += i;", tabs as blanks. */
void listing_add_source(struct listing *listing, uint32_t line, uint32_t group)
{
	const char *text = listing->has_source ? source_line(&listing->source, line) : NULL;
	struct strbuf out = {0};
	size_t width = 0;

	listing_add_remarks(listing, line);
	strbuf_printf(&out, "%5u. ", line);
	for (; text && *text; text++) {
		size_t blanks = *text == '\t' ? TAB - width % TAB : 0;

		for (size_t i = 0; i < blanks; i++)
			strbuf_putc(&out, ' ');
		if (!blanks)
			strbuf_putc(&out, *text);
		width += blanks ? blanks : (*text & 0xc0) != 0x80;
	}
	listing_add_row(listing, ROW_SOURCE, line, group,
			arena_strdup(&listing->table->arena, out.text ? out.text : ""));
	strbuf_fini(&out);
}

const char *listing_function_name(const struct listing *listing, uint32_t function)
{
	return symbols_name(listing->session, function, listing->query->name_style);
}

static const char *keep_name(const struct listing *listing, char *name)
{
	const char *kept = arena_strdup(&listing->table->arena, name);

	free(name);
	return kept;
}

const char *listing_symbol_name(const struct listing *listing, uint32_t symbol)
{
	struct object *object = listing->session->objects.items[listing->object].object;
	enum name_style style = listing->query->name_style;
	char *name = function_part_name(object_function(object, symbol)->mangled, style);

	return keep_name(listing, name ? name : function_display_name(object, symbol, style));
}

const char *listing_entry_name(const struct listing *listing, uint32_t symbol, uint32_t line)
{
	struct object *object = listing->session->objects.items[listing->object].object;

	return keep_name(listing,
			 function_entry_name(object, symbol, listing->query->name_style, line));
}

bool listing_has_value(const struct listing *listing, uint32_t group)
{
	const struct metric_choice any = {.metric = &values_any, .flavor = FLAVOR_INCLUSIVE};

	return code_value(&listing->sums, group, &any) > 0;
}

void listing_add_index(struct listing *listing, uint32_t group, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	listing_add_row(listing, ROW_INDEX, 0, group,
			arena_printf(&listing->table->arena, "       <Function: %s>", text));
	free(text);
}

uint32_t *listing_lines_of_pcs(const struct listing *listing)
{
	const struct code *code = listing->session->code;
	uint32_t *line = xmalloc((code->pcs.count + 1) * sizeof(*line));

	code_need_lines(listing->session, listing->object);
	for (size_t i = 0; i < code->pcs.count; i++) {
		const struct code_pc *pc = &code->pcs.items[i];

		line[i] = pc->object == listing->object && pc->file == listing->file ? pc->line : 0;
	}
	return line;
}

void listing_drop(struct listing *listing)
{
	vec_fini(&listing->rows);
	vec_fini(&listing->groups);
	code_sums_fini(&listing->sums);
	code_sums_fini(&listing->line_sums);
	remarks_fini(&listing->remarks);
	if (listing->has_source)
		source_close(&listing->source);
}

static void mark_hot(const struct listing *listing, const double *largest)
{
	struct table *table = listing->table;

	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = 0; i < table->column_count; i++) {
			double value = table->values[row * table->column_count + i];

			table->rows[row].hot |=
				value > 0 &&
				value * 100 >= largest[i] * listing->request->threshold;
		}
}

static bool has_value(const struct listing *listing, size_t row, const struct metric_choice *choice)
{
	uint32_t group = listing->groups.items[row];

	return group != NODE_NONE && !choice->metric->is_static &&
	       !(group && group == listing->inclusive_only && choice->flavor == FLAVOR_EXCLUSIVE);
}

static double value_of(const struct listing *listing, size_t row,
		       const struct metric_choice *choice)
{
	uint32_t group = listing->groups.items[row], first = listing->first_line_group;

	return first && group >= first ? code_value(&listing->line_sums, group - first, choice)
				       : code_value(&listing->sums, group, choice);
}

void listing_finish(struct listing *listing)
{
	struct table *table = listing->table;
	double *largest = arena_array(&table->arena, double, table->column_count);

	table_set_rows(table, listing->rows.count);
	for (size_t row = 0; row < table->row_count; row++) {
		table->rows[row] = listing->rows.items[row];
		for (size_t i = 0; i < table->column_count; i++) {
			double *value = &table->values[row * table->column_count + i];

			if (!has_value(listing, row, &table->columns[i].choice))
				continue;
			*value = value_of(listing, row, &table->columns[i].choice);
			if (*value > largest[i])
				largest[i] = *value;
		}
	}
	table->header = listing->header;
	mark_hot(listing, largest);
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			table->base[i] = code_total(&listing->sums, &table->columns[i].choice);
	listing_drop(listing);
}

/* ---- compared groups ---- */

/* What a group's call stacks go through: the load object itself, or one of its name. */
struct object_use {
	bool itself, namesake;
};

static struct object_use object_use_of(struct session *session, uint32_t object, uint32_t group)
{
	const struct code *code = code_of(session);
	const struct load_object *objects = session->objects.items, *own = &objects[object];
	struct object_use use = {0};

	for (size_t i = 0; i < session->scanned.count && !use.itself; i++) {
		const struct session_process *process = &session->scanned.items[i];
		size_t locations = process->process->stacks.locations.count;

		for (size_t k = 0; process->group == group && k < locations; k++) {
			uint32_t pc = code->processes.items[i][k];
			uint32_t of = pc == NODE_NONE ? object : code->pcs.items[pc].object;

			use.itself |= pc != NODE_NONE && of == object;
			use.namesake |= of != object &&
					(own->is_program ? objects[of].is_program
							 : !strcmp(objects[of].name, own->name));
		}
	}
	return use;
}

/*
 * Lines and instructions of another build are others: nothing of it is set beside these, and that
 * is said.
 */
static void leave_out_builds(struct session *session, uint32_t object, struct table *table,
			     struct diag_list *diags)
{
	for (uint32_t group = 1; group <= session_group_count(session); group++) {
		struct object_use use = object_use_of(session, object, group);

		if (use.itself || !use.namesake)
			continue;
		for (size_t i = 0; i < table->column_count; i++) {
			struct column *column = &table->columns[i];

			column->not_recorded |= column->group == group ||
						(group == 1 && column->form != COLUMN_VALUE);
		}
		diag_add(diags, DIAG_WARNING,
			 "%s is of another build of %s, whose lines and instructions are not set "
			 "beside these: `lines' compares builds, by function and line",
			 session_group_name(session, group - 1),
			 session->objects.items[object].name);
	}
}

bool listing_run(struct session *session, const struct query *query,
		 const struct listing_request *request, struct listing_header *header,
		 struct table *table, struct diag_list *diags, listing_fill *fill)
{
	struct listing_header unused;
	bool done = false, part_done;
	const struct listing_question whole = {session, request, header, diags, &done};
	const struct listing_question part = {session, request, &unused, NULL, &part_done};

	view_run(session, query, &(struct view){fill, &whole, &part, ROWS_BY_NAME, ORDER_FIXED},
		 table);
	if (!done) {
		table_fini(table);
		return false;
	}
	if (query->compare != COMPARE_OFF && session_group_count(session) > 1)
		leave_out_builds(session,
				 request->function != CODE_NONE
					 ? session->functions.items[request->function].object
					 : request->object,
				 table, diags);
	return true;
}
