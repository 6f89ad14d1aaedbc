/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as text.  Fields are right-aligned under headers that stand left;
 * two blanks between columns, three before a name, the last of which is the
 * place of the '*' that marks the function of a callers-callees block.
 */
#include "print/table.h"

#include "base/strbuf.h"
#include "print/arrows.h"

#include <stdio.h>
#include <string.h>

enum { HOT_PERCENT = 5 };

#define HOT_MARK "## " /* of a listing */

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
	bool drawn = row->depth < TREE_DEPTH_DRAWN;
	uint32_t depth = drawn ? row->depth : TREE_DEPTH_DRAWN;
	size_t begin = depth ? lines->ends[depth - 1] : 0;

	memcpy(lines->text, lines->indent, begin);
	if (!drawn) {
		snprintf(lines->text + begin, sizeof(lines->text) - begin, "[%u] +-", row->depth);
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
	if (row->of) {
		strbuf_puts(line, " [");
		strbuf_put_in_line(line, row->of);
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
		if (!row || rows[row].block != rows[row - 1].block) {
			if (row)
				put_line(writer);
			put_header(writer);
		}
		put_row(writer, row);
	}
	put_line(writer);
}

static void put_part(struct writer *writer, enum row_mark mark, const char *title)
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
	put_part(writer, ROW_CALLER, "Callers");
	put_part(writer, ROW_CENTER, "Stack Fragment");
	put_part(writer, ROW_CALLEE, "Callees");
}

void table_print_text(const struct output *output, const struct table *table,
		      enum table_shape shape, const char *heading,
		      const struct segment_map *segments)
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
