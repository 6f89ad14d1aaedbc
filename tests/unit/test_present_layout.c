/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables made by hand, printed.  The expected texts have the layout that
 * gprofng 2.40 gave these very numbers, column by column.
 */
#include "base/memory.h"
#include "present/layout.h"
#include "present/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after the headers that it needs */
#include <cmocka.h>

static const struct metric totalcpu = {
	.command = "totalcpu", .title = "Total CPU Time", .unit = UNIT_SECONDS};
static const struct metric user = {
	.command = "user", .title = "User CPU Time", .unit = UNIT_SECONDS};
static const struct metric size = {
	.command = "size", .title = "Size", .unit = UNIT_BYTES, .is_static = true};
static const struct metric address = {
	.command = "address", .title = "PC Address", .unit = UNIT_ADDRESS, .is_static = true};
static const struct metric name = {
	.command = "name", .title = "Name", .unit = UNIT_TEXT, .is_static = true};

enum { BOTH = VISIBLE_TIME | VISIBLE_PERCENT };

static uint32_t one_segment(const struct segment_map *map, const char *path)
{
	return strcmp(path, "t") ? 1 : 2;
}

static const struct segment_map segments = {.find = one_segment};

static char *print_text(const struct table *table, enum table_shape shape, const char *heading)
{
	char *text;
	size_t length;
	struct output output = {.file = open_memstream(&text, &length)};

	text_table(&output, table, shape, heading, &segments);
	fclose(output.file);
	return text;
}

static void expect(const struct table *table, enum table_shape shape, const char *heading,
		   const char *expected)
{
	char *text = print_text(table, shape, heading);

	assert_string_equal(text, expected);
	free(text);
}

static struct row rows[] = {
	{.name = "<Total>", .origin = &(struct row_origin){.object = "?"}},
	{.name = "work", .origin = &(struct row_origin){.object = "t"}},
	{.name = "F", .origin = &(struct row_origin){.object = "t"}},
	{.name = "main", .origin = &(struct row_origin){.object = "t"}},
};

static void value_and_percent(void **state)
{
	struct column columns[] = {
		{.choice = {&totalcpu, FLAVOR_EXCLUSIVE, BOTH}},
		{.choice = {&totalcpu, FLAVOR_INCLUSIVE, BOTH}},
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
	};
	double values[] = {.320, .320, 0, .130, .130, 0, .080, .120, 0, 0, .320, 0};
	double base[] = {.320, .320, 0};
	struct table table = {.columns = columns,
			      .column_count = 3,
			      .rows = rows,
			      .row_count = 4,
			      .values = values,
			      .base = base};

	expect(&table, SHAPE_LIST, "Functions sorted by metric: Exclusive Total CPU Time",
	       "Functions sorted by metric: Exclusive Total CPU Time\n"
	       "\n"
	       "Excl. Total   Incl. Total    Name\n"
	       "CPU           CPU\n"
	       " sec.      %   sec.      %\n"
	       "0.320 100.00  0.320 100.00   <Total>\n"
	       "0.130  40.62  0.130  40.62   work\n"
	       "0.080  25.00  0.120  37.50   F\n"
	       "0.      0.    0.320 100.00   main\n"
	       "\n");
}

static void value_alone(void **state)
{
	struct column columns[] = {
		{.choice = {&totalcpu, FLAVOR_EXCLUSIVE, VISIBLE_TIME}},
		{.choice = {&totalcpu, FLAVOR_INCLUSIVE, VISIBLE_TIME}},
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
	};
	double values[] = {.320, .320, 0, .130, .130, 0};
	struct table table = {.columns = columns,
			      .column_count = 3,
			      .rows = rows,
			      .row_count = 2,
			      .values = values,
			      .base = values};

	expect(&table, SHAPE_LIST, "T",
	       "T\n"
	       "\n"
	       "Excl.     Incl.      Name\n"
	       "Total     Total\n"
	       "CPU sec.  CPU sec.\n"
	       "0.320     0.320      <Total>\n"
	       "0.130     0.130      work\n"
	       "\n");
}

static void percent_alone(void **state)
{
	struct column columns[] = {
		{.choice = {&totalcpu, FLAVOR_EXCLUSIVE, VISIBLE_PERCENT}},
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
	};
	double values[] = {.320, 0, .130, 0};
	struct table table = {.columns = columns,
			      .column_count = 2,
			      .rows = rows,
			      .row_count = 2,
			      .values = values,
			      .base = values};

	expect(&table, SHAPE_LIST, "T",
	       "T\n"
	       "\n"
	       "Excl.       Name\n"
	       "Total CPU\n"
	       "     %\n"
	       "100.00      <Total>\n"
	       " 40.62      work\n"
	       "\n");
}

static void size_and_address(void **state)
{
	struct column columns[] = {
		{.choice = {&totalcpu, FLAVOR_EXCLUSIVE, BOTH}},
		{.choice = {&size, FLAVOR_STATIC, VISIBLE_VALUE}},
		{.choice = {&address, FLAVOR_STATIC, VISIBLE_VALUE}},
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
	};
	double values[] = {.320, 0, 0, 0, .130, 60, 0x1129, 0, .080, 191, 0x116f, 0};
	double base[] = {.320, 0, 0, 0};
	struct table table = {.columns = columns,
			      .column_count = 4,
			      .rows = rows,
			      .row_count = 3,
			      .values = values,
			      .base = base};

	expect(&table, SHAPE_LIST, "T",
	       "T\n"
	       "\n"
	       "Excl. Total   Size  PC Addr.       Name\n"
	       "CPU\n"
	       " sec.      %\n"
	       "0.320 100.00    0   1:0x00000000   <Total>\n"
	       "0.130  40.62   60   2:0x00001129   work\n"
	       "0.080  25.00  191   2:0x0000116f   F\n"
	       "\n");
}

static void name_before_numbers(void **state)
{
	struct column columns[] = {
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
		{.choice = {&user, FLAVOR_EXCLUSIVE, VISIBLE_TIME}},
	};
	double values[] = {0, 12.5, 0, 3};
	struct table table = {.columns = columns,
			      .column_count = 2,
			      .rows = rows,
			      .row_count = 2,
			      .values = values,
			      .base = values};

	expect(&table, SHAPE_LIST, "T",
	       "T\n"
	       "\n"
	       " Name     Excl.\n"
	       "          User CPU\n"
	       "            sec.\n"
	       " <Total>  12.500\n"
	       " work      3.000\n"
	       "\n");
}

static void blocks(void **state)
{
	struct column columns[] = {
		{.choice = {&totalcpu, FLAVOR_ATTRIBUTED, BOTH}},
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
	};
	struct row block_rows[] = {
		{.name = "C", .place = ROW_IN_BLOCK, .block = 0, .mark = ROW_CALLER},
		{.name = "F", .place = ROW_IN_BLOCK, .block = 0, .mark = ROW_CENTER},
		{.name = "work", .place = ROW_IN_BLOCK, .block = 0, .mark = ROW_CALLEE},
		{.name = "main", .place = ROW_IN_BLOCK, .block = 1, .mark = ROW_CALLER},
		{.name = "B", .place = ROW_IN_BLOCK, .block = 1, .mark = ROW_CENTER},
	};
	double values[] = {.120, 0, .080, 0, .040, 0, .200, 0, .050, 0};
	double base[] = {.120, 0, .200, 0};
	struct table table = {.columns = columns,
			      .column_count = 2,
			      .rows = block_rows,
			      .row_count = 5,
			      .values = values,
			      .block_base = base};

	expect(&table, SHAPE_BLOCKS, "T\nU",
	       "T\nU\n"
	       "\n"
	       "Attr. Total    Name\n"
	       "CPU\n"
	       " sec.      %\n"
	       "0.120 100.00   C\n"
	       "0.080  66.67  *F\n"
	       "0.040  33.33   work\n"
	       "\n"
	       "Attr. Total    Name\n"
	       "CPU\n"
	       " sec.      %\n"
	       "0.200 100.00   main\n"
	       "0.050  25.00  *B\n"
	       "\n");
	table.row_count = 3;
	expect(&table, SHAPE_SINGLE, "T",
	       "T\n"
	       "\n"
	       "Attr. Total    Name\n"
	       "CPU\n"
	       " sec.      %\n"
	       "============== Callers\n"
	       "0.120 100.00   C\n"
	       "\n"
	       "============== Stack Fragment\n"
	       "0.080  66.67  *F\n"
	       "\n"
	       "============== Callees\n"
	       "0.040  33.33   work\n"
	       "\n");
}

/* The tree that gprofng drew, with its own numbers of a run. */
static void tree(void **state)
{
	struct column columns[] = {
		{.choice = {&totalcpu, FLAVOR_ATTRIBUTED, BOTH}},
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
	};
	struct row tree_rows[] = {
		{.name = "<Total>", .place = ROW_IN_TREE, .tree.depth = 0, .last_child = true},
		{.name = "main", .place = ROW_IN_TREE, .tree.depth = 1, .last_child = true},
		{.name = "B", .place = ROW_IN_TREE, .tree.depth = 2},
		{.name = "C", .place = ROW_IN_TREE, .tree.depth = 3, .last_child = true},
		{.name = "F", .place = ROW_IN_TREE, .tree.depth = 4},
		{.name = "work", .place = ROW_IN_TREE, .tree.depth = 5, .last_child = true},
		{.name = "E", .place = ROW_IN_TREE, .tree.depth = 4, .last_child = true},
		{.name = "A", .place = ROW_IN_TREE, .tree.depth = 2, .last_child = true},
		{.name = "C", .place = ROW_IN_TREE, .tree.depth = 3, .last_child = true},
	};
	double values[] = {.320, 0,    .320, 0,	   .200, 0,    .14999, 0,    .070,
			   0,	 .030, 0,    .050, 0,	 .120, 0,      .120, 0};
	double base[] = {.320, 0};
	struct table table = {.columns = columns,
			      .column_count = 2,
			      .rows = tree_rows,
			      .row_count = 9,
			      .values = values,
			      .base = base};

	expect(&table, SHAPE_TREE, "T",
	       "T\n"
	       "\n"
	       "Attr. Total    Name\n"
	       "CPU\n"
	       " sec.      %\n"
	       "0.320 100.00   +-<Total>\n"
	       "0.320 100.00     +-main\n"
	       "0.200  62.50       +-B\n"
	       "0.150  46.87       |  +-C\n"
	       "0.070  21.88       |    +-F\n"
	       "0.030   9.38       |    |  +-work\n"
	       "0.050  15.62       |    +-E\n"
	       "0.120  37.50       +-A\n"
	       "0.120  37.50         +-C\n"
	       "\n");
}

/* Beyond the depth that is drawn the depth is written, and lines stop growing. */
static void deep_tree(void **state)
{
	struct tree_lines lines = {.ends = {0}};
	size_t deepest = 0;
	const char *text = NULL;

	for (uint32_t depth = 0; depth < 10000; depth++) {
		const struct row row = {
			.name = "f", .place = ROW_IN_TREE, .tree.depth = depth, .last_child = true};

		text = tree_lines_next(&lines, &row);
		deepest = strlen(text) > deepest ? strlen(text) : deepest;
	}
	assert_non_null(strstr(text, "[9999] +-"));
	assert_true(deepest < 3 * TREE_DEPTH_DRAWN + 32);
	const struct row back = {
		.name = "g", .place = ROW_IN_TREE, .tree.depth = 1, .last_child = true};

	assert_string_equal(tree_lines_next(&lines, &back), "  +-");
}

static void delimited(void **state)
{
	struct column columns[] = {
		{.choice = {&totalcpu, FLAVOR_EXCLUSIVE, BOTH}},
		{.choice = {&totalcpu, FLAVOR_INCLUSIVE, VISIBLE_TIME}},
		{.choice = {&size, FLAVOR_STATIC, VISIBLE_VALUE}},
		{.choice = {&name, FLAVOR_STATIC, VISIBLE_VALUE}},
	};
	struct row quoted[] = {{.name = "<Total>"}, {.name = "operator\"\" _s,\nx"}};
	double values[] = {.320, .320, 0, 0, 0, .130, 60, 0};
	double base[] = {.320, .320, 0, 0};
	struct table table = {.columns = columns,
			      .column_count = 4,
			      .rows = quoted,
			      .row_count = 2,
			      .values = values,
			      .base = base,
			      .sort = {&totalcpu, FLAVOR_EXCLUSIVE, BOTH}};
	char *text;
	size_t length;
	struct output output = {.file = open_memstream(&text, &length)};

	delimited_table(&output, &table, SHAPE_LIST, ',', &segments);
	fclose(output.file);
	assert_string_equal(text,
			    "\"Exclusive\",\"Exclusive\",\"Inclusive\",\"Size\",\"Name\"\n"
			    "\"Total CPU Time\",\"Total CPU Time\",\"Total CPU Time\",\"\",\"\"\n"
			    "\"V  (sec.)\",\"V  %\",\"   (sec.)\",\"   (bytes)\",\"   \"\n"
			    "\"0.320\",\"100.00\",\"0.320\",\"0\",\"<Total>\"\n"
			    "\"0.\",\"0.\",\"0.130\",\"60\",\"operator\"\"\"\" _s,\\x0ax\"\n");
	free(text);
}

static void numbers(void **state)
{
	char text[NUMBER_SIZE];

	number_value(text, UNIT_SECONDS, 0);
	assert_string_equal(text, "0.   ");
	number_value(text, UNIT_SECONDS, 1e-9); /* almost nothing is not nothing */
	assert_string_equal(text, "0.000");
	number_value(text, UNIT_COUNT, 4294967296.0);
	assert_string_equal(text, "4294967296");
	number_percent(text, 1, 0);
	assert_string_equal(text, "0.  ");
	number_summary(text, UNIT_SECONDS, .320, .320);
	assert_string_equal(text, "0.320 (100.0%)");
	number_summary(text, UNIT_SECONDS, 0, .320);
	assert_string_equal(text, "0.    (  0. %)");
	number_address(text, 3, 0x271c1);
	assert_string_equal(text, "3:0x000271c1");
}

/* No row, no number, no name column: nothing to break. */
static void empty(void **state)
{
	struct column columns[] = {{.choice = {&totalcpu, FLAVOR_EXCLUSIVE, BOTH}}};
	struct table table = {.columns = columns, .column_count = 1};

	char *list = print_text(&table, SHAPE_LIST, "T");

	table.column_count = 0;
	char *block = print_text(&table, SHAPE_BLOCKS, "T");

	assert_non_null(strstr(list, "Name\n"));
	assert_string_equal(block, "T\n\n\n");
	free(block);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_and_percent),
		cmocka_unit_test(value_alone),
		cmocka_unit_test(percent_alone),
		cmocka_unit_test(size_and_address),
		cmocka_unit_test(name_before_numbers),
		cmocka_unit_test(blocks),
		cmocka_unit_test(tree),
		cmocka_unit_test(deep_tree),
		cmocka_unit_test(delimited),
		cmocka_unit_test(numbers),
		cmocka_unit_test(empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
