/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine judges, over experiments and tables whose every number is made here. */
#include "analysis/session/functions.h"
#include "analysis/session/session.h"
#include "analysis/session/session_state.h"
#include "analysis/tree/tree_objects.h"
#include "analysis/views/choice.h"
#include "analysis/views/differences.h"
#include "analysis/views/findings.h"
#include "analysis/views/heaps.h"
#include "analysis/views/statistics.h"
#include "analysis/views/totals.h"
#include "analysis/views/view_call_tree.h"
#include "analysis/views/view_functions.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Functions of 256 bytes, see stub_object.c; of the second object no names are known. */
#define MAP_AT(vaddr, name)                                                                        \
	"<event kind=\"map\" epoch=\"0\" vaddr=\"" vaddr "\" size=\"0x2000\" bias=\"" vaddr        \
	"\" name=\"" name "\" buildid=\"01\"/>\n"
#define MAPS	       MAP_START MAP_AT("0x10000", "/lib/a.so") MAP_AT("0x20000", "/lib/missing.so") MAP_END
#define PC(n)	       (0x10000 + (n)*256 + 7)
#define FAR	       0x20007
#define COUNTED(array) (array), sizeof(array) / sizeof(*(array))

enum { MS = 1000 }; /* in us */

static struct session *open_paths(char **paths, size_t count)
{
	struct diag_list diags = {0};
	struct session *session;

	assert_int_equal(session_open(paths, count, NULL, &session, &diags), STATUS_OK);
	diag_fini(&diags);
	for (size_t i = 0; i < count; i++) {
		remove_experiment(paths[i]);
		free(paths[i]);
	}
	return session;
}

static struct session *open_events(const struct written_node *nodes, size_t node_count,
				   const struct written_event *events, size_t count)
{
	char *path = make_experiment("t.er");

	write_clock_experiment(path, MAPS, nodes, node_count, events, count);
	return open_paths(&path, 1);
}

/* ---- differences ---- */

/*
 * Of 1 ms events: a.so_1 has 100 and 110, of which the difference has an error of some 14 events;
 * a.so_2 100 and 200; a.so_3 as many in both.
 */
static struct session *open_two(void)
{
	static const struct written_node nodes[] = {{0, PC(1)}, {0, PC(2)}, {0, PC(3)}};
	static const struct written_event base[] = {{1, 1, FORMAT_STATE_USER, MS, 99},
						    {1, 2, FORMAT_STATE_USER, MS, 99},
						    {1, 3, FORMAT_STATE_USER, MS, 49}};
	static const struct written_event new[] = {{1, 1, FORMAT_STATE_USER, MS, 109},
						   {1, 2, FORMAT_STATE_USER, MS, 199},
						   {1, 3, FORMAT_STATE_USER, MS, 49}};
	char *paths[] = {make_experiment("base.er"), make_experiment("new.er")};

	write_clock_experiment(paths[0], MAPS, COUNTED(nodes), COUNTED(base));
	write_clock_experiment(paths[1], MAPS, COUNTED(nodes), COUNTED(new));
	return open_paths(paths, 2);
}

static double change_of(const struct differences *differences, size_t row, size_t column)
{
	return differences->changes.values[row * differences->changes.column_count + column];
}

static void test_what_may_be_chance_is_no_difference(void **state)
{
	struct session *session = open_two();
	struct differences differences;
	struct diag_list diags = {0};
	struct query query;

	(void)state;
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	assert_int_equal(differences_query(session, "e.size", &query, &diags), STATUS_INVALID);
	diag_fini(&diags);
	assert_int_equal(differences_query(session, "e.user", &query, &diags), STATUS_OK);
	view_differences(session, &query, 0, false, &differences);
	assert_int_equal(differences.chance, 1);
	assert_int_equal(differences.changes.row_count, 2);
	assert_string_equal(differences.changes.rows[0].name, "<Total>");
	assert_string_equal(differences.changes.rows[1].name, "a.so_2");
	assert_float_equal(change_of(&differences, 0, DIFFERENCES_CHANGE), 0.110, 1e-9);
	assert_float_equal(change_of(&differences, 1, DIFFERENCES_BASE), 0.100, 1e-9);
	assert_float_equal(change_of(&differences, 1, DIFFERENCES_NEW), 0.200, 1e-9);
	assert_float_equal(change_of(&differences, 1, DIFFERENCES_RATIO), 2, 1e-9);
	differences_fini(&differences);

	view_differences(session, &query, 0, true, &differences);
	assert_int_equal(differences.chance, 0);
	assert_int_equal(differences.changes.row_count, 3); /* not the one that is the same */
	assert_string_equal(differences.changes.rows[2].name, "a.so_1");
	differences_fini(&differences);

	view_differences(session, &query, 2, true, &differences);
	assert_int_equal(differences.changes.row_count, 2);
	differences_fini(&differences);
	query_fini(&query);
	session_free(session);
}

/* 250 ms +- 20 of the base and 300 +- 30 of the new: 20 % more, of which 10 % are no news. */
static void test_growth_is_sure_beyond_its_errors(void **state)
{
	double values[] = {0.250, 0.300}, errors[] = {0.020, 0.030};
	struct differences differences = {.both = {.values = values, .errors = errors}};
	struct growth growth = differences_growth(&differences, 10);

	(void)state;
	assert_float_equal(growth.percent, 20, 1e-9);
	assert_true(growth.is_more);
	assert_false(growth.is_sure); /* 25 ms more than allowed, two errors are 74 */
	assert_float_equal(growth.sure_percent, 10 + 100 * 0.07440430 / 0.250, 1e-4);
	errors[0] = errors[1] = 0.005; /* two errors are 15 ms */
	growth = differences_growth(&differences, 10);
	assert_true(growth.is_more && growth.is_sure);
	growth = differences_growth(&differences, 20);
	assert_false(growth.is_more);
}

/* A graph, a path and a report's lists are of all experiments, also where lists compare them. */
static void test_one_path_of_compared_experiments(void **state)
{
	const struct tree_part part = {0};
	struct session *session = open_two();
	struct main_path path;
	struct table table;
	struct query query;

	(void)state;
	query_init(&query, session);
	query.compare = COMPARE_ON;
	view_graph_tree(session, &query, &part, &table);
	assert_int_equal(table.column_count, 1);
	assert_float_equal(table.base[0], 0.250 + 0.360, 1e-9);
	assert_float_equal(table.values[1], 0.300, 1e-9); /* a.so_2 */
	table_fini(&table);
	view_main_path(session, &query, metric_find(session, "user"), &path);
	assert_int_equal(path.count, 1);
	assert_float_equal(main_path_value(&path, 0), 0.300, 1e-9);
	main_path_fini(&path);
	query_fini(&query);
	session_free(session);
}

/* ---- what is hot, and what is not known ---- */

/* a.so_0 passes all on to a.so_1, of which two thirds go to a.so_2; the rest has no name. */
static const struct written_node path_nodes[] = {
	{0, PC(0)}, {1, PC(1)}, {2, PC(2)}, {3, PC(3)}, {2, FAR}};

static void test_the_main_path_leaves_out_who_passes_on(void **state)
{
	static const struct written_event events[] = {{1, 2, FORMAT_STATE_USER, MS, 9},
						      {1, 4, FORMAT_STATE_USER, MS, 59},
						      {1, 5, FORMAT_STATE_USER, MS, 29}};
	struct session *session = open_events(COUNTED(path_nodes), COUNTED(events));
	struct main_path path;
	struct table table;
	struct query query;

	(void)state;
	query_init(&query, session);
	query.name_style = NAME_SHORT;
	const struct metric *metric = findings_metric(session, &query);

	assert_string_equal(metric->command, "totalcpu");
	view_main_path(session, &query, metric, &path);
	assert_int_equal(path.count, 2); /* a.so_0 and a.so_2 only pass it on */
	assert_int_equal(path.skipped, 2);
	assert_string_equal(path.table.rows[path.rows[0]].name, "a.so_1");
	assert_float_equal(main_path_value(&path, 0), 0.100, 1e-9);
	assert_string_equal(path.table.rows[path.rows[1]].name, "a.so_3");
	assert_float_equal(main_path_value(&path, 1), 0.060, 1e-9);
	main_path_fini(&path);
	assert_float_equal(findings_unnamed(session, &query, metric), 0.030, 1e-9);
	view_functions(session, &query, &table);
	assert_string_equal(table.rows[findings_hottest(&table)].name, "a.so_3");
	table_fini(&table);
	query_fini(&query);
	session_free(session);
}

static void test_the_hottest_rows_in_order(void **state)
{
	static const struct metric name = {.is_static = true}, time = {.command = "user"};
	struct column columns[] = {{.choice.metric = &name}, {.choice.metric = &time}};
	double values[] = {0, 1, 0, 7, 0, 0, 0, 7, 0, 3, 0, 9};
	const struct table table = {
		.columns = columns, .column_count = 2, .values = values, .row_count = 6};
	size_t rows[4], column;

	(void)state;
	assert_int_equal(findings_hottest_rows(&table, &column, rows, 4), 4);
	assert_int_equal(column, 1);
	assert_int_equal(rows[0], 5);
	assert_int_equal(rows[1], 1); /* the first of two alike */
	assert_int_equal(rows[2], 3);
	assert_int_equal(rows[3], 4);
	columns[1].choice.metric = &name;
	assert_int_equal(findings_hottest_rows(&table, &column, rows, 4), 0);
}

/* 100 ms of CPU, 500 of sleep, 300 of locks of which a pool waits 200. */
static void test_the_main_wait_is_not_that_of_idle_threads(void **state)
{
	static const struct written_event events[] = {{1, 2, FORMAT_STATE_USER, MS, 99},
						      {1, 2, FORMAT_STATE_SLEEP, MS, 499},
						      {1, 2, FORMAT_STATE_USER_LOCK, MS, 299}};
	struct session *session = open_events(COUNTED(path_nodes), COUNTED(events));
	struct idle_threads idle = {0};
	struct query query;

	(void)state;
	query_init(&query, session);
	assert_string_equal(findings_main_wait(session, &query, &idle)->command, "sleep");
	idle.sleep_seconds = 0.400; /* 100 are left, and 225 are a quarter of all */
	assert_string_equal(findings_main_wait(session, &query, &idle)->command, "lock");
	idle.lock_seconds = 0.200;
	assert_null(findings_main_wait(session, &query, &idle));
	assert_true(totals_is_hot(metric_find(session, "user"),
				  view_total(session, &query, metric_find(session, "user")),
				  session_thread_seconds(session)));
	assert_float_equal(session_thread_seconds(session), 0.900, 1e-9);
	assert_false(totals_is_hot(metric_find(session, "user"), 0.080, 0.900));
	query_fini(&query);
	session_free(session);
}

static void test_what_idle_threads_have_of_a_state(void **state)
{
	static const struct metric lock = {.command = "lock"}, user = {.command = "user"};
	struct idle_threads idle = {.lock_threads = 3, .lock_seconds = 0.3, .sleep_seconds = 9};
	struct idle_part part;

	(void)state;
	assert_true(findings_idle_part(&idle, &lock, 1, &part));
	assert_int_equal(part.threads, 3);
	assert_float_equal(part.others, 0.7, 1e-9);
	assert_false(findings_idle_part(&idle, &lock, 16, &part)); /* less than 2 % */
	assert_false(findings_idle_part(&idle, &user, 1, &part));
	idle.lock_threads = 0;
	assert_false(findings_idle_part(&idle, &lock, 1, &part));
}

static void test_what_was_not_asked_for(void **state)
{
	struct attribute off[] = {{"clock", "0"}}, paused[] = {{"begin_paused", "1"}};
	struct log_event resumed[] = {{.kind = "resume"}};
	struct process_info process = {.id = 1, .founder = 1};
	static const struct written_event events[] = {{1, 2, FORMAT_STATE_USER, MS, 9}};
	struct session *session = open_events(COUNTED(path_nodes), COUNTED(events));

	(void)state;
	process.family_end_ns = process.start_ns;
	assert_int_equal(findings_unasked(session, &process), ASKED);
	process.settings = off;
	process.setting_count = 1;
	assert_int_equal(findings_unasked(session, &process), UNASKED_CLOCK);
	process.settings = paused;
	assert_int_equal(findings_unasked(session, &process), UNASKED_PAUSED);
	process.events = resumed;
	process.event_count_log = 1;
	assert_int_equal(findings_unasked(session, &process), ASKED);
	process.id = process.founder = 7; /* nothing of it was recorded at any time */
	process.family_end_ns = 5;
	assert_int_equal(findings_unasked(session, &process), UNASKED_OUTSIDE);
	session_free(session);
}

/* ---- lists of metrics ---- */

static void test_an_order_that_is_gone_is_repaired(void **state)
{
	static const struct written_event events[] = {{1, 2, FORMAT_STATE_USER, MS, 9}};
	struct session *session = open_events(COUNTED(path_nodes), COUNTED(events));
	struct metric_list one = {0};
	struct diag_list diags = {0};
	struct query query;
	char *text;

	(void)state;
	query_init(&query, session); /* by e.totalcpu */
	assert_int_equal(metric_list_parse(session, NULL, "name:i.user:e%user:e.system",
					   &query.metrics, &diags),
			 STATUS_OK);
	query.sort_reverse = true;
	query_repair_sort(&query);
	assert_string_equal(query.sort.metric->command, "user");
	assert_int_equal(query.sort.flavor, FLAVOR_INCLUSIVE);
	assert_false(query.sort_reverse);
	query.sort_reverse = true; /* what is there stays as it is */
	query_repair_sort(&query);
	assert_true(query.sort_reverse);

	metric_list_in(&query.metrics, FLAVOR_ATTRIBUTED, &one);
	text = metric_list_text(&one);
	assert_string_equal(text, "name:a.%user:a.system");
	free(text);
	vec_fini(&one);
	assert_true(metric_list_shows(&query.metrics, metric_find(session, "user"), FLAVOR_ANY));
	assert_false(metric_list_shows(&query.metrics, metric_find(session, "system"),
				       FLAVOR_INCLUSIVE));
	query_carry_metrics(&query, session, &diags);
	assert_int_equal(diags.count, 0);
	text = metric_list_text(&query.metrics);
	assert_string_equal(text, "name:i.user:e%user:e.system");
	free(text);
	query_fini(&query);
	session_free(session);
}

/* ---- names ---- */

static void test_which_of_a_name_is_meant(void **state)
{
	const struct function_match matches[] = {{.function = 20}, {.function = 10}};
	const struct function_match *chosen;

	(void)state;
	assert_int_equal(choice_among(matches, 1, NULL, false, &chosen), CHOICE_MADE);
	assert_ptr_equal(chosen, &matches[0]);
	assert_int_equal(choice_among(matches, 2, NULL, false, &chosen), CHOICE_OPEN);
	assert_int_equal(choice_among(matches, 2, "2", false, &chosen), CHOICE_MADE);
	assert_ptr_equal(chosen, &matches[1]);
	assert_int_equal(choice_among(matches, 2, "3", false, &chosen), CHOICE_NO_NUMBER);
	assert_int_equal(choice_among(matches, 2, "0", false, &chosen), CHOICE_NO_NUMBER);
	assert_int_equal(choice_among(matches, 1, "1x", false, &chosen), CHOICE_NO_NUMBER);
	const struct function_match builds[] = {{.name = "f", .object = "/a/wc", .function = 1},
						{.name = "f", .object = "/b/wc", .function = 2},
						{.name = "f", .object = "/b/wc", .function = 3}};

	assert_int_equal(choice_among(builds, 2, NULL, false, &chosen), CHOICE_OPEN);
	assert_int_equal(choice_among(builds, 2, NULL, true, &chosen), CHOICE_MADE);
	assert_ptr_equal(chosen, &builds[0]);
	assert_int_equal(choice_among(builds + 1, 2, NULL, true, &chosen), CHOICE_OPEN);
	assert_int_equal(choice_number(matches, 2, 10), 2);
	assert_int_equal(choice_number(matches, 2, 11), 0);
}

static void test_what_an_unknown_name_may_be(void **state)
{
	static const struct written_event events[] = {{1, 4, FORMAT_STATE_USER, MS, 9}};
	struct session *session = open_events(COUNTED(path_nodes), COUNTED(events));
	struct name_guess guess;

	(void)state;
	session_guess_name(session, "A.SO", &guess);
	assert_int_equal(guess.guess, GUESS_BEGINS);
	assert_true(guess.count >= 4);
	assert_string_equal(guess.names[0], "a.so_0(int)");
	session_guess_name(session, "aso_3(int)", &guess);
	assert_int_equal(guess.guess, GUESS_NEAREST);
	assert_string_equal(guess.names[0], "a.so_3(int)");
	session_guess_name(session, "so_2(", &guess);
	assert_int_equal(guess.guess, GUESS_CONTAINS);
	assert_string_equal(guess.names[0], "a.so_2(int)");
	session_guess_name(session, "something else", &guess);
	assert_int_equal(guess.guess, GUESS_NONE);
	session_free(session);
}

/* ---- sums ---- */

/* In a tree of <Total> 10 > f (a.so) 10 > g (b.so) 6, h (a.so) 3: a has 4 - 3 + 3, b has 6. */
static void test_load_objects_have_what_their_functions_did(void **state)
{
	struct row rows[] = {{.name = "<Total>"},
			     {.name = "f",
			      .origin = &(struct row_origin){.object = "/x/a.so"},
			      .place = ROW_IN_TREE,
			      .tree.depth = 1},
			     {.name = "g",
			      .origin = &(struct row_origin){.object = "/x/b.so"},
			      .place = ROW_IN_TREE,
			      .tree.depth = 2},
			     {.name = "h",
			      .origin = &(struct row_origin){.object = "/x/a.so"},
			      .place = ROW_IN_TREE,
			      .tree.depth = 2}};
	double values[] = {10, 10, 6, 3};
	const struct table table = {
		.rows = rows, .row_count = 4, .values = values, .column_count = 1};
	struct tree_objects objects;
	size_t count, *order;

	(void)state;
	tree_objects_sum(&table, false, &objects);
	order = tree_objects_ordered(&objects, 0, &count);
	assert_int_equal(count, 2); /* <Total> has nothing of its own */
	assert_string_equal(objects.names.items[order[0]], "b.so");
	assert_float_equal(objects.own[order[0]], 6, 1e-9);
	assert_string_equal(objects.names.items[order[1]], "a.so");
	assert_float_equal(objects.own[order[1]], 4, 1e-9);
	assert_int_equal(objects.levels, 3);
	free(order);
	tree_objects_fini(&objects);
	tree_objects_sum(&table, true, &objects); /* f with what it did, below it its callers */
	order = tree_objects_ordered(&objects, 0, &count);
	assert_int_equal(count, 1);
	assert_float_equal(objects.own[order[0]], 10, 1e-9);
	free(order);
	tree_objects_fini(&objects);
}

/*
 * From 0 to 2 s: by the kernel 0.9 s of user and 0.2 of system time, by the clock 1.0, 0.2 and
 * 0.8 of sleep.
 */
static void test_the_kernels_times_count_where_all_is_recorded(void **state)
{
	struct usage samples[] = {
		{.user_ns = 100000000, .minor_faults = 5},
		{.time_ns = 2000000000,
		 .user_ns = 1000000000,
		 .system_ns = 200000000,
		 .minor_faults = 12,
		 .kind = FORMAT_SAMPLE_END},
	};
	struct process_info process = {.end_ns = 2000000000,
				       .recorded_ns = 2000000000,
				       .samples = samples,
				       .sample_count = 2,
				       .state_seconds = {1.0, 0.2, [FORMAT_STATE_SLEEP] = 0.8}};
	struct statistics whole = statistics_of_process(&process), sample;

	(void)state;
	assert_float_equal(whole.user_seconds, 0.9, 1e-9);
	assert_float_equal(whole.system_seconds, 0.2, 1e-9);
	assert_float_equal(statistics_thread_seconds(&whole), 2.0, 1e-9);
	assert_float_equal(statistics_seconds(&whole), 2.0, 1e-9);
	assert_false(statistics_is_partial(&whole));
	assert_int_equal(statistics_gained(whole.from->minor_faults, whole.to->minor_faults), 7);
	process.recorded_ns = 1000000000; /* paused for half of it: the clock alone knows */
	whole = statistics_of_process(&process);
	assert_true(statistics_is_partial(&whole));
	assert_float_equal(whole.user_seconds, 1.0, 1e-9);
	sample = statistics_of_sample(&process, 0);
	assert_float_equal(sample.user_seconds, 0.9, 1e-9);
	assert_string_equal(sample.end_label, "end");
}

static void test_statistics_add_up(void **state)
{
	static const struct written_event events[] = {{1, 2, FORMAT_STATE_USER, MS, 9},
						      {1, 2, FORMAT_STATE_SLEEP, MS, 19}};
	char *paths[] = {make_experiment("one.er"), make_experiment("two.er")};
	struct statistics_sum sum;
	struct session *session;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		write_clock_experiment(paths[i], MAPS, COUNTED(path_nodes), COUNTED(events));
	session = open_paths(paths, 2);
	statistics_of_several(&sum, session, 0, 2);
	assert_true(sum.whole.is_sum);
	assert_float_equal(sum.state_seconds[FORMAT_STATE_USER], 0.020, 1e-9);
	assert_float_equal(sum.state_seconds[FORMAT_STATE_SLEEP], 0.040, 1e-9);
	assert_float_equal(statistics_thread_seconds(&sum.whole), 0.060, 1e-9);
	assert_float_equal(session_seconds(session), statistics_seconds(&sum.whole), 1e-9);
	session_free(session);
}

static void test_the_course_of_the_heap(void **state)
{
	struct heap_statistics statistics = {
		.first_ns = 1000000000, .last_ns = 3000000000, .peak = {.count = 30}};
	struct query query = {.limit = 0};

	(void)state;
	statistics.most[1] = 50;
	assert_int_equal(heap_most(&statistics), 50);
	assert_float_equal(heap_range_begin(&statistics, 0), 1, 1e-9);
	assert_float_equal(heap_range_begin(&statistics, HEAP_RANGES / 2), 2, 1e-9);
	assert_false(heap_has_mapped(&statistics));
	statistics.mapped[HEAP_MMAP].blocks = 1;
	assert_true(heap_has_mapped(&statistics));
	assert_int_equal(heap_peak_shown(&statistics, &query), 10);
	query.limit = 20;
	assert_int_equal(heap_peak_shown(&statistics, &query), 20);
	query.limit = 40;
	assert_int_equal(heap_peak_shown(&statistics, &query), 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_may_be_chance_is_no_difference),
		cmocka_unit_test(test_growth_is_sure_beyond_its_errors),
		cmocka_unit_test(test_one_path_of_compared_experiments),
		cmocka_unit_test(test_the_main_path_leaves_out_who_passes_on),
		cmocka_unit_test(test_the_hottest_rows_in_order),
		cmocka_unit_test(test_the_main_wait_is_not_that_of_idle_threads),
		cmocka_unit_test(test_what_idle_threads_have_of_a_state),
		cmocka_unit_test(test_what_was_not_asked_for),
		cmocka_unit_test(test_an_order_that_is_gone_is_repaired),
		cmocka_unit_test(test_which_of_a_name_is_meant),
		cmocka_unit_test(test_what_an_unknown_name_may_be),
		cmocka_unit_test(test_load_objects_have_what_their_functions_did),
		cmocka_unit_test(test_the_kernels_times_count_where_all_is_recorded),
		cmocka_unit_test(test_statistics_add_up),
		cmocka_unit_test(test_the_course_of_the_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
