/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: the example of the manual (figure 2-1), functions that several
 * processes share, names, order, limits, and the facts about processes.
 */
#include "analysis/code/code_find.h"
#include "analysis/metric/metric.h"
#include "analysis/session/functions.h"
#include "analysis/session/query.h"
#include "analysis/session/session.h"
#include "analysis/session/session_state.h"
#include "analysis/views/table.h"
#include "analysis/views/view_call_tree.h"
#include "analysis/views/view_callers.h"
#include "analysis/views/view_functions.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* A segment of 16 functions of 256 bytes; see stub_object.c. */
#define MAP_AT(vaddr, name)                                                                        \
	"<event kind=\"map\" epoch=\"0\" vaddr=\"" vaddr "\" size=\"0x2000\" bias=\"" vaddr        \
	"\" name=\"" name "\" buildid=\"01\"/>\n"
#define MAP_A MAP_START MAP_AT("0x10000", "/lib/a.so") MAP_END

struct node {
	uint32_t parent;
	uint64_t pc;
	uint64_t weight; /* µs of user time */
};

static void write_process(const char *path, const char *log, const char *map,
			  const struct node *nodes, size_t count)
{
	struct bytes file = {0}, payload = {0};
	uint32_t stack = 0;

	write_text(path, "log.xml", log);
	write_text(path, "map.xml", map);
	write_overview(path);
	put_file_header(&file, "stacks");
	for (size_t i = 0; i < count; i++)
		put_raw_node(&payload, nodes[i].parent, 0, nodes[i].pc);
	put_block(&file, (struct format_block_header){.first = 1, .encoding = 2}, &payload);
	write_file(path, "stacks", file.data, file.size);
	file.size = payload.size = 0;
	put_file_header(&file, "profile");
	put_thread(&payload, 1, 100, 1);
	for (uint32_t i = 0; i < count; i++)
		if (nodes[i].weight)
			put_event(&payload, FORMAT_STATE_USER, nodes[i].weight, nodes[i].weight,
				  &stack, i + 1);
	put_control(&payload, 0x81, 0);
	put_block(&file, (struct format_block_header){.first = 1, .base_time = 1, .encoding = 1},
		  &payload);
	write_file(path, "profile", file.data, file.size);
	bytes_free(&file);
	bytes_free(&payload);
}

static struct session *open_and_remove(char *path)
{
	struct diag_list diags = {0};
	struct session *session;

	assert_int_equal(session_open(&path, 1, NULL, &session, &diags), STATUS_OK);
	assert_int_equal(diags.count, 0);
	remove_experiment(path);
	free(path);
	return session;
}

static struct session *open_nodes(const char *map, const struct node *nodes, size_t count)
{
	char *path = make_experiment("t.er");

	write_process(path, LOG_START LOG_SYSTEM LOG_PROCESS LOG_END, map, nodes, count);
	return open_and_remove(path);
}

#define PC(n) (0x10000 + (n)*256 + 7)
enum { F_MAIN, F_A, F_B, F_C, F_E, F_F, F_G };

/* Figure 2-1: 1 unit is 100 µs. main 2; A 10 via C; B 5, 15 via C; C 20 % itself, 40 % E, 40 % F.
 */
static const struct node figure[] = {
	{0, PC(F_MAIN), 200}, /* 1 */
	{1, PC(F_A), 0},      /* 2 */
	{2, PC(F_C), 200},    /* 3 */
	{3, PC(F_E), 400},    /* 4 */
	{3, PC(F_F), 100},    /* 5 */
	{5, PC(F_G), 300},    /* 6 */
	{1, PC(F_B), 500},    /* 7 */
	{7, PC(F_C), 300},    /* 8 */
	{8, PC(F_E), 600},    /* 9 */
	{8, PC(F_F), 200},    /* 10 */
	{10, PC(F_G), 400},   /* 11 */
};

static double value_of(const struct table *table, const char *name, enum row_mark mark,
		       uint32_t block, size_t column)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (!strcmp(table->rows[i].name, name) && table->rows[i].mark == mark &&
		    row_block(&table->rows[i]) == block)
			return table->values[i * table->column_count + column] * 1e4;
	fail_msg("no row %s", name);
	return 0;
}

static uint32_t find_one(struct session *session, const char *name)
{
	struct function_match *matches;
	size_t count = view_find_functions(session, &(struct query){0}, name, &matches);

	if (count != 1)
		fail_msg("%zu functions are called %s", count, name);

	uint32_t function = matches[0].function;

	free(matches);
	return function;
}

static void test_the_manuals_example(void **state)
{
	static const struct {
		const char *name;
		double exclusive, inclusive;
	} expected[] = {
		{"<Total>", 32, 32}, {"a.so_0", 2, 32},	 {"a.so_1", 0, 10}, {"a.so_2", 5, 20},
		{"a.so_3", 5, 25},   {"a.so_4", 10, 10}, {"a.so_5", 3, 10}, {"a.so_6", 7, 7},
	};
	struct session *session = open_nodes(MAP_A, figure, 11);
	struct query query;
	struct table table;

	(void)state;
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	view_functions(session, &query, &table);
	assert_int_equal(table.row_count, 8);
	for (size_t i = 0; i < 8; i++) {
		assert_float_equal(value_of(&table, expected[i].name, ROW_PLAIN, 0, 0),
				   expected[i].exclusive, 1e-9);
		assert_float_equal(value_of(&table, expected[i].name, ROW_PLAIN, 0, 1),
				   expected[i].inclusive, 1e-9);
	}
	table_fini(&table);

	view_callers_callees_of(session, &query, (uint32_t[]){find_one(session, "a.so_3")}, 1,
				&table);
	assert_int_equal(table.row_count, 5);
	assert_string_equal(table.rows[0].name, "a.so_2"); /* the larger caller first */
	assert_float_equal(value_of(&table, "a.so_1", ROW_CALLER, 0, 0), 10, 1e-9);
	assert_float_equal(value_of(&table, "a.so_2", ROW_CALLER, 0, 0), 15, 1e-9);
	assert_float_equal(value_of(&table, "a.so_3", ROW_CENTER, 0, 0), 5, 1e-9);
	assert_float_equal(value_of(&table, "a.so_4", ROW_CALLEE, 0, 0), 10, 1e-9);
	assert_float_equal(value_of(&table, "a.so_5", ROW_CALLEE, 0, 0), 10, 1e-9);
	assert_float_equal(table.block_base[0] * 1e4, 25, 1e-9);
	table_fini(&table);
	query_fini(&query);
	session_free(session);
}

/* f → f → f: all the work of the innermost call is f's own as caller; the first caller gets none.
 */
static void test_the_manuals_recursion(void **state)
{
	static const struct node nodes[] = {
		{0, PC(0), 0}, {1, PC(1), 0}, {2, PC(1), 0}, {3, PC(1), 1000}};
	struct session *session = open_nodes(MAP_A, nodes, 4);
	struct query query;
	struct table table;

	(void)state;
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	view_callers_callees_of(session, &query, (uint32_t[]){find_one(session, "a.so_1")}, 1,
				&table);
	assert_int_equal(table.row_count, 2);
	assert_float_equal(value_of(&table, "a.so_1", ROW_CALLER, 0, 0), 10, 1e-9);
	assert_float_equal(value_of(&table, "a.so_1", ROW_CENTER, 0, 0), 10, 1e-9);
	table_fini(&table);
	view_callers_callees_of(session, &query, (uint32_t[]){find_one(session, "a.so_0")}, 1,
				&table);
	assert_float_equal(value_of(&table, "a.so_1", ROW_CALLEE, 0, 0), 10, 1e-9);
	assert_float_equal(value_of(&table, "<Total>", ROW_CALLER, 0, 0), 10, 1e-9);
	table_fini(&table);
	query_fini(&query);
	session_free(session);
}

static void test_stand_ins(void **state)
{
	static const struct node nodes[] = {
		{0, FORMAT_PC_TRUNCATED, 0},
		{1, PC(1), 100},
		{0, FORMAT_PC_UNWIND_FAILED, 0},
		{3, PC(1), 200},
		{0, FORMAT_PC_NO_STACK, 400},
		{0, FORMAT_PC_UNKNOWN, 800},
		{0, 0x999999, 1600}, /* in no load object */
		{0, 0x50010, 3200},  /* in one without functions */
		{0, 0x11800, 6400},  /* in one with functions, behind them */
	};
	struct session *session = open_nodes(MAP_START MAP_AT("0x10000", "/lib/a.so")
						     MAP_AT("0x50000", "/lib/missing.so") MAP_END,
					     nodes, 9);
	const struct diag_list *warnings = session_warnings(session);
	struct query query;
	struct table table;

	(void)state;
	query_init(&query, session);
	view_functions(session, &query, &table);
	assert_float_equal(value_of(&table, "<Truncated-stack>", ROW_PLAIN, 0, 1), 1, 1e-9);
	assert_float_equal(value_of(&table, "<Stack-unwind-failed>", ROW_PLAIN, 0, 1), 2, 1e-9);
	assert_float_equal(value_of(&table, "<no call stack recorded>", ROW_PLAIN, 0, 0), 4, 1e-9);
	assert_float_equal(value_of(&table, "<Unknown>", ROW_PLAIN, 0, 0), 24, 1e-9);
	assert_float_equal(value_of(&table, "<missing.so> -- no functions found", ROW_PLAIN, 0, 0),
			   32, 1e-9);
	assert_float_equal(value_of(&table, "<a.so> -- outside all functions", ROW_PLAIN, 0, 0), 64,
			   1e-9);
	table_fini(&table);
	/* the truncated stack is a child of <Total> */
	view_call_tree(session, &query, NULL, &table);
	for (size_t i = 0; i < table.row_count; i++)
		if (!strcmp(table.rows[i].name, "<Truncated-stack>"))
			assert_int_equal(row_depth(&table.rows[i]), 1);
	table_fini(&table);
	view_objects(session, &query, &table);
	assert_float_equal(value_of(&table, "<Unknown>", ROW_PLAIN, 0, 0), 28, 1e-9);
	assert_float_equal(value_of(&table, "missing.so", ROW_PLAIN, 0, 0), 32, 1e-9);
	table_fini(&table);
	assert_int_equal(warnings->count, 1);
	assert_string_equal(warnings->items[0].text, "/lib/missing.so: not found");
	session_warn_unknown(session, &query.metrics);
	session_warn_unknown(session, &query.metrics);
	warnings = session_warnings(session);
	assert_int_equal(warnings->count, 2);
	assert_non_null(
		strstr(warnings->items[1].text, "18.9 % of the Total CPU Time is at addresses"));
	query_fini(&query);
	session_free(session);
}

/* An object that nobody's time is in raises no doubts. */
static void test_unused_objects_are_no_doubt(void **state)
{
	static const struct node nodes[] = {{0, PC(1), 100}};
	struct session *session = open_nodes(MAP_START MAP_AT("0x10000", "/lib/a.so")
						     MAP_AT("0x50000", "/lib/missing.so") MAP_END,
					     nodes, 1);
	struct load_object_info info;

	(void)state;
	assert_int_equal(session_warnings(session)->count, 0);
	assert_int_equal(session_load_object_count(session), 2);
	session_load_object(session, 1, &info);
	assert_int_equal(info.number, 2);
	assert_string_equal(info.name, "missing.so");
	assert_string_equal(info.path, "/lib/missing.so");
	assert_string_equal(session_provenance(session, 1), "not found");
	session_free(session);
}

/* A copy in the founder's archives is what the object room is told to read first. */
static void test_archives(void **state)
{
	static const struct node nodes[] = {{0, PC(1), 100}};
	static const char map[] = MAP_START MAP_AT("0x10000", "[vdso]") MAP_END;
	char *path = make_experiment("v.er"), *child = make_descendant(path, "_f1");
	struct diag_list diags = {0};
	struct session *session;
	char *archives = NULL;

	(void)state;
	write_process(path, LOG_START LOG_SYSTEM LOG_PROCESS LOG_END, map, nodes, 1);
	write_process(child, LOG_START LOG_END, map, nodes, 1);
	assert_true(asprintf(&archives, "%s/archives", path) > 0);
	assert_int_equal(mkdir(archives, 0777), 0);
	write_text(archives, "[vdso].01", "");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(session_open(i ? &child : &path, 1, NULL, &session, &diags),
				 STATUS_OK);
		assert_string_equal(session_provenance(session, 0), "found in the archive");
		session_free(session);
	}
	remove_experiment(path);
	free(archives);
	free(child);
	free(path);
}

/* The same object elsewhere in another process; one of the same path with another build-id. */
static void test_functions_are_unified(void **state)
{
	static const struct node here[] = {{0, PC(1), 100}};
	static const struct node there[] = {{0, 0x70107, 1000}, {0, 0x90107, 10000}};
	char *path = make_experiment("u.er"), *child = make_descendant(path, "_f1");
	struct query query;
	struct table table;

	(void)state;
	write_process(path, LOG_START LOG_SYSTEM LOG_PROCESS LOG_END, MAP_A, here, 1);
	write_process(child, LOG_START LOG_END,
		      MAP_START MAP_AT(
			      "0x70000",
			      "/lib/a.so") "<event kind=\"map\" vaddr=\"0x90000\" size=\"0x1000\" "
					   "bias=\"0x90000\" name=\"/lib/a.so\" "
					   "buildid=\"02\"/>\n" MAP_END,
		      there, 2);
	free(child);

	struct session *session = open_and_remove(path);
	struct function_match *matches;

	query_init(&query, session);
	view_functions(session, &query, &table);
	assert_int_equal(table.row_count, 3);
	assert_float_equal(table.values[0] * 1e4, 111, 1e-9);
	assert_float_equal(table.values[table.column_count] * 1e4, 100, 1e-9);
	assert_float_equal(table.values[2 * table.column_count] * 1e4, 11, 1e-9);
	assert_string_equal(table.rows[1].name, table.rows[2].name);
	table_fini(&table);
	assert_int_equal(view_find_functions(session, &(struct query){0}, "a.so_1(int)", &matches),
			 2);
	free(matches);
	query_fini(&query);
	session_free(session);
}

static void test_names(void **state)
{
	struct session *session = open_nodes(MAP_A, figure, 11);
	struct function_match *matches;
	struct function_summary summary;
	uint32_t a = find_one(session, "a.so_1");

	(void)state;
	assert_int_equal(find_one(session, "a.so_1(int)"), a);
	assert_int_equal(find_one(session, "_Za.so_1"), a);
	assert_int_equal(find_one(session, "another_name"), a);
	assert_int_equal(find_one(session, "third_name"), a);
	assert_int_equal(find_one(session, "a.so_1 [a.so]"), a);
	assert_int_equal(find_one(session, "a.so_1(int) [a.so]"), a);
	assert_int_equal(find_one(session, "<Total>"), FUNCTION_TOTAL);
	assert_int_equal(
		view_find_functions(session, &(struct query){0}, "a.so_1 [b.so]", &matches), 0);
	assert_int_equal(view_find_functions(session, &(struct query){0}, "a.so_", &matches), 0);
	assert_int_equal(view_find_functions(session, &(struct query){0}, "name", &matches), 0);
	assert_int_equal(view_find_functions(session, &(struct query){0}, "", &matches), 0);
	/* words: what the name goes on with begins a new one */
	assert_int_equal(view_find_functions(session, &(struct query){0}, "a", &matches), 7);
	free(matches);

	session_function_summary(session, a, &summary);
	assert_string_equal(summary.name, "a.so_1(int)");
	assert_string_equal(summary.mangled, "_Za.so_1");
	assert_string_equal(summary.aliases, "another_name third_name");
	assert_string_equal(summary.load_object, "/lib/a.so");
	assert_int_equal(summary.address, 0x100);
	assert_int_equal(summary.size, 256);
	assert_int_equal(summary.segment, 1);
	session_free(session);
}

/* The names of the rows, joined. */
static void assert_names(const struct table *table, const char *expected)
{
	char names[512] = "";

	for (size_t i = 0; i < table->row_count; i++) {
		const char *name = table->rows[i].name;

		strncat(names, strncmp(name, "a.so_", 5) ? name : name + 5,
			sizeof(names) - strlen(names) - 1);
		strncat(names, " ", sizeof(names) - strlen(names) - 1);
	}
	assert_string_equal(names, expected);
}

static void set_sort(struct session *session, struct query *query, const char *sort)
{
	struct diag_list diags = {0};

	assert_int_equal(
		metric_sort_parse(session, sort, &query->sort, &query->sort_reverse, &diags),
		STATUS_OK);
}

static void assert_order(struct session *session, struct query *query, const char *sort,
			 const char *expected)
{
	struct table table;

	set_sort(session, query, sort);
	view_functions(session, query, &table);
	assert_names(&table, expected);
	table_fini(&table);
}

static void assert_tree(struct session *session, struct query *query, const char *sort,
			const char *expected)
{
	struct table table;

	set_sort(session, query, sort);
	view_call_tree(session, query, NULL, &table);
	assert_names(&table, expected);
	table_fini(&table);
}

static void test_order(void **state)
{
	struct session *session = open_nodes(MAP_A, figure, 11);
	struct query query;

	(void)state;
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	/* ties (3 and 2 have 5 each) stay in the order of their first appearance: main A C E F G B
	 */
	assert_order(session, &query, "e.user", "<Total> 4 6 3 2 5 0 1 ");
	assert_order(session, &query, "-e.user", "<Total> 1 0 5 3 2 6 4 ");
	assert_order(session, &query, "i.user", "<Total> 0 3 2 1 4 5 6 ");
	assert_order(session, &query, "name", "<Total> 0 1 2 3 4 5 6 ");
	assert_order(session, &query, "-name", "<Total> 6 5 4 3 2 1 0 ");
	assert_order(session, &query, "address", "<Total> 0 1 2 3 4 5 6 ");
	assert_order(session, &query, "-address", "<Total> 6 5 4 3 2 1 0 ");
	/* all the same: the order in which they were met */
	assert_order(session, &query, "e.sleep", "<Total> 0 1 3 4 5 6 2 ");
	query.limit = 3;
	assert_order(session, &query, "e.user", "<Total> 4 6 ");
	query.name_soname = true;
	query.name_style = NAME_MANGLED;
	assert_order(session, &query, "e.user", "<Total> _Za.so_4 [a.so] _Za.so_6 [a.so] ");
	query_fini(&query);
	session_free(session);
}

/* Siblings, sorted by what is shown and by what is not. */
static void test_order_of_trees(void **state)
{
	struct session *session = open_nodes(MAP_A, figure, 11);
	struct query query;

	(void)state;
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	/* below B, E and F have 6 each, below A 4: in the order of their first appearance */
	assert_tree(session, &query, "i.totalcpu", "<Total> 0 2 3 4 5 6 1 3 4 5 6 ");
	assert_tree(session, &query, "-i.totalcpu", "<Total> 0 1 3 4 5 6 2 3 4 5 6 ");
	assert_tree(session, &query, "e.user", "<Total> 0 2 3 4 5 6 1 3 4 5 6 ");
	assert_tree(session, &query, "e.sleep", "<Total> 0 1 3 4 5 6 2 3 4 5 6 ");
	assert_tree(session, &query, "-name", "<Total> 0 2 3 5 6 4 1 3 5 6 4 ");
	assert_tree(session, &query, "-address", "<Total> 0 2 3 5 6 4 1 3 5 6 4 ");
	query.limit = 4;
	assert_tree(session, &query, "e.user", "<Total> 0 2 3 ");
	query_fini(&query);
	session_free(session);
}

/* Weights beyond 32 bits beside small ones, and 32 bits just full. */
static void test_large_weights(void **state)
{
	static const struct node large[] = {
		{0, PC(F_MAIN), 3}, {1, PC(F_A), (1ull << 32) + 5}, {1, PC(F_B), UINT32_MAX}};
	static const struct node full[] = {{0, PC(F_MAIN), 3}, {1, PC(F_A), UINT32_MAX}};
	struct session *session = open_nodes(MAP_A, large, 3);
	struct query query;
	struct table table;

	(void)state;
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	view_call_tree(session, &query, NULL, &table);
	assert_float_equal(table.values[0], 8589.934599, 1e-9); /* 2^33 + 7 µs */
	assert_float_equal(value_of(&table, "a.so_1", ROW_PLAIN, 0, 0), 42949673.01, 1e-6);
	assert_float_equal(value_of(&table, "a.so_2", ROW_PLAIN, 0, 0), 42949672.95, 1e-6);
	table_fini(&table);
	query_fini(&query);
	session_free(session);
	session = open_nodes(MAP_A, full, 2);
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	view_functions(session, &query, &table);
	assert_float_equal(table.values[0], 4294.967298, 1e-9); /* 2^32 + 2 µs */
	assert_float_equal(value_of(&table, "a.so_1", ROW_PLAIN, 0, 0), 42949672.95, 1e-6);
	table_fini(&table);
	query_fini(&query);
	session_free(session);
}

static void test_columns(void **state)
{
	struct session *session = open_nodes(MAP_A, figure, 11);
	struct diag_list diags = {0};
	struct query query;
	struct table table;

	(void)state;
	query_init(&query, session);
	metric_list_parse(session, NULL, "i%user:e.user:a.sleep:e!lock:size:address:name",
			  &query.metrics, &diags);
	view_functions(session, &query, &table);
	assert_int_equal(table.column_count, 5);
	assert_int_equal(table.columns[0].choice.flavor, FLAVOR_INCLUSIVE);
	assert_int_equal(table.columns[1].choice.flavor, FLAVOR_EXCLUSIVE);
	for (size_t i = 1; i < table.row_count; i++)
		assert_int_equal(table.values[i * 5 + 2], 256); /* size */
	assert_float_equal(table.base[0] * 1e4, 32, 1e-9);
	table_fini(&table);
	view_call_tree(session, &query, NULL, &table);
	/* user, once, with what was asked of both flavours; sleep; the static ones */
	assert_int_equal(table.column_count, 5);
	assert_int_equal(table.columns[0].choice.flavor, FLAVOR_ATTRIBUTED);
	assert_int_equal(table.columns[0].choice.visibility, VISIBLE_TIME | VISIBLE_PERCENT);
	assert_string_equal(table.columns[1].choice.metric->command, "sleep");
	assert_string_equal(table.rows[1].name, "a.so_0(int)");
	assert_string_equal(table.rows[2].name, "a.so_2(int)"); /* 20 before A's 10 */
	table_fini(&table);
	view_threads(session, &query, &table);
	assert_int_equal(table.column_count, 2);
	assert_string_equal(table.rows[1].name, "Process 1, Thread 1 (tid 100)");
	table_fini(&table);
	query_fini(&query);
	session_free(session);
}

static void test_facts(void **state)
{
	static const struct node nodes[] = {{0, PC(1), 100}};
	char *path = make_experiment("facts.er"), *child = make_descendant(path, "_f1");

	(void)state;
	write_process(
		path,
		LOG_START LOG_SYSTEM LOG_PROCESS
		"<event kind=\"fork\" tstamp=\"2000\" pid=\"101\" lineage=\"_f1\"/>\n" LOG_END,
		MAP_A, nodes, 1);
	write_process(child,
		      LOG_START
		      "<process pid=\"101\" ppid=\"100\" exe=\"/bin/other\" tstamp=\"3000\"/>\n"
		      "<event kind=\"exec\" tstamp=\"500000\" lineage=\"_f1_x1\"/>\n",
		      MAP_A, nodes, 1);
	write_text(path, "notes", "a note\n");
	free(child);

	struct session *session = open_and_remove(path);
	const struct process_info *info = session_process(session, 0);

	assert_int_equal(session_process_count(session), 2);
	assert_int_equal(info->id, 1);
	assert_int_equal(info->founder, 1);
	assert_string_equal(info->name, "facts.er");
	assert_string_equal(info->lineage, "");
	assert_string_equal(info->notes, "a note\n");
	assert_string_equal(info->target, "prog");
	assert_string_equal(info->arguments[1], "a < b");
	assert_null(info->arguments[2]);
	assert_int_equal(info->pid, 100);
	assert_string_equal(info->engine, "perf");
	assert_string_equal(info->hostname, "h");
	assert_int_equal(info->setting_count, 1);
	assert_int_equal(info->start_ns, 1000);
	assert_int_equal(info->end_ns, 9000000);
	assert_true(info->ended && info->has_status);
	assert_int_equal(info->exit_status, 3);
	assert_int_equal(info->thread_count, 1);
	assert_int_equal(info->event_count, 1);
	assert_int_equal(info->event_count_log, 2);
	assert_int_equal(info->sample_count, 2);
	assert_string_equal(info->samples[1].label, "end");
	assert_float_equal(info->state_seconds[FORMAT_STATE_USER], 0.0001, 1e-12);

	info = session_process(session, 1);
	assert_int_equal(info->founder, 1);
	assert_string_equal(info->name, "facts.er/_f1.er");
	assert_string_equal(info->target, "other");
	assert_string_equal(info->hostname, "h");
	assert_null(info->notes);
	assert_true(info->ended && !info->has_status);
	assert_int_equal(info->end_ns, 500000);
	assert_int_equal(session_warnings(session)->count, 0);
	session_free(session);
}

static void test_several_experiments(void **state)
{
	static const struct node nodes[] = {{0, PC(1), 100}};
	char *paths[3] = {make_experiment("one.er"), "/nowhere.er", make_experiment("two.er")};
	struct diag_list diags = {0};
	struct session *session;
	struct query query;
	struct table table;

	(void)state;
	write_process(paths[0], LOG_START LOG_SYSTEM LOG_PROCESS LOG_END, MAP_A, nodes, 1);
	write_process(paths[2], LOG_START LOG_SYSTEM LOG_PROCESS LOG_END, MAP_A, nodes, 1);
	assert_int_equal(session_open(paths, 3, NULL, &session, &diags), STATUS_OK);
	assert_int_equal(diags.count, 1);
	assert_non_null(strstr(diags.items[0].text, "/nowhere.er"));
	diag_fini(&diags);
	assert_int_equal(session_process_count(session), 2);
	assert_int_equal(session_process(session, 1)->founder, 2);
	query_init(&query, session);
	view_functions(session, &query, &table);
	assert_int_equal(table.row_count, 2);
	assert_float_equal(table.values[table.column_count] * 1e4, 2, 1e-9);
	table_fini(&table);
	query_fini(&query);
	session_free(session);
	assert_int_equal(session_open(paths + 1, 1, NULL, &session, &diags), STATUS_NOTFOUND);
	assert_null(session);
	diag_fini(&diags);
	for (size_t i = 0; i < 3; i += 2) {
		remove_experiment(paths[i]);
		free(paths[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_manuals_example),
		cmocka_unit_test(test_the_manuals_recursion),
		cmocka_unit_test(test_stand_ins),
		cmocka_unit_test(test_unused_objects_are_no_doubt),
		cmocka_unit_test(test_archives),
		cmocka_unit_test(test_functions_are_unified),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_of_trees),
		cmocka_unit_test(test_large_weights),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_several_experiments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
