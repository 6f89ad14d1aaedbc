/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for spreadsheets: every field in quotes, one character between them.
 * The header takes three rows, flavour, metric and unit; a V stands over the
 * column that the rows are sorted by.
 */
#include "present/table.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct delimited {
	FILE *file;
	char delimiter;
	bool begun; /* the line has a field */
};

/* Blanks around a number are alignment, not data. */
static void put_field(struct delimited *out, const char *prefix, const char *text)
{
	if (out->begun)
		fputc(out->delimiter, out->file);
	out->begun = true;
	fputc('"', out->file);
	fputs(prefix, out->file);
	struct strbuf shown = {0};

	strbuf_put_in_line(&shown, text); /* no name begins a line */
	for (size_t i = 0; i < shown.length; i++) {
		if (shown.text[i] == '"')
			fputc('"', out->file);
		fputc(shown.text[i], out->file);
	}
	strbuf_fini(&shown);
	fputc('"', out->file);
}

static void end_line(struct delimited *out)
{
	fputc('\n', out->file);
	out->begun = false;
}

static bool is_sort_field(const struct table *table, const struct field *field)
{
	const struct metric_choice *choice = &table->columns[field->column].choice;

	return choice->metric == table->sort.metric && choice->flavor == table->sort.flavor;
}

static void put_unit(struct delimited *out, const struct table *table, const struct field *field)
{
	static const char *const units[] = {
		[UNIT_SECONDS] = "(sec.)", [UNIT_COUNT] = "",	[UNIT_BYTES] = "(bytes)",
		[UNIT_RATIO] = "",	   [UNIT_ADDRESS] = "", [UNIT_TEXT] = "",
	};
	const char *unit = "";

	if (field->kind == FIELD_PERCENT)
		unit = "%";
	else if (field->kind == FIELD_TIME)
		unit = units[UNIT_SECONDS];
	else if (field->kind == FIELD_ERROR)
		unit = "+-";
	else if (field->kind != FIELD_NAME)
		unit = units[table->columns[field->column].choice.metric->unit];
	put_field(out, table->column_count && is_sort_field(table, field) ? "V  " : "   ", unit);
}

/* The flavour; the metric, where experiments are compared with the experiment. */
static void put_title(struct delimited *out, const struct column *column, int line)
{
	const char *title = column->choice.metric->title;

	if (!line) {
		put_field(out, "", layout_flavor_long(column->choice.flavor));
		return;
	}
	char *text = column->label ? xasprintf("%s (%s)", title, column->label) : xstrdup(title);

	put_field(out, "", text);
	free(text);
}

/* "PC Address": one word on the first row, the rest on the second, as static metrics have no
 * flavour. */
static void put_header(struct delimited *out, const struct table *table,
		       const struct layout *layout)
{
	for (int line = 0; line < LAYOUT_HEADER_LINES; line++) {
		for (size_t i = 0; i < layout->field_count; i++) {
			const struct field *field = &layout->fields[i];
			const struct metric_choice *choice =
				table->column_count ? &table->columns[field->column].choice : NULL;

			if (line == 2)
				put_unit(out, table, field);
			else if (field->kind == FIELD_NAME || !choice)
				put_field(out, "", line ? "" : "Name");
			else if (choice->flavor != FLAVOR_STATIC)
				put_title(out, &table->columns[field->column], line);
			else
				put_field(out, "", line ? "" : choice->metric->title);
		}
		end_line(out);
	}
}

static void put_name(struct delimited *out, const char *prefix, const struct row *row)
{
	char *name =
		row_qualifier(row) ? xasprintf("%s [%s]", row->name, row_qualifier(row)) : NULL;

	put_field(out, prefix, name ? name : row->name);
	free(name);
}

static void put_row(struct delimited *out, const struct table *table, const struct layout *layout,
		    size_t row, const char *prefix, const struct segment_map *segments)
{
	char text[NUMBER_SIZE];

	for (size_t i = 0; i < layout->field_count; i++) {
		const struct field *field = &layout->fields[i];

		if (field->kind == FIELD_NAME) {
			put_name(out, prefix, &table->rows[row]);
			continue;
		}
		layout_field_text(text, table, row, field, segments);
		if (table->rows[row].no_values)
			text[0] = '\0';
		text[strcspn(text, " ")] = '\0';
		put_field(out, "", text);
	}
	end_line(out);
}

void delimited_table(const struct output *output, const struct table *table, enum table_shape shape,
		     char delimiter, const struct segment_map *segments)
{
	struct delimited out = {.file = output->file, .delimiter = delimiter};
	struct tree_lines tree = {.ends = {0}};
	struct layout layout;

	layout_init(&layout, table, segments, shape != SHAPE_LIST);
	put_header(&out, table, &layout);
	for (size_t row = 0; row < table->row_count; row++) {
		const struct row *this = &table->rows[row];
		const char *prefix = this->mark == ROW_CENTER ? "*" : "";

		if (row && row_block(this) != row_block(&table->rows[row - 1]))
			end_line(&out);
		if (shape == SHAPE_TREE)
			prefix = tree_lines_next(&tree, this);
		put_row(&out, table, &layout, row, prefix, segments);
	}
	layout_fini(&layout);
}

void delimited_result(const struct output *output, const struct result *result, char delimiter,
		      const struct segment_map *segments)
{
	for (const struct part *part = result->first; part; part = part->next)
		if (part->kind == PART_TABLE && part->audience != FOR_PROGRAMS)
			delimited_table(output, &part->table.table, part->table.shape, delimiter,
					segments);
		else if (part->audience != FOR_TERMINALS)
			text_part(output, result, part, segments);
}
