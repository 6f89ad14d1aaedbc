/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flamegraph: the call tree as a picture in a page of its own.
 *
 * Each frame is an <svg> inside one big <svg>, placed in percent: it cuts off its own text,
 * follows the width of the window, and zooming only changes two of its attributes.  Without
 * scripts the page still shows the graph and its tooltips.
 */
#include "analysis/session/session.h"
#include "analysis/tree/tree_objects.h"
#include "analysis/views/view_call_tree.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "present/html.h"
#include "present/number.h"
#include "print/commands/command.h"
#include "print/commands/command_tree.h"
#include "print/flamegraph_css.h"
#include "print/flamegraph_js.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_HEIGHT = 18, TINTS = 3, OBJECTS_LISTED = 12, NAME_SHOWN = 160 };

/* What a frame narrower than this is worth a zoom, not a place in the page. */
static const double least_percent = 0.05;

struct graph {
	FILE *file;
	const struct table *table; /* one column */
	struct tree_objects objects;
};

/* "1.234 s", "1234 bytes" */
static void put_value(FILE *file, const struct metric *metric, double value)
{
	static const char *const units[] = {
		[UNIT_SECONDS] = " s", [UNIT_COUNT] = "",   [UNIT_BYTES] = " bytes",
		[UNIT_RATIO] = "",     [UNIT_ADDRESS] = "", [UNIT_TEXT] = "",
	};
	char number[NUMBER_SIZE];

	number_value(number, metric->unit, value);
	number[strcspn(number, " ")] = '\0';
	fprintf(file, "%s%s", number, units[metric->unit]);
}

static void put_styles(struct graph *graph)
{
	fputs("<style>\n", graph->file);
	for (size_t i = 0; i < graph->objects.names.count; i++) {
		const char *name = graph->objects.names.items[i];

		/* what has no load object is grey */
		fprintf(graph->file, ".o%zu > rect { fill: hsl(%u %u%% 72%%); }\n", i,
			(unsigned)(hash_bytes(name, strlen(name)) % 360), *name ? 62u : 0u);
	}
	for (int i = 1; i < TINTS; i++)
		fprintf(graph->file, ".t%d > rect { fill-opacity: %.2f; }\n", i, 1 - 0.1 * i);
	fputs("</style>\n", graph->file);
}

static void put_legend(struct graph *graph)
{
	const struct metric *metric = graph->table->columns[0].choice.metric;
	double total = graph->table->base[0];
	size_t count, *order = tree_objects_ordered(&graph->objects, total * 1e-6, &count);

	fputs("<ul id=\"objects\">\n", graph->file);
	for (size_t i = 0; i < count && i < OBJECTS_LISTED; i++) {
		const char *name = graph->objects.names.items[order[i]];
		double own = graph->objects.own[order[i]];

		fprintf(graph->file,
			"<li><svg class=\"o%zu\"><rect width=\"100%%\" height=\"100%%\"/></svg>",
			order[i]);
		html_text(graph->file, *name ? name : "(no load object)");
		fputc(' ', graph->file);
		put_value(graph->file, metric, own);
		fprintf(graph->file, " (%.1f %%)</li>\n", number_share(own, total));
	}
	free(order);
	fputs("</ul>\n", graph->file);
}

static void put_frame(struct graph *graph, const struct row *row, double begin, double value)
{
	FILE *file = graph->file;
	double total = graph->table->base[0];
	char *name = xasprintf("%.*s", NAME_SHOWN, row->name);

	fprintf(file,
		"<svg class=\"o%u t%u\" data-level=\"%u\" x=\"%.4f%%\" y=\"%u\" width=\"%.4f%%\" "
		"height=\"%d\"><title>",
		string_table_find(&graph->objects.names, tree_object_name(row)),
		(unsigned)(hash_bytes(row->name, strlen(row->name)) % TINTS), row_depth(row),
		100 * begin / total, row_depth(row) * FRAME_HEIGHT, 100 * value / total,
		FRAME_HEIGHT);
	html_text(file, row->name);
	fputc('\n', file);
	if (*tree_object_name(row)) {
		html_text(file, tree_object_name(row));
		fputc('\n', file);
	}
	put_value(file, graph->table->columns[0].choice.metric, value);
	fprintf(file,
		" (%.2f %%)</title><rect width=\"100%%\" height=\"100%%\"/><text x=\"3\" "
		"y=\"13\">",
		number_share(value, total));
	html_text(file, name);
	fputs("</text></svg>\n", file);
	free(name);
}

static void put_frames(struct graph *graph)
{
	double *next = xcalloc(graph->objects.levels + 1,
			       sizeof(*next)); /* by level: where a frame begins */

	fprintf(graph->file, "<svg id=\"graph\" role=\"img\" height=\"%u\">\n",
		graph->objects.levels * FRAME_HEIGHT);
	for (size_t i = 0; i < graph->table->row_count; i++) {
		const struct row *row = &graph->table->rows[i];
		double value = graph->table->values[i], begin = next[row_depth(row)];

		if (value <= 0)
			continue;
		put_frame(graph, row, begin, value);
		next[row_depth(row)] = begin + value;
		next[row_depth(row) + 1] = begin;
	}
	fputs("</svg>\n", graph->file);
	free(next);
}

static void put_page(struct print *print, struct graph *graph, const struct tree_part *part)
{
	const struct process_info *first = session_process(print->session, 0);
	const struct metric *metric = graph->table->columns[0].choice.metric;
	FILE *file = graph->file;
	char *title = xasprintf("%s: %s", first->target, metric->title);

	html_begin(file, title, flamegraph_css);
	put_styles(graph);
	fputs("<h1>", file);
	html_text(file, title);
	fputs("</h1>\n<p>", file);
	put_value(file, metric, graph->table->base[0]);
	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);

		if (process->founder == process->id) {
			fputs(i ? ", " : " in ", file);
			html_text(file, process->name);
		}
	}
	fprintf(file,
		". %s The wider, the more; colours are load objects. What is less than %g %% is "
		"left out.</p>\n",
		part->inverted ? "Functions with what they did themselves; below each its callers."
			       : "A function stands below its caller.",
		part->percent);
	fputs("<div id=\"tools\" hidden>"
	      "<input id=\"search\" type=\"search\" placeholder=\"find functions ( / )\" "
	      "aria-label=\"find functions\">"
	      "<span id=\"found\" role=\"status\"></span>"
	      "<button id=\"whole\">whole graph (Esc)</button>"
	      "<button id=\"turn\">upside down</button></div>\n",
	      file);
	put_legend(graph);
	put_frames(graph);
	fprintf(file, "<div id=\"frame\"></div>\n<script>\n%s</script>\n", flamegraph_js);
	html_end(file);
	free(title);
}

static bool make_table(struct print *print, const struct tree_part *part, struct table *table)
{
	view_graph_tree(print->session, &print->query, part, table);
	if (table->base[0] > 0)
		return true;
	if (!print->query.sort.metric->is_static)
		say_error(print, "flamegraph: %s is 0 everywhere: choose another metric with sort",
			  table->columns[0].choice.metric->title);
	else
		say_error(print, "flamegraph: no event was recorded: helio collect -p on records "
				 "what computes");
	table_fini(table);
	return false;
}

static bool command_flamegraph(struct print *print, char **arguments, size_t count)
{
	struct tree_part part = {.percent = least_percent};
	struct graph graph = {.file = print->output.file};
	struct table table;

	if (!command_tree_part(print, "flamegraph", arguments, &count, &part) ||
	    !make_table(print, &part, &table))
		return false;
	if (count)
		graph.file = folder_write_named(arguments[0], false);
	if (!graph.file) {
		table_fini(&table);
		return say_error(print, "Unable to open file: %s: %s", arguments[0],
				 strerror(errno));
	}
	graph.table = &table;
	tree_objects_sum(&table, part.inverted, &graph.objects);
	put_page(print, &graph, &part);
	tree_objects_fini(&graph.objects);
	table_fini(&table);
	if (!count)
		return true;
	bool failed = ferror(graph.file);

	if (fclose(graph.file) || failed)
		return say_error(print, "Cannot write %s: %s", arguments[0], strerror(errno));
	say_note(print, "Flame graph written to %s", arguments[0]);
	return true;
}

const struct command command_rows_flamegraph[] = {
	{.name = "flamegraph",
	 .max_arguments = 7,
	 .group = GROUP_CALLS,
	 .arguments = "[FILE] [-inverted] [-depth N] [-percent P] [-hottest]",
	 .help = "the tree of calls as a picture, in an HTML page of its own",
	 .run = command_flamegraph,
	 .shows_paths = true,
	 .writes_itself = true,
	 .not_asked = true,
	 .sums_only = true,
	 .options = COMMAND_TREE_OPTIONS},
	{0},
};
