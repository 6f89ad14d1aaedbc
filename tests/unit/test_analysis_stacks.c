/* SPDX-License-Identifier: Apache-2.0 */
/* The list of call stacks: which there are, their frames, values, order and rest. */
#include "analysis/metric/metric.h"
#include "analysis/session/query.h"
#include "analysis/session/session.h"
#include "analysis/views/view_stacks.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Functions of 256 bytes, see stub_object.c. */
#define MAP_AT(vaddr, name)                                                                        \
	"<event kind=\"map\" epoch=\"0\" vaddr=\"" vaddr "\" size=\"0x2000\" bias=\"" vaddr        \
	"\" name=\"" name "\" buildid=\"01\"/>\n"
#define MAPS MAP_START MAP_AT("0x10000", "/lib/a.so") MAP_AT("0x20000", "/lib/b.so") MAP_END
#define A(n) (0x10000 + (n)*256 + 7)
#define B(n) (0x20000 + (n)*256 + 7)

/* a_0 calls a_1 at two places, and b_0, which calls b_1, which calls a_2. */
static const struct written_node nodes[] = {
	{0, A(0)},	{1, A(1)}, /* 2: a_1 < a_0 */
	{0, A(0) + 16}, {3, A(1)}, /* 4: the same functions, called elsewhere */
	{1, B(0)},	{5, B(1)}, /* 6: b_1 < b_0 < a_0 */
	{6, A(2)},		   /* 7 */
};
static const struct written_event events[] = {
	{1, 2, FORMAT_STATE_USER, 1000, 9},   {1, 4, FORMAT_STATE_USER, 1000, 4},
	{1, 6, FORMAT_STATE_USER, 1000, 2},   {1, 7, FORMAT_STATE_USER, 1000, 0},
	{2, 2, FORMAT_STATE_SYSTEM, 1000, 1}, {2, 0, FORMAT_STATE_USER, 1000, 6},
	{2, 5, FORMAT_STATE_SLEEP, 1000, 49},
};

/* Two experiments alike: each stack is one row. */
static struct session *open_both(struct query *query)
{
	char *paths[] = {make_experiment("one.er"), make_experiment("two.er")};
	struct diag_list diags = {0};
	struct session *session;

	for (size_t i = 0; i < 2; i++)
		write_clock_experiment(paths[i], MAPS, nodes, 7, events, 7);
	assert_int_equal(session_open(paths, 2, NULL, &session, &diags), STATUS_OK);
	for (size_t i = 0; i < 2; i++) {
		remove_experiment(paths[i]);
		free(paths[i]);
	}
	query_init(query, session);
	query->name_style = NAME_SHORT;
	assert_int_equal(metric_list_parse(session, NULL, "i.totalcpu:e.sleep:name",
					   &query->metrics, &diags),
			 STATUS_OK);
	diag_fini(&diags);
	return session;
}

/* "b_1<b_0<a_0", of names without their ".so". */
static void path_of(const struct stack_list *list, size_t row, char *out)
{
	*out = '\0';
	for (uint32_t i = 0; i < list->frames.stacks[row].depth; i++) {
		strcat(out, i ? "|" : "");
		strcat(out, list->frames.frames[list->frames.stacks[row].frames[i]].name);
	}
}

static void assert_row(const struct stack_list *list, size_t row, const char *path, double cpu_ms,
		       double sleep_ms)
{
	const double *values = &list->table.values[row * list->table.column_count];
	char own[256];

	path_of(list, row, own);
	assert_string_equal(own, path);
	assert_float_equal(values[0] * 1e3, cpu_ms, 1e-6);
	assert_float_equal(values[1] * 1e3, sleep_ms, 1e-6);
}

static void test_each_stack_is_one_row(void **state)
{
	struct query query;
	struct session *session = open_both(&query);
	struct stack_list list;

	(void)state;
	view_stacks(session, &query, &list);
	assert_int_equal(list.table.column_count, 3); /* each metric's own, and the name */
	assert_int_equal(list.table.columns[0].choice.flavor, FLAVOR_EXCLUSIVE);
	assert_int_equal(list.table.row_count, 1 + 6);
	assert_row(&list, 0, "", 2 * 28, 2 * 50);
	assert_row(&list, 1, "a.so_1|a.so_0", 2 * 12, 0);
	assert_row(&list, 2, "<no call stack recorded>", 2 * 7, 0);
	assert_row(&list, 3, "a.so_1|a.so_0", 2 * 5, 0);
	assert_row(&list, 4, "b.so_1|b.so_0|a.so_0", 2 * 3, 0);
	assert_row(&list, 5, "a.so_2|b.so_1|b.so_0|a.so_0", 2 * 1, 0);
	assert_row(&list, 6, "b.so_0|a.so_0", 0, 2 * 50);
	assert_string_equal(list.table.rows[6].name, "b.so_0");
	assert_int_equal(list.rest_count, 0);
	assert_int_equal(list.frames.frame_count,
			 7); /* two places in a_0, one in each other, none */
	stack_list_fini(&list);
	query_fini(&query);
	session_free(session);
}

static void test_frames_say_where_they_are(void **state)
{
	struct query query;
	struct session *session = open_both(&query);
	struct stack_list list;

	(void)state;
	query.callers_first = true;
	view_stacks(session, &query, &list);
	assert_row(&list, 4, "a.so_0|b.so_0|b.so_1", 6, 0);

	const struct stack_frame *outer = &list.frames.frames[list.frames.stacks[4].frames[0]];
	const struct stack_frame *leaf = &list.frames.frames[list.frames.stacks[4].frames[2]];
	const struct stack_frame *none = &list.frames.frames[list.frames.stacks[2].frames[0]];

	assert_string_equal(outer->object, "/lib/a.so");
	assert_true(outer->has_address);
	assert_int_equal(outer->address, 7);
	assert_string_equal(leaf->object, "/lib/b.so");
	assert_int_equal(leaf->address, 256 + 7);
	assert_false(leaf->inlined || leaf->file);
	assert_null(none->object);
	assert_false(none->has_address);
	stack_list_fini(&list);
	query_fini(&query);
	session_free(session);
}

static void test_the_rest_is_summed(void **state)
{
	struct query query;
	struct session *session = open_both(&query);
	struct stack_list list;

	(void)state;
	query.limit = 3;
	view_stacks(session, &query, &list);
	assert_int_equal(list.table.row_count, 3);
	assert_row(&list, 0, "", 56, 100);
	assert_row(&list, 1, "a.so_1|a.so_0", 24, 0);
	assert_int_equal(list.rest_count, 4);
	assert_float_equal(list.rest[0] * 1e3, 56 - 24 - 14, 1e-6);
	assert_float_equal(list.rest[1] * 1e3, 100, 1e-6);
	stack_list_fini(&list);

	query.sort = query.metrics.items[1]; /* e.sleep */
	query.limit = 2;
	view_stacks(session, &query, &list);
	assert_row(&list, 1, "b.so_0|a.so_0", 0, 100);
	assert_float_equal(list.rest[0] * 1e3, 56, 1e-6);
	stack_list_fini(&list);
	query.limit = 1;
	view_stacks(session, &query, &list);
	assert_int_equal(list.table.row_count, 1);
	assert_int_equal(list.rest_count, 6);
	assert_int_equal(list.frames.frame_count, 0);
	stack_list_fini(&list);
	query_fini(&query);
	session_free(session);
}

/* b.so as one function: its calls are one frame without an address. */
static void test_hidden_objects_and_entries(void **state)
{
	struct query query;
	struct session *session = open_both(&query);
	struct diag_list diags = {0};
	struct stack_list list;

	(void)state;
	query_show_objects(&query, session, "b.so", OBJECT_HIDDEN, &diags);
	view_stacks(session, &query, &list);
	assert_int_equal(list.table.row_count, 1 + 5);
	assert_row(&list, 4, "<b.so>|a.so_0", 6, 100);
	assert_row(&list, 5, "a.so_2|<b.so>|a.so_0", 2, 0);
	assert_false(list.frames.frames[list.frames.stacks[4].frames[0]].has_address);
	assert_string_equal(list.frames.frames[list.frames.stacks[4].frames[0]].object,
			    "/lib/b.so");
	stack_list_fini(&list);
	query_show_objects(&query, session, "b.so", OBJECT_ENTRY, &diags);
	view_stacks(session, &query, &list);
	assert_int_equal(list.table.row_count, 1 + 5);
	assert_row(&list, 4, "b.so_0|a.so_0", 6, 100);
	assert_row(&list, 5, "a.so_2|b.so_0|a.so_0", 2, 0);
	assert_true(list.frames.frames[list.frames.stacks[4].frames[0]].has_address);
	stack_list_fini(&list);
	assert_int_equal(diags.count, 0);
	query_fini(&query);
	session_free(session);
}

static void test_only_what_the_filter_chooses(void **state)
{
	struct query query;
	struct session *session = open_both(&query);
	struct diag_list diags = {0};
	struct stack_list list;

	(void)state;
	assert_int_equal(query_filter(&query, session, "THRID == 2 && EXPID == 1", &diags),
			 STATUS_OK);
	view_stacks(session, &query, &list);
	assert_int_equal(list.table.row_count, 1 + 3);
	assert_row(&list, 0, "", 2 + 7, 50);
	assert_row(&list, 1, "<no call stack recorded>", 7, 0);
	assert_row(&list, 2, "a.so_1|a.so_0", 2, 0);
	stack_list_fini(&list);
	query_fini(&query);
	session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_stack_is_one_row),
		cmocka_unit_test(test_frames_say_where_they_are),
		cmocka_unit_test(test_the_rest_is_summed),
		cmocka_unit_test(test_hidden_objects_and_entries),
		cmocka_unit_test(test_only_what_the_filter_chooses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
