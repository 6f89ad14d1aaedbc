/* SPDX-License-Identifier: Apache-2.0 */
#include "print/page.h"

#include "base/memory.h"
#include "print/html.h"

#include <stdlib.h>
#include <string.h>

/* The page itself, begun where it has not been. */
static FILE *page_file(struct print *print)
{
	FILE *file = print->page.file;

	if (!print->page.begun) {
		const char *target = print->session ? session_process(print->session, 0)->target
						    : print->program;

		html_begin(file, target, NULL);
		print->page.begun = true;
	}
	return file;
}

/* Commands hold on to the stream: it stays, and what is in the page already is passed over. */
static void put_captured(struct print *print)
{
	struct page *page = &print->page;

	fflush(print->output.file);
	if (page->size == page->done)
		return;
	FILE *file = page_file(print);

	fputs("<pre>", file);
	html_text(file, page->text + page->done);
	fputs("</pre>\n", file);
	page->done = page->size;
}

/* Without memory the text goes where it would go without a page. */
void page_capture(struct print *print)
{
	struct page *page = &print->page;
	FILE *memory = open_memstream(&page->text, &page->size);

	page->file = print->output.file;
	page->color = print->output.color;
	page->done = 0;
	if (memory)
		print->output.file = memory;
	print->output.color = false;
}

void page_release(struct print *print)
{
	struct page *page = &print->page;

	if (print->output.file != page->file) {
		put_captured(print);
		fclose(print->output.file);
		free(page->text);
	}
	print->output.file = page->file;
	print->output.color = page->color;
	page->file = NULL;
	page->text = NULL;
	page->size = 0;
}

void page_end(struct print *print)
{
	if (print->page.begun)
		html_end(print->output.file);
	print->page.begun = false;
}

/* The lines of the text's header; blanks in front keep units over their numbers. */
static void put_header(FILE *file, const struct table *table, const struct layout *layout)
{
	fputs("<tr>", file);
	for (size_t i = 0; i < layout->column_count; i++) {
		const struct layout_column *column = &layout->columns[i];
		const struct field *field = &layout->fields[column->first_field];
		const struct metric_choice *choice =
			table->column_count ? &table->columns[field->column].choice : NULL;
		bool sorted = choice && choice->metric == table->sort.metric &&
			      choice->flavor == table->sort.flavor;

		fprintf(file, "<th class=\"%s%s\" colspan=\"%zu\">",
			field->kind == FIELD_NAME ? "name" : "value", sorted ? " sort" : "",
			column->field_count);
		if (column->label) {
			html_text(file, column->label);
			fputc('\n', file);
		}
		for (size_t line = 0; line < LAYOUT_HEADER_LINES; line++) {
			html_text(file, column->header[line]);
			if (line + 1 < LAYOUT_HEADER_LINES && column->header[line][0])
				fputc('\n', file);
		}
		fputs("</th>", file);
	}
	fputs("</tr>\n", file);
}

static void put_row(FILE *file, const struct table *table, const struct layout *layout, size_t row,
		    const char *prefix, const struct segment_map *segments)
{
	const struct row *this = &table->rows[row];
	char text[NUMBER_SIZE];

	fprintf(file, "<tr%s>",
		this->mark == ROW_CENTER ? " class=\"center\""
		: this->hot		 ? " class=\"hot\""
					 : "");
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct field *field = &layout->fields[i];

		if (field->kind == FIELD_NAME) {
			fputs("<td class=\"name\">", file);
			html_text(file, prefix);
			html_text(file, this->name);
		} else {
			layout_field_text(text, table, row, field, segments);
			fputs("<td>", file);
			if (!this->no_values)
				html_text(file, text);
		}
		fputs("</td>", file);
	}
	fputs("</tr>\n", file);
}

/* Groups of rows: blocks, and of a single block its three parts. */
static bool begins_group(const struct table *table, enum table_shape shape, size_t row)
{
	const struct row *rows = table->rows;

	return row && (rows[row].block != rows[row - 1].block ||
		       (shape == SHAPE_SINGLE && rows[row].mark != rows[row - 1].mark));
}

void page_put_table(struct print *print, const struct table *table, enum table_shape shape,
		    const char *heading, const struct segment_map *segments)
{
	struct tree_lines tree = {.ends = {0}};
	struct layout layout;

	put_captured(print);
	FILE *file = page_file(print);

	layout_init(&layout, table, segments, shape != SHAPE_LIST);
	if (heading) {
		fputs("<h2>", file);
		html_text(file, heading);
		fputs("</h2>\n", file);
	}
	fputs("<table>\n<thead>\n", file);
	put_header(file, table, &layout);
	fputs("</thead>\n<tbody>\n", file);
	for (size_t row = 0; row < table->row_count; row++) {
		if (begins_group(table, shape, row))
			fputs("</tbody>\n<tbody>\n", file);
		put_row(file, table, &layout, row,
			shape == SHAPE_TREE ? tree_lines_next(&tree, &table->rows[row]) : "",
			segments);
	}
	fputs("</tbody>\n</table>\n", file);
	layout_fini(&layout);
}
