/* SPDX-License-Identifier: Apache-2.0 */
#include "present/html.h"

#include "analysis/session/session.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "present/page.h"
#include "present/page_css.h"
#include "present/table.h"

#include <stdlib.h>
#include <string.h>

void html_text(FILE *file, const char *text)
{
	char *clean = utf8_clean(text);

	for (const char *at = clean; *at; at++) {
		switch (*at) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		default:
			/* characters that no document may hold */
			if ((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t')
				fputc(*at, file);
		}
	}
	free(clean);
}

void html_begin(FILE *file, const char *title, const char *css)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
	      file);
	html_text(file, title);
	fprintf(file, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n", page_css,
		css ? css : "");
}

void html_end(FILE *file)
{
	fputs("</body>\n</html>\n", file);
}

/* ---- the page of results ---- */

/* The page itself, begun where it has not been. */
static FILE *page_file(struct presenter *presenter, const struct session *session)
{
	FILE *file = presenter->page.file;

	if (!presenter->page.begun) {
		const char *target =
			session ? session_process(session, 0)->target : presenter->program;

		html_begin(file, target, NULL);
		presenter->page.begun = true;
	}
	return file;
}

/* Commands hold on to the stream: it stays, and what is in the page already is passed over. */
static void put_captured(struct presenter *presenter, const struct session *session)
{
	struct page *page = &presenter->page;

	fflush(presenter->output->file);
	if (page->size == page->done)
		return;
	FILE *file = page_file(presenter, session);

	fputs("<pre>", file);
	html_text(file, page->text + page->done);
	fputs("</pre>\n", file);
	page->done = page->size;
}

/* Without memory the text goes where it would go without a page. */
void page_capture(struct presenter *presenter)
{
	struct page *page = &presenter->page;
	FILE *memory = open_memstream(&page->text, &page->size);

	page->file = presenter->output->file;
	page->color = presenter->output->color;
	page->done = 0;
	if (memory)
		presenter->output->file = memory;
	presenter->output->color = false;
}

void page_release(struct presenter *presenter, const struct session *session)
{
	struct page *page = &presenter->page;

	if (presenter->output->file != page->file) {
		put_captured(presenter, session);
		fclose(presenter->output->file);
		free(page->text);
	}
	presenter->output->file = page->file;
	presenter->output->color = page->color;
	page->file = NULL;
	page->text = NULL;
	page->size = 0;
}

void page_end(struct presenter *presenter)
{
	if (presenter->page.begun)
		html_end(presenter->output->file);
	presenter->page.begun = false;
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

	return row && (row_block(&rows[row]) != row_block(&rows[row - 1]) ||
		       (shape == SHAPE_SINGLE && rows[row].mark != rows[row - 1].mark));
}

static void put_table(FILE *file, const struct table *table, enum table_shape shape,
		      const char *heading, const struct segment_map *segments)
{
	struct tree_lines tree = {.ends = {0}};
	struct layout layout;

	layout_init(&layout, table, segments, shape != SHAPE_LIST);
	fputs("<h2>", file);
	html_text(file, heading);
	fputs("</h2>\n<table>\n<thead>\n", file);
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

void page_put_result(struct presenter *presenter, const struct result *result,
		     const struct segment_map *segments)
{
	bool captured = presenter->page.file;

	if (!captured)
		page_capture(presenter);
	for (const struct part *part = result->first; part; part = part->next) {
		if (part->kind != PART_TABLE) {
			text_part(presenter->output, result, part, segments);
		} else if (part->audience != FOR_PROGRAMS) {
			put_captured(presenter, result->session);
			put_table(page_file(presenter, result->session), &part->table.table,
				  part->table.shape, part->table.heading, segments);
		}
	}
	if (!captured)
		page_release(presenter, result->session);
}
