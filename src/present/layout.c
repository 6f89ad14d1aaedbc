/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Widths are found before anything is printed: the widest value of a column
 * is that of its greatest number, so one scan per column suffices, and only
 * addresses have to be written out to be measured.
 */
#include "present/layout.h"

#include "analysis/views/table.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one metric: time, count, error, share. */
enum { FIELDS_MAX = 4 };

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

const char *layout_flavor_short(enum metric_flavor flavor)
{
	static const char *const texts[] = {"", "Excl.", "Incl.", "Attr."};

	return texts[flavor];
}

const char *layout_flavor_long(enum metric_flavor flavor)
{
	static const char *const texts[] = {"", "Exclusive", "Inclusive", "Attributed"};

	return texts[flavor];
}

double layout_base(const struct table *table, size_t row, size_t column)
{
	if (table->block_base)
		return table
			->block_base[row_block(&table->rows[row]) * table->column_count + column];
	return table->base ? table->base[column] : 0;
}

/* Of what was compared: "+0.300", "x 1.200". */
static size_t compared_text(char text[NUMBER_SIZE], const struct column *column,
			    enum metric_unit unit, double value)
{
	char number[NUMBER_SIZE];

	if (column->form == COLUMN_RATIO)
		return number_ratio(text, value);
	if (column->form != COLUMN_DIFFERENCE || value <= 0)
		return number_value(text, unit, value);
	number_value(number, unit, value);
	return (size_t)snprintf(text, NUMBER_SIZE, "+%.*s", NUMBER_SIZE - 2, number);
}

size_t layout_field_text(char text[NUMBER_SIZE], const struct table *table, size_t row,
			 const struct field *field, const struct segment_map *segments)
{
	double value = table->values[row * table->column_count + field->column];
	const struct column *column = &table->columns[field->column];
	const struct metric *metric = column->choice.metric;
	const char *object = row_object(&table->rows[row]);

	if (column->not_recorded && field->kind != FIELD_NAME)
		return (size_t)snprintf(text, NUMBER_SIZE, "n/a");
	switch (field->kind) {
	case FIELD_PERCENT:
		return number_percent(text, value, layout_base(table, row, field->column));
	case FIELD_ADDRESS:
		return number_address(
			text, segments && object ? segments->find(segments, object) : 0, value);
	case FIELD_NAME:
		text[0] = '\0';
		return 0;
	case FIELD_ERROR:
		return number_value(text, column->form == COLUMN_RATIO ? UNIT_RATIO : metric->unit,
				    table->errors[row * table->column_count + field->column]);
	case FIELD_TIME:
		return compared_text(text, column, UNIT_SECONDS,
				     column->form == COLUMN_RATIO ? value : value / metric->hz);
	case FIELD_VALUE:
		break;
	}
	return compared_text(text, column, metric->unit, value);
}

/* Characters, not bytes: names may be UTF-8. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* With the load object as table_text.c writes it. */
static size_t row_width(const struct row *row)
{
	return text_width(row->name) +
	       (row_qualifier(row) ? text_width(row_qualifier(row)) + strlen(" []") : 0);
}

static size_t name_width(const struct table *table)
{
	size_t width = 0;

	for (size_t row = 0; row < table->row_count; row++)
		width = larger(width, row_width(&table->rows[row]));
	return width;
}

/* The row whose number is the widest: the greatest, or the smallest when it is negative. */
static size_t field_width(const struct table *table, const struct field *field,
			  const struct segment_map *segments)
{
	char text[NUMBER_SIZE];
	size_t width = 0, extreme[2] = {0, 0};
	double most = -INFINITY, least = INFINITY;

	for (size_t row = 0; row < table->row_count; row++) {
		double value = table->values[row * table->column_count + field->column];

		if (field->kind == FIELD_ADDRESS || field->kind == FIELD_ERROR ||
		    table->columns[field->column].form == COLUMN_RATIO) {
			width = larger(width, layout_field_text(text, table, row, field, segments));
			continue;
		}
		if (field->kind == FIELD_PERCENT)
			value = number_share(value, layout_base(table, row, field->column));
		if (value > most) {
			most = value;
			extreme[0] = row;
		}
		if (value < least) {
			least = value;
			extreme[1] = row;
		}
	}
	for (size_t i = 0; table->row_count && i < 2; i++)
		width = larger(width, layout_field_text(text, table, extreme[i], field, segments));
	return width;
}

/* Puts words on lines of at most `width`; false when they do not fit. */
static bool fill_lines(char lines[LAYOUT_HEADER_LINES][LAYOUT_LINE_SIZE], const char *title,
		       const char *unit, size_t line_count, size_t width)
{
	size_t line = 0, used = 0;

	for (size_t i = 0; i < LAYOUT_HEADER_LINES; i++)
		lines[i][0] = '\0';
	while (*title) {
		size_t word = strcspn(title, " ");
		size_t wanted = used + (used > 0) + word;
		/* The last line also has to hold the unit. */
		size_t room = line + 1 == line_count && *unit ? width - strlen(unit) - 1 : width;

		if (room > width || wanted > room) {
			if (!used || ++line == line_count)
				return false;
			used = 0;
			continue;
		}
		snprintf(lines[line] + used, LAYOUT_LINE_SIZE - used, "%s%.*s", used ? " " : "",
			 (int)word, title);
		used = wanted;
		title += word + strspn(title + word, " ");
	}
	return true;
}

size_t layout_split_header(char lines[LAYOUT_HEADER_LINES][LAYOUT_LINE_SIZE], const char *title,
			   const char *unit, bool unit_apart, size_t width)
{
	size_t value_width = width;
	size_t line_count = unit_apart ? LAYOUT_HEADER_LINES - 1 : LAYOUT_HEADER_LINES;
	char *last = lines[LAYOUT_HEADER_LINES - 1];

	width = larger(width, strlen(unit));
	while (width < LAYOUT_LINE_SIZE - 1 &&
	       !fill_lines(lines, title, unit_apart ? "" : unit, line_count, width))
		width++;
	size_t used = strlen(last);

	if (used && *unit)
		snprintf(last + used, LAYOUT_LINE_SIZE - used, " %s", unit);
	else if (*unit)
		snprintf(last, LAYOUT_LINE_SIZE, "%*s", (int)value_width, unit);
	return width;
}

/* "Excl. Total CPU": times lose the word that "sec." says already. */
static char *header_title(const struct metric_choice *choice)
{
	const struct metric *metric = choice->metric;
	const char *flavor = layout_flavor_short(choice->flavor);
	size_t length = strlen(metric->title);

	if (metric->unit == UNIT_ADDRESS)
		return xstrdup("PC Addr.");
	if (metric->unit == UNIT_SECONDS && length > 5 &&
	    !strcmp(metric->title + length - 5, " Time"))
		length -= 5;
	return xasprintf("%s%s%.*s", flavor, *flavor ? " " : "", (int)length, metric->title);
}

static struct field *add_field(struct layout *layout, enum field_kind kind, size_t column)
{
	struct field *field = &layout->fields[layout->field_count++];

	field->kind = kind;
	field->column = column;
	return field;
}

static struct layout_column *add_column(struct layout *layout)
{
	struct layout_column *column = &layout->columns[layout->column_count++];

	column->first_field = layout->field_count;
	return column;
}

static void add_name(struct layout *layout, const struct table *table, size_t index)
{
	struct layout_column *column = add_column(layout);

	add_field(layout, FIELD_NAME, index)->width = 0;
	column->field_count = 1;
	snprintf(column->header[0], LAYOUT_LINE_SIZE, "Name");
}

/* What stands above a column of numbers; "" for a lone count. */
static const char *field_unit(const struct field *field, enum metric_unit unit, bool alone)
{
	if (field->kind == FIELD_PERCENT)
		return "%";
	if (field->kind == FIELD_ERROR)
		return "+-";
	if (field->kind == FIELD_TIME || unit == UNIT_SECONDS)
		return "sec.";
	return alone ? "" : "#";
}

/* The fields of a metric: its value, where it is of cycles as time or both, and its share. */
static size_t add_fields(struct layout *layout, const struct table *table, size_t index)
{
	const struct metric_choice *choice = &table->columns[index].choice;
	const struct metric *metric = choice->metric;
	bool percent = choice->visibility & VISIBLE_PERCENT && choice->flavor != FLAVOR_STATIC;
	bool time = metric->hz > 0 && choice->visibility & VISIBLE_TIME;
	bool value = choice->visibility & VISIBLE_VALUE ||
		     (!time && (!percent || choice->visibility & VISIBLE_TIME));
	size_t before = layout->field_count;

	if (time)
		add_field(layout, FIELD_TIME, index);
	if (value)
		add_field(layout, metric->unit == UNIT_ADDRESS ? FIELD_ADDRESS : FIELD_VALUE,
			  index);
	if (choice->visibility & VISIBLE_ERROR && table->errors)
		add_field(layout, FIELD_ERROR, index);
	if (percent)
		add_field(layout, FIELD_PERCENT, index);
	return layout->field_count - before;
}

static void add_numbers(struct layout *layout, const struct table *table, size_t index,
			const struct segment_map *segments)
{
	const struct metric_choice *choice = &table->columns[index].choice;
	struct layout_column *column = add_column(layout);
	struct field *fields = &layout->fields[layout->field_count];
	char units[FIELDS_MAX * NUMBER_SIZE] = "";
	char *title = header_title(choice);
	size_t used = 0;

	column->field_count = add_fields(layout, table, index);
	for (size_t i = 0; i < column->field_count; i++) {
		const char *unit =
			field_unit(&fields[i], choice->metric->unit, column->field_count == 1);
		size_t width = field_width(table, &fields[i], segments);

		if (fields[i].kind != FIELD_PERCENT)
			width = larger(width, strlen(unit));
		fields[i].width = width;
		column->width += width + (i > 0);
		used += (size_t)snprintf(units + used, sizeof(units) - used, "%s%*s", i ? " " : "",
					 column->field_count > 1 ? (int)width : 0, unit);
	}
	column->width = layout_split_header(
		column->header, title, units,
		column->field_count > 1 || fields[0].kind == FIELD_PERCENT, column->width);
	free(title);
	column->label = table->columns[index].label;
	if (!column->label)
		return;
	layout->labelled = true;
	column->width = larger(column->width, text_width(column->label));
}

void layout_init(struct layout *layout, const struct table *table,
		 const struct segment_map *segments, bool name_last)
{
	bool named = false;
	size_t name_column = 0;

	*layout = (struct layout){
		.fields = xcalloc(FIELDS_MAX * table->column_count + 1, sizeof(*layout->fields)),
		.columns = xcalloc(table->column_count + 1, sizeof(*layout->columns)),
	};
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;

		if (choice->visibility & VISIBLE_HIDDEN)
			continue;
		if (choice->metric->unit == UNIT_TEXT) {
			name_column = i;
			if (named || name_last)
				continue;
			named = true;
			add_name(layout, table, i);
		} else {
			add_numbers(layout, table, i, segments);
		}
	}
	if (!named)
		add_name(layout, table, name_column);
	for (size_t i = 0; i + 1 < layout->column_count; i++) {
		struct layout_column *column = &layout->columns[i];
		struct field *field = &layout->fields[column->first_field];

		if (field->kind == FIELD_NAME) {
			field->width = name_width(table);
			column->width = larger(field->width, strlen("Name"));
		}
	}
}

void layout_fini(struct layout *layout)
{
	free(layout->fields);
	free(layout->columns);
	*layout = (struct layout){0};
}
