/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, instructions, annotated source and disassembly, and where sources are looked for. */
#include "print/commands/command_source.h"

#include "analysis/code/code_find.h"
#include "analysis/filter/filter.h"
#include "analysis/session/functions.h"
#include "analysis/views/findings.h"
#include "analysis/views/view_code.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "object/lines/remarks.h"
#include "present/number.h"
#include "present/table.h"
#include "print/commands/command.h"
#include "print/commands/command_inlines.h"
#include "print/commands/command_summary.h"
#include "print/commands/command_views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- lists ---- */

static bool print_list(struct print *print, const char *command, const char *title,
		       void (*view)(struct session *, const struct query *, struct table *))
{
	struct table table;

	view(print->session, &print->query, &table);
	char *heading = command_table_heading(title, &table, print->query.sort_reverse);

	return command_show_table(print, command, SHAPE_LIST, &table, heading);
}

static bool command_pcs(struct print *print, char **arguments, size_t count)
{
	return print_list(print, "pcs", "PCs", view_pcs);
}

static bool command_lines(struct print *print, char **arguments, size_t count)
{
	return print_list(print, "lines", "Lines", view_lines);
}

/* ---- listings ---- */

/* "Source file: a.c (found as /x/a.c)" and so on: what stands above a listing as text. */
static char *heading_of(const struct listing_header *header)
{
	const char *note = header->source_missing ? " (not found)" : "";
	char *found = header->source_found ? xasprintf(" (found as %s)", header->source_found)
					   : xstrdup(note);
	char *text = terminal_text("Source file: %s%s\nObject file: %s\nLoad Object: %s (%s)",
				   header->source ? header->source : "(unknown)", found,
				   header->unit ? header->unit : "(unknown)", header->load_object,
				   header->provenance ? header->provenance : "not there");

	free(found);
	return text;
}

/* Where to look, for a person at a terminal: a listing is often longer than a screen. */
static void add_hottest(struct result *result, const struct table *table)
{
	enum { SHOWN = 5 };
	size_t shown[SHOWN], count, column;
	struct part *line;

	count = findings_hottest_rows(table, &column, shown, SHOWN);
	if (!count)
		return;
	line = result_line(result, "Hottest: ", ", ");
	line->audience = FOR_TERMINALS;
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &table->rows[shown[i]];
		double share = number_share(table->values[shown[i] * table->column_count + column],
					    table->base[column]);
		struct value place =
			row->kind == ROW_INSTRUCTION ? value_printf(result, "%.1f %% at %" PRIx64,
								    share, row_detail(row)->address)
			: row_detail(row)->line ? value_printf(result, "%.1f %% line %u", share,
							       row_detail(row)->line)
						: value_printf(result, "%.1f %% %s", share,
							       row->name + strspn(row->name, " "));

		part_add(result, line, NULL, NULL, place);
	}
	result_gap(result)->audience = FOR_TERMINALS;
}

/* Each source once: a file has many functions. */
static void warn_of_source(struct print *print, const struct listing_header *header)
{
	uint32_t known = (uint32_t)print->code.warned.count;

	if ((!header->source_missing && !header->source_newer) ||
	    string_table_add(&print->code.warned, header->source) < known)
		return;
	if (header->source_missing)
		say_warning(print,
			    "%s is not there: say where sources are with addpath DIRECTORY or "
			    "pathmap OLD NEW",
			    header->source);
	else
		say_warning(print, "%s is newer than %s: its lines may have moved",
			    header->source_found ? header->source_found : header->source,
			    header->load_object);
}

typedef bool view_listing(struct session *session, const struct query *query,
			  const struct listing_request *request, struct listing_header *header,
			  struct table *table, struct diag_list *diags);

static bool print_listing(struct print *print, const char *command,
			  const struct listing_request *request, view_listing *view)
{
	struct listing_header header;
	struct result result;
	struct part *part;
	struct table table;
	struct diag_list diags = {0};

	if (!view(print->session, &print->query, request, &header, &table, &diags))
		return say_diags(print, &diags);

	say_diags(print, &diags);
	warn_of_source(print, &header);
	result_init(&result, command, print->session);
	part = result_table(&result, &table, SHAPE_LISTING, heading_of(&header));
	add_hottest(&result, &part->table.table);
	return print_answer(print, &result);
}

static struct source_search search_of(const struct code_settings *settings)
{
	return (struct source_search){
		.maps = settings->maps.items,
		.map_count = settings->maps.count,
		.directories = (const char *const *)settings->path.items,
		.directory_count = settings->path.count,
	};
}

bool code_print_source(struct print *print, const struct function_match *what)
{
	const struct source_search search = search_of(&print->code);
	const struct listing_request request = {.function = what->function,
						.object = what->object_id,
						.file = what->file,
						.threshold = print->code.source_threshold,
						.remarks = print->code.source_remarks,
						.search = &search};

	return print_listing(print, "source", &request, view_source);
}

/* Of a file: all its functions. */
bool code_print_disasm(struct print *print, const struct function_match *what)
{
	const struct code_settings *settings = &print->code;
	const struct source_search search = search_of(settings);
	struct listing_request request = {.function = what->function,
					  .object = what->object_id,
					  .file = CODE_NONE,
					  .threshold = settings->code_threshold,
					  .remarks = settings->code_remarks,
					  .search = &search,
					  .intel = settings->intel,
					  .hex = settings->hex,
					  .no_source = settings->no_source,
					  .source_metrics = settings->source_metrics};
	uint32_t *functions;
	size_t count;
	bool ok = true;

	if (what->function != CODE_NONE)
		return print_listing(print, "disasm", &request, view_disassembly);
	count = session_functions_of_file(print->session, what->object_id, what->file, &functions);
	for (size_t i = 0; ok && i < count; i++) {
		request.function = functions[i];
		ok = print_listing(print, "disasm", &request, view_disassembly);
	}
	free(functions);
	return ok;
}

static bool command_source(struct print *print, char **arguments, size_t count)
{
	struct function_match what;

	return command_choose_code(print, "source", arguments, count, &what) &&
	       code_print_source(print, &what);
}

/* Moves what is no option to the front. */
static size_t take_options(struct code_settings *settings, char **arguments, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		const char *option = arguments[i] + strspn(arguments[i], "-");

		if (option == arguments[i])
			arguments[left++] = arguments[i];
		settings->intel |= option != arguments[i] && !strcasecmp(option, "intel");
		settings->hex |= option != arguments[i] && !strcasecmp(option, "hex");
	}
	return left;
}

/* Its options are settings for this time. */
static bool command_disasm(struct print *print, char **arguments, size_t count)
{
	const bool intel = print->code.intel, hex = print->code.hex;
	struct function_match what;
	bool ok;

	count = take_options(&print->code, arguments, count);
	if (!count)
		ok = say_error(print, "disasm: needs a function or a source file");
	else
		ok = command_choose_code(print, "disasm", arguments, count, &what) &&
		     code_print_disasm(print, &what);
	print->code.intel = intel;
	print->code.hex = hex;
	return ok;
}

/* ---- settings ---- */

static bool set_threshold(struct print *print, const char *command, const char *text,
			  unsigned *threshold)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || value > 100)
		return say_error(print, "%s: %s is not a percentage from 0 to 100", command, text);
	*threshold = (unsigned)value;
	return true;
}

bool command_sthresh(struct print *print, char **arguments, size_t count)
{
	return set_threshold(print, "sthresh", arguments[0], &print->code.source_threshold);
}

bool command_dthresh(struct print *print, char **arguments, size_t count)
{
	return set_threshold(print, "dthresh", arguments[0], &print->code.code_threshold);
}

static const char *const inlines_words[] = {
	[INLINES_IN_TREES] = "trees", [INLINES_OFF] = "off", [INLINES_ON] = "on"};

/* False: there is no such setting. */
static bool read_inlines(const char *word, enum inlines *inlines)
{
	for (size_t i = 0; i < COUNT(inlines_words); i++)
		if (!strcasecmp(word, inlines_words[i])) {
			*inlines = (enum inlines)i;
			return true;
		}
	return false;
}

static bool command_inlines(struct print *print, char **arguments, size_t count)
{
	struct result result;

	if (!count) {
		result_init(&result, "inlines", print->session);
		part_set(&result, result_line(&result, "", ""), "inlines",
			 value_text(&result, inlines_words[print->inlines]));
		result_note(&result, "inlines %s", inlines_words[print->inlines]);
		return print_answer(print, &result);
	}
	return read_inlines(arguments[0], &print->inlines) ||
	       say_error(print, "inlines: trees, on or off, not `%s'", arguments[0]);
}

/* What a filter says of functions in stacks means the same events in all lists. */
bool command_show_inlines(struct print *print, const struct command *command)
{
	const char *filter = query_filter_text(&print->query);
	bool on_paths = command->shows_paths && !(filter && strcasestr(filter, "FNAME"));
	struct diag_list diags = {0};

	query_show_inlines(&print->query, print->session,
			   print->inlines == INLINES_ON ||
				   (print->inlines == INLINES_IN_TREES && on_paths),
			   &diags);
	return say_diags(print, &diags);
}

bool command_needs_inlines(const struct command *command, char *const *arguments, size_t count,
			   enum inlines *inlines)
{
	if (command->setting == SETS_INLINES && count)
		read_inlines(arguments[0], inlines);
	return *inlines == INLINES_ON || (*inlines == INLINES_IN_TREES && command->shows_paths);
}

static void add_directories(struct code_settings *settings, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ":");

		if (length)
			*vec_push(&settings->path) = xstrndup(list, length);
		list += length + (list[length] == ':');
	}
}

static bool command_setpath(struct print *print, char **arguments, size_t count)
{
	code_settings_empty_path(&print->code);
	add_directories(&print->code, arguments[0]);
	return true;
}

static bool command_addpath(struct print *print, char **arguments, size_t count)
{
	add_directories(&print->code, arguments[0]);
	return true;
}

static bool command_pathmap(struct print *print, char **arguments, size_t count)
{
	struct code_settings *settings = &print->code;
	struct result result;

	if (count == 1)
		return say_error(print, "pathmap: needs OLD and NEW");
	if (count == 2) {
		*vec_push(&settings->maps) = (struct source_map){
			.old_prefix = xstrdup(arguments[0]), .new_prefix = xstrdup(arguments[1])};
		return true;
	}
	result_init(&result, "pathmap", print->session);
	for (size_t i = 0; i < settings->maps.count; i++) {
		const struct source_map *map = &settings->maps.items[i];
		struct part *line = result_line(&result, "", "");

		part_set(&result, line, "old", value_text(&result, map->old_prefix));
		part_set(&result, line, "new", value_text(&result, map->new_prefix));
		result_note(&result, "%s -> %s", map->old_prefix, map->new_prefix);
	}
	return print_answer(print, &result);
}

const struct command command_rows_source[] = {
	{.name = "pcs",
	 .group = GROUP_CODE,
	 .help = "the instructions with the current metrics",
	 .run = command_pcs,
	 .code_only = true},
	{.name = "lines",
	 .group = GROUP_CODE,
	 .help = "the source lines with the current metrics",
	 .run = command_lines,
	 .code_only = true},
	{.name = "source",
	 .aliases = "src",
	 .min_arguments = 1,
	 .max_arguments = 2,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_CODE,
	 .arguments = "FUNCTION|FILE|FUNCTION'FILE' [N]",
	 .help = "a source file, that of a function for example, with metrics",
	 .run = command_source,
	 .code_only = true},
	{.name = "disasm",
	 .aliases = "dis",
	 .min_arguments = 1,
	 .max_arguments = 4,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_CODE,
	 .arguments = "[-intel] [-hex] FUNCTION|FILE [N]",
	 .help = "the instructions of a function, or of a file's functions, with metrics",
	 .run = command_disasm,
	 .code_only = true,
	 .options = "intel hex"},
	{.name = "inlines",
	 .max_arguments = 1,
	 .optional = ARGUMENT_ANY,
	 .group = GROUP_CODE,
	 .arguments = "[trees|on|off]",
	 .help = "whether inlined functions are calls: in call trees, everywhere, or nowhere",
	 .run = command_inlines,
	 .setting = SETS_INLINES,
	 .sums_only = true,
	 .no_session = true},
	{.name = "sthresh",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_CODE,
	 .arguments = "PERCENT",
	 .help = "from which share of the largest value lines of source are marked",
	 .run = command_sthresh,
	 .sums_only = true,
	 .no_session = true},
	{.name = "dthresh",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_CODE,
	 .arguments = "PERCENT",
	 .help = "the same for instructions",
	 .run = command_dthresh,
	 .sums_only = true,
	 .no_session = true},
	{.name = "setpath",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_CODE,
	 .arguments = "DIRECTORY[:DIRECTORY...]",
	 .help = "the directories in which sources are looked for",
	 .run = command_setpath,
	 .sums_only = true,
	 .no_session = true},
	{.name = "addpath",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_CODE,
	 .arguments = "DIRECTORY[:DIRECTORY...]",
	 .help = "more of these",
	 .run = command_addpath,
	 .sums_only = true,
	 .no_session = true},
	{.name = "pathmap",
	 .max_arguments = 2,
	 .optional = ARGUMENT_PATH,
	 .group = GROUP_CODE,
	 .arguments = "[OLD NEW]",
	 .help = "sources recorded below OLD are below NEW",
	 .run = command_pathmap,
	 .sums_only = true,
	 .no_session = true},
	{0},
};
