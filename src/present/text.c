/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as text.  In tables fields are right-aligned under headers that stand left;
 * two blanks between columns, three before a name, the last of which is the
 * place of the '*' that marks the function of a callers-callees block.
 */
#include "present/table.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "present/arrows.h"
#include "present/stacks.h"
#include "present/timeline.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOT_PERCENT = 5 };

#define HOT_MARK "## " /* of a listing */
#define RULE	 "-------------------------------------------------------\n"

struct writer {
	const struct output *output;
	const struct table *table;
	const struct layout *layout;
	const struct segment_map *segments;
	enum table_shape shape;
	struct tree_lines tree;
	struct arrows arrows; /* of a listing on a terminal */
	struct strbuf line;
};

const char *tree_lines_next(struct tree_lines *lines, const struct row *row)
{
	bool drawn = row_depth(row) < TREE_DEPTH_DRAWN;
	uint32_t depth = drawn ? row_depth(row) : TREE_DEPTH_DRAWN;
	size_t begin = depth ? lines->ends[depth - 1] : 0;

	memcpy(lines->text, lines->indent, begin);
	if (!drawn) {
		snprintf(lines->text + begin, sizeof(lines->text) - begin, "[%u] +-",
			 row_depth(row));
		return lines->text;
	}
	snprintf(lines->text + begin, sizeof(lines->text) - begin, "+-");
	lines->ends[depth] =
		begin + (size_t)snprintf(lines->indent + begin, sizeof(lines->indent) - begin, "%s",
					 depth && !row->last_child ? "|  " : "  ");
	return lines->text;
}

static void put_blanks(struct strbuf *line, size_t count)
{
	while (count--)
		strbuf_putc(line, ' ');
}

static void put_line(struct writer *writer)
{
	struct strbuf *line = &writer->line;

	while (line->length && line->text[line->length - 1] == ' ')
		line->text[--line->length] = '\0';
	strbuf_putc(line, '\n');
	fwrite(line->text, 1, line->length, writer->output->file);
	strbuf_clear(line);
}

static bool is_name(const struct writer *writer, const struct layout_column *column)
{
	return writer->layout->fields[column->first_field].kind == FIELD_NAME;
}

/* What stands before a column: the gap, for names with the mark's place. */
static void put_gap(struct writer *writer, size_t index, char mark)
{
	if (index)
		strbuf_puts(&writer->line, "  ");
	if (is_name(writer, &writer->layout->columns[index]))
		strbuf_putc(&writer->line, mark);
}

/* Line -1 is that of the labels. */
static void put_header_line(struct writer *writer, int line)
{
	if (writer->shape == SHAPE_LISTING)
		put_blanks(&writer->line, strlen(HOT_MARK));
	for (size_t i = 0; i < writer->layout->column_count; i++) {
		const struct layout_column *column = &writer->layout->columns[i];
		const char *label = column->label ? column->label : "";
		const char *text = line < 0 ? label : column->header[line];

		put_gap(writer, i, ' ');
		size_t before = writer->line.length;

		strbuf_put_in_line(&writer->line, text);
		size_t length = writer->line.length - before;

		if (length < column->width)
			put_blanks(&writer->line, column->width - length);
	}
	put_line(writer);
}

static void put_header(struct writer *writer)
{
	output_style(writer->output, STYLE_HEADER);
	for (int line = writer->layout->labelled ? -1 : 0; line < LAYOUT_HEADER_LINES; line++)
		put_header_line(writer, line);
	output_style(writer->output, STYLE_PLAIN);
}

static void put_plain_name(struct strbuf *line, const struct row *row)
{
	strbuf_put_in_line(line, row->name);
	if (line->length && line->text[line->length - 1] == '\r') /* of a source line */
		line->text[--line->length] = '\0';
	if (row_qualifier(row)) {
		strbuf_puts(line, " [");
		strbuf_put_in_line(line, row_qualifier(row));
		strbuf_putc(line, ']');
	}
}

static void put_name(struct writer *writer, const struct row *row, size_t width)
{
	size_t begin = writer->line.length;

	if (writer->shape == SHAPE_TREE) {
		strbuf_puts(&writer->line, tree_lines_next(&writer->tree, row));
		put_plain_name(&writer->line, row);
		return;
	}
	put_plain_name(&writer->line, row);
	for (size_t i = begin; i < writer->line.length; i++)
		width -= width && (writer->line.text[i] & 0xc0) != 0x80;
	put_blanks(&writer->line, width);
}

static void put_column(struct writer *writer, size_t row, const struct layout_column *column)
{
	char text[NUMBER_SIZE];
	size_t used = 0;

	for (size_t i = 0; i < column->field_count; i++) {
		const struct field *field = &writer->layout->fields[column->first_field + i];

		if (field->kind == FIELD_NAME) {
			if (writer->arrows.width)
				strbuf_add(&writer->line, arrows_row(&writer->arrows, row),
					   writer->arrows.width);
			put_name(writer, &writer->table->rows[row], column->width);
			return;
		}
		size_t length = writer->table->rows[row].no_values
					? 0
					: layout_field_text(text, writer->table, row, field,
							    writer->segments);

		put_blanks(&writer->line, field->width - length + (i > 0));
		strbuf_add(&writer->line, text, length);
		used += field->width + (i > 0);
	}
	put_blanks(&writer->line, column->width - used);
}

static enum output_style row_style(const struct writer *writer, size_t row)
{
	const struct field *field = &writer->layout->fields[0];

	if (writer->table->rows[row].mark == ROW_CENTER)
		return STYLE_CENTER;
	if (writer->shape == SHAPE_LISTING)
		return writer->table->rows[row].hot ? STYLE_HOT : STYLE_PLAIN;
	if (field->kind == FIELD_NAME || field->kind == FIELD_ADDRESS || !row)
		return STYLE_PLAIN;
	double value = writer->table->values[row * writer->table->column_count + field->column];

	return number_share(value, layout_base(writer->table, row, field->column)) >= HOT_PERCENT
		       ? STYLE_HOT
		       : STYLE_PLAIN;
}

static void put_row(struct writer *writer, size_t row)
{
	enum output_style style = writer->output->color ? row_style(writer, row) : STYLE_PLAIN;
	char mark = writer->table->rows[row].mark == ROW_CENTER ? '*' : ' ';

	if (writer->shape == SHAPE_LISTING)
		strbuf_printf(&writer->line, "%-*s", (int)strlen(HOT_MARK),
			      writer->table->rows[row].hot ? HOT_MARK : "");
	for (size_t i = 0; i < writer->layout->column_count; i++) {
		put_gap(writer, i, mark);
		put_column(writer, row, &writer->layout->columns[i]);
	}
	if (style != STYLE_PLAIN)
		output_style(writer->output, style);
	put_line(writer);
	if (style != STYLE_PLAIN)
		output_style(writer->output, STYLE_PLAIN);
}

static void put_blocks(struct writer *writer)
{
	const struct row *rows = writer->table->rows;

	for (size_t row = 0; row < writer->table->row_count; row++) {
		if (!row || row_block(&rows[row]) != row_block(&rows[row - 1])) {
			if (row)
				put_line(writer);
			put_header(writer);
		}
		put_row(writer, row);
	}
	put_line(writer);
}

static void put_third(struct writer *writer, enum row_mark mark, const char *title)
{
	size_t width = 0;

	for (size_t i = 0; i + 1 < writer->layout->column_count; i++)
		width += writer->layout->columns[i].width + 2;
	for (size_t i = 0; i < width; i++)
		strbuf_putc(&writer->line, '=');
	strbuf_printf(&writer->line, " %s", title);
	put_line(writer);
	for (size_t row = 0; row < writer->table->row_count; row++)
		if (writer->table->rows[row].mark == mark)
			put_row(writer, row);
	put_line(writer);
}

static void put_single(struct writer *writer)
{
	put_header(writer);
	put_third(writer, ROW_CALLER, "Callers");
	put_third(writer, ROW_CENTER, "Stack Fragment");
	put_third(writer, ROW_CALLEE, "Callees");
}

void text_table(const struct output *output, const struct table *table, enum table_shape shape,
		const char *heading, const struct segment_map *segments)
{
	struct layout layout;
	struct writer writer = {
		.output = output,
		.table = table,
		.layout = &layout,
		.segments = segments,
		.shape = shape,
	};

	layout_init(&layout, table, segments, shape != SHAPE_LIST);
	output_style(output, STYLE_TITLE);
	fprintf(output->file, "%s\n", heading);
	output_style(output, STYLE_PLAIN);
	fputc('\n', output->file);
	if (shape == SHAPE_BLOCKS) {
		put_blocks(&writer);
	} else if (shape == SHAPE_SINGLE) {
		put_single(&writer);
	} else {
		if (shape == SHAPE_LISTING && output->color)
			arrows_init(&writer.arrows, table);
		if (shape != SHAPE_LISTING || layout.column_count > 1)
			put_header(&writer);
		for (size_t row = 0; row < table->row_count; row++)
			put_row(&writer, row);
		put_line(&writer);
		arrows_fini(&writer.arrows);
	}
	strbuf_fini(&writer.line);
	layout_fini(&layout);
}

/* ---- values ---- */

/* A value as people read it; numbers are written into `number`. */
static const char *shown(const struct value *value, char number[NUMBER_SIZE])
{
	switch (value->kind) {
	case VALUE_TEXT:
		return value->text;
	case VALUE_INTEGER:
		snprintf(number, NUMBER_SIZE, "%" PRId64, value->integer);
		return number;
	case VALUE_COUNT:
		snprintf(number, NUMBER_SIZE, "%" PRIu64, value->count);
		return number;
	case VALUE_REAL:
		snprintf(number, NUMBER_SIZE, "%.*f", (int)value->decimals, value->number);
		return number;
	case VALUE_FLAG:
		return value->flag ? "yes" : "no";
	case VALUE_MEASURE:
		number_value(number, value->unit, value->number);
		return number;
	case VALUE_PART:
		number_summary(number, value->unit, value->number, value->whole);
		return number;
	case VALUE_SHARE:
		number_percent(number, value->number, value->whole);
		return number;
	case VALUE_NONE:
	case VALUE_LIST:
	case VALUE_RECORD:
	case VALUE_MADE:
		break;
	}
	return "";
}

/* Blanks behind a number are alignment: without a column to stand in it has none. */
static void put_value(FILE *file, const struct value *value, int width)
{
	char number[NUMBER_SIZE], part[NUMBER_SIZE];
	const char *text = shown(value, number);

	if (value->kind == VALUE_MEASURE && !width)
		number[strcspn(number, " ")] = '\0';
	if (value->kind == VALUE_PART) /* the number before the share is what is aligned */
		width += (int)(strlen(number) - number_value(part, value->unit, value->number));
	terminal_printf(file, "%*s", width, text);
}

/* ---- facts ---- */

static bool is_read(const struct fact *fact)
{
	return fact->audience != FOR_PROGRAMS;
}

static void put_fact(FILE *file, const struct fact *fact, const struct facts_layout *layout)
{
	char number[NUMBER_SIZE];
	bool empty = !*shown(&fact->value, number);

	if (fact->label && layout->wraps &&
	    strlen(fact->label) + 2 > (size_t)abs(layout->label_width))
		terminal_printf(file, "%s\n%s%*s", fact->label, layout->before, layout->label_width,
				"");
	else if (fact->label) /* nothing ends in a blank */
		terminal_printf(file, "%*s%.*s", layout->label_width, fact->label,
				empty ? (int)strcspn(layout->assign, " ") : INT_MAX,
				layout->assign);
	put_value(file, &fact->value, fact->width);
	if (fact->suffix)
		terminal_printf(file, "%s", fact->suffix);
}

static void put_facts(FILE *file, const struct record *record, const struct facts_layout *layout)
{
	bool begun = false;

	for (size_t i = 0; i < record->count; i++) {
		if (!is_read(&record->items[i]))
			continue;
		terminal_printf(file, "%s",
				begun && layout->in_line ? layout->between : layout->before);
		put_fact(file, &record->items[i], layout);
		if (!layout->in_line)
			fputc('\n', file);
		begun = true;
	}
	if (layout->in_line && begun)
		fputc('\n', file);
}

/* ---- lists ---- */

static size_t cell_width(const struct value *value)
{
	char number[NUMBER_SIZE];

	return strlen(shown(value, number));
}

static size_t column_width(const struct part *part, size_t column)
{
	const struct list_column *of = &part->list.columns[column];
	size_t width = of->title ? strlen(of->title) : 0;

	if (of->width)
		return of->width;
	for (size_t i = column; i < part->list.cell_count; i += part->list.column_count) {
		size_t cell = cell_width(&part->list.cells[i]);

		width = cell > width ? cell : width;
	}
	return width;
}

/* The last column that is read: nothing is aligned behind it. */
static size_t last_column(const struct part *part)
{
	size_t last = 0;

	for (size_t i = 0; i < part->list.column_count; i++)
		if (part->list.columns[i].audience != FOR_PROGRAMS)
			last = i;
	return last;
}

/* A line of a list; cells NULL: the header, `rule`: what underlines it. */
static void put_list_line(FILE *file, const struct part *part, const size_t *widths,
			  const struct value *cells, bool rule)
{
	size_t last = last_column(part);

	for (size_t i = 0; i <= last; i++) {
		const struct list_column *column = &part->list.columns[i];
		char number[NUMBER_SIZE];
		int width = column->right ? (int)widths[i] : i < last ? -(int)widths[i] : 0;

		if (column->audience == FOR_PROGRAMS)
			continue;
		for (size_t k = 0; rule && k < widths[i]; k++)
			fputc(part->list.rule, file);
		if (!rule)
			terminal_printf(file, "%*s", width,
					cells		? shown(&cells[i], number)
					: column->title ? column->title
							: "");
		fputc(i < last ? ' ' : '\n', file);
	}
}

static bool has_titles(const struct part *part)
{
	bool any = false;

	for (size_t i = 0; i < part->list.column_count; i++)
		any |= part->list.columns[i].title != NULL;
	return any;
}

static void put_list(FILE *file, const struct part *part)
{
	size_t count = part->list.column_count;
	size_t *widths = xcalloc(count, sizeof(*widths));

	for (size_t i = 0; i < count; i++)
		widths[i] = column_width(part, i);
	if (has_titles(part))
		put_list_line(file, part, widths, NULL, false);
	if (part->list.ruled)
		fputs(RULE, file);
	if (part->list.rule)
		put_list_line(file, part, widths, NULL, true);
	for (size_t cell = 0; cell + count <= part->list.cell_count; cell += count)
		put_list_line(file, part, widths, &part->list.cells[cell], false);
	free(widths);
}

/* ---- parts ---- */

static void put_heading(const struct output *output, const struct part *part)
{
	if (part->heading.is_title)
		output_style(output, STYLE_TITLE);
	terminal_printf(output->file, "%s\n", part->heading.text);
	if (part->heading.is_title)
		output_style(output, STYLE_PLAIN);
	if (part->heading.ruled)
		fputs(RULE, output->file);
}

static void put_series(const struct output *output, const struct result *result,
		       const struct part *series, const struct segment_map *segments)
{
	for (size_t i = 0; i < series->series.count; i++) {
		struct result element;

		result_init(&element, result->view, result->session);
		series->series.make(&element, i, series->series.data);
		text_result(output, &element, segments);
		result_fini(&element);
	}
}

void text_part(const struct output *output, const struct result *result, const struct part *part,
	       const struct segment_map *segments)
{
	FILE *file = output->file;

	if (part->audience == FOR_PROGRAMS || (part->audience == FOR_TERMINALS && !output->color))
		return;
	switch (part->kind) {
	case PART_HEADING:
		put_heading(output, part);
		break;
	case PART_NOTE:
		terminal_printf(file, "%s\n", part->note);
		break;
	case PART_FACTS:
		put_facts(file, &part->facts.record, &part->facts.layout);
		break;
	case PART_LIST:
		put_list(file, part);
		break;
	case PART_FRAMES:
		for (size_t i = 0; i < part->frames.count; i++)
			terminal_printf(file, "%s%s\n", part->frames.indent, part->frames.names[i]);
		break;
	case PART_TABLE:
		text_table(output, &part->table.table, part->table.shape, part->table.heading,
			   segments);
		break;
	case PART_STACKS:
		stacks_text(output, &part->stacks);
		break;
	case PART_TIMELINE:
		timeline_text(output, &part->timeline);
		break;
	case PART_EVENTS:
		events_text(output, &part->events);
		break;
	case PART_SERIES:
		put_series(output, result, part, segments);
		break;
	}
}

void text_result(const struct output *output, const struct result *result,
		 const struct segment_map *segments)
{
	for (const struct part *part = result->first; part; part = part->next)
		text_part(output, result, part, segments);
}
