/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All views against a slow reference: random call trees with much recursion,
 * several processes, and sums made event by event from the definitions in the
 * documents, without trees or bits.
 */
#include "analysis/metric/metric.h"
#include "analysis/session/functions.h"
#include "analysis/session/query.h"
#include "analysis/session/session.h"
#include "analysis/session/session_state.h"
#include "analysis/views/table.h"
#include "analysis/views/view_call_tree.h"
#include "analysis/views/view_callers.h"
#include "analysis/views/view_functions.h"
#include "analysis/views/view_stacks.h"
#include "base/hash.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	OBJECTS = 2,
	PER_OBJECT = 3, /* few functions: much recursion */
	FUNCTIONS = OBJECTS * PER_OBJECT,
	NODES_MAX = 80,
	DEPTH_MAX = 40,
	EVENTS_MAX = 120,
	THREADS = 3,
	PATHS_MAX = 8192,
	FRAGMENTS = 8,
	TOTAL = FUNCTIONS, /* index of <Total> as a caller */
	SEEDS = 60,
};

static const char *const object_names[OBJECTS] = {"a.so", "b.so"};

struct node {
	unsigned parent, function;
};

/* What the reference adds up, µs. */
/* "f/g/h": a node of a call tree, by what adds up to it. */
struct path_truth {
	struct string_table names;
	uint64_t weight[PATHS_MAX][10];
};

struct event_truth {
	unsigned stack[DEPTH_MAX]; /* outermost function first */
	size_t depth;
	unsigned state;
	uint64_t weight;
};

struct truth {
	uint64_t exclusive[FUNCTIONS][10], inclusive[FUNCTIONS][10];
	uint64_t caller[FUNCTIONS][FUNCTIONS + 1][10]; /* of, by */
	uint64_t callee[FUNCTIONS + 1][FUNCTIONS][10];
	uint64_t object_exclusive[OBJECTS][10], object_inclusive[OBJECTS][10];
	uint64_t thread[2][THREADS][10];
	uint64_t total[10];
	struct path_truth down, up;
	VEC(struct event_truth) events;
};

static uint64_t random_state;

static unsigned random_below(unsigned limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % limit;
}

static void function_name(unsigned function, char *out, size_t size)
{
	if (function == TOTAL)
		snprintf(out, size, "<Total>");
	else
		snprintf(out, size, "%s_%u(int)", object_names[function / PER_OBJECT],
			 function % PER_OBJECT);
}

static unsigned function_of_name(const char *name)
{
	char own[64];

	for (unsigned i = 0; i <= FUNCTIONS; i++) {
		function_name(i, own, sizeof(own));
		if (!strcmp(own, name))
			return i;
	}
	fail_msg("no function %s", name);
	return 0;
}

static void count_paths(struct path_truth *paths, const unsigned *stack, size_t depth,
			bool from_leaf, unsigned state, uint64_t weight)
{
	char path[DEPTH_MAX * 24] = "", name[64];

	for (size_t i = 0; i < depth; i++) {
		function_name(stack[from_leaf ? depth - 1 - i : i], name, sizeof(name));
		strncat(path, "/", sizeof(path) - strlen(path) - 1);
		strncat(path, name, sizeof(path) - strlen(path) - 1);

		uint32_t id = string_table_add(&paths->names, path);

		assert_true(id < PATHS_MAX);
		paths->weight[id][state] += weight;
	}
}

/* Counts one event for a stack, outermost function first. */
static void count_event(struct truth *truth, const unsigned *stack, size_t depth, unsigned state,
			uint64_t weight)
{
	bool seen[FUNCTIONS] = {false}, object_seen[OBJECTS] = {false};

	truth->total[state] += weight;
	truth->exclusive[stack[depth - 1]][state] += weight;
	truth->object_exclusive[stack[depth - 1] / PER_OBJECT][state] += weight;
	truth->callee[TOTAL][stack[0]][state] += weight;
	for (size_t i = depth;
	     i--;) { /* from the innermost frame: the first time is the innermost */
		unsigned function = stack[i];

		if (!object_seen[function / PER_OBJECT])
			truth->object_inclusive[function / PER_OBJECT][state] += weight;
		object_seen[function / PER_OBJECT] = true;
		if (seen[function])
			continue;
		seen[function] = true;
		truth->inclusive[function][state] += weight;
		truth->caller[function][i ? stack[i - 1] : TOTAL][state] += weight;
		if (i + 1 < depth)
			truth->callee[function][stack[i + 1]][state] += weight;
	}
	count_paths(&truth->down, stack, depth, false, state, weight);
	count_paths(&truth->up, stack, depth, true, state, weight);

	struct event_truth *event = vec_push(&truth->events);

	memcpy(event->stack, stack, depth * sizeof(*stack));
	event->depth = depth;
	event->state = state;
	event->weight = weight;
}

static void write_stacks(const char *path, const struct node *nodes, unsigned count)
{
	struct bytes file = {0}, payload = {0};

	put_file_header(&file, "stacks");
	for (unsigned i = 1; i < count; i++)
		put_raw_node(&payload, nodes[i].parent, 0,
			     (nodes[i].function / PER_OBJECT + 1) * 0x100000u +
				     nodes[i].function % PER_OBJECT * 256 + random_below(256));
	put_block(&file, (struct format_block_header){.first = 1, .encoding = 2}, &payload);
	write_file(path, "stacks", file.data, file.size);
	bytes_free(&file);
	bytes_free(&payload);
}

static unsigned make_nodes(struct node *nodes)
{
	unsigned count = 2 + random_below(NODES_MAX - 2), depth[NODES_MAX] = {0};

	for (unsigned i = 1; i < count; i++) {
		do
			nodes[i].parent = random_below(3) ? i - 1 : random_below(i);
		while (depth[nodes[i].parent] >= DEPTH_MAX - 1);
		depth[i] = depth[nodes[i].parent] + 1;
		nodes[i].function = random_below(FUNCTIONS);
	}
	return count;
}

static void make_event(struct truth *truth, const struct node *nodes, unsigned count,
		       unsigned process, unsigned thread, uint32_t *previous, struct bytes *payload)
{
	unsigned node = 1 + random_below(count - 1), state = random_below(10);
	unsigned stack[DEPTH_MAX], depth = 0;
	uint64_t dt = random_below(3) ? random_below(5000) : 0, weight = dt;

	if (!random_below(4))
		weight = random_below(100);
	for (unsigned i = node; i; i = nodes[i].parent)
		depth++;
	for (unsigned i = node, at = depth; i; i = nodes[i].parent)
		stack[--at] = nodes[i].function;
	put_event(payload, state, dt, weight, previous, node);
	truth->thread[process][thread][state] += weight;
	if (weight)
		count_event(truth, stack, depth, state, weight);
}

static void make_process(struct truth *truth, const char *path, unsigned process)
{
	struct node nodes[NODES_MAX] = {0};
	unsigned count = make_nodes(nodes);
	struct bytes file = {0};

	write_text(path, "log.xml",
		   process ? LOG_START LOG_END
			   : LOG_START LOG_SYSTEM LOG_PROCESS
			   "<event kind=\"exit\" tstamp=\"9000000\"/>\n" LOG_END);
	write_text(path, "map.xml",
		   MAP_START "<event kind=\"map\" vaddr=\"0x100000\" size=\"0x1000\" "
			     "bias=\"0x100000\" name=\"/lib/a.so\" buildid=\"01\"/>\n"
			     "<event kind=\"map\" vaddr=\"0x200000\" size=\"0x1000\" "
			     "bias=\"0x200000\" name=\"/lib/b.so\"/>\n" MAP_END);
	write_overview(path);
	write_stacks(path, nodes, count);
	put_file_header(&file, "profile");
	for (unsigned thread = 0; thread < THREADS; thread++) {
		struct bytes payload = {0};
		uint32_t previous = 0;

		put_thread(&payload, thread + 1, 100 + thread, 1000);
		for (unsigned i = random_below(EVENTS_MAX); i--;)
			make_event(truth, nodes, count, process, thread, &previous, &payload);
		put_block(&file,
			  (struct format_block_header){
				  .first = thread + 1, .base_time = 1000, .encoding = 1},
			  &payload);
		bytes_free(&payload);
	}
	write_file(path, "profile", file.data, file.size);
	bytes_free(&file);
}

static double seconds(const uint64_t *states, uint32_t mask)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 10; i++)
		if (mask >> i & 1)
			sum += states[i];
	return (double)sum / 1e6;
}

static void assert_value(double actual, const uint64_t *states, const struct metric *metric,
			 const char *what, const char *name)
{
	double expected = seconds(states, metric->states);

	if (actual < expected - 1e-9 || actual > expected + 1e-9)
		fail_msg("%s of %s: %s is %.6f, must be %.6f", what, name, metric->command, actual,
			 expected);
}

static bool any(const uint64_t *states)
{
	return seconds(states, 0x3ff) > 0;
}

static void check_functions(struct session *session, const struct query *query,
			    const struct truth *truth)
{
	struct table table;
	size_t expected = 1;

	view_functions(session, query, &table);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		expected += any(truth->inclusive[i]);
	assert_int_equal(table.row_count, expected);
	assert_string_equal(table.rows[0].name, "<Total>");
	for (size_t row = 0; row < table.row_count; row++) {
		unsigned function = function_of_name(table.rows[row].name);

		for (size_t i = 0; i < table.column_count; i++) {
			const struct metric_choice *choice = &table.columns[i].choice;
			double value = table.values[row * table.column_count + i];

			if (!choice->metric->states)
				continue;
			assert_value(value,
				     function == TOTAL ? truth->total
				     : choice->flavor == FLAVOR_EXCLUSIVE
					     ? truth->exclusive[function]
					     : truth->inclusive[function],
				     choice->metric, "function", table.rows[row].name);
			assert_value(table.base[i], truth->total, choice->metric, "base",
				     "<Total>");
		}
	}
	table_fini(&table);
}

static const uint64_t *pair_truth(const struct truth *truth, unsigned center, const struct row *row)
{
	static const uint64_t zero[10];
	unsigned other = function_of_name(row->name);

	if (row->mark == ROW_CENTER)
		return center == TOTAL ? zero : truth->exclusive[center];
	return row->mark == ROW_CALLER ? truth->caller[center][other]
				       : truth->callee[center][other];
}

/* Rows of one block: their values, their number, and the equation. */
static void check_block(const struct table *table, size_t begin, size_t end,
			const struct truth *truth)
{
	size_t center_row = begin, expected = 1;

	while (table->rows[center_row].mark != ROW_CENTER)
		center_row++;

	unsigned center = function_of_name(table->rows[center_row].name);

	for (unsigned i = 0; i <= FUNCTIONS; i++) {
		if (center != TOTAL)
			expected += any(truth->caller[center][i]);
		if (i != TOTAL)
			expected += any(truth->callee[center][i]);
	}
	assert_int_equal(end - begin, expected);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric *metric = table->columns[i].choice.metric;
		double callers = 0, rest = 0;

		if (!metric->states)
			continue;
		assert_int_equal(table->columns[i].choice.flavor, FLAVOR_ATTRIBUTED);
		for (size_t row = begin; row < end; row++) {
			double value = table->values[row * table->column_count + i];

			assert_true(row < center_row   ? table->rows[row].mark == ROW_CALLER
				    : row > center_row ? table->rows[row].mark == ROW_CALLEE
						       : true);
			assert_value(value, pair_truth(truth, center, &table->rows[row]), metric,
				     table->rows[row].name, table->rows[center_row].name);
			*(row < center_row ? &callers : &rest) += value;
		}

		double base =
			table->block_base[row_block(&table->rows[begin]) * table->column_count + i];

		assert_value(base, center == TOTAL ? truth->total : truth->inclusive[center],
			     metric, "base", table->rows[center_row].name);
		assert_float_equal(rest, base, 1e-9);
		if (center != TOTAL)
			assert_float_equal(callers, base, 1e-9);
	}
}

static void check_callers(struct session *session, const struct query *query,
			  const struct truth *truth)
{
	struct table table;
	size_t blocks = 0, expected = 1;

	view_callers_callees(session, query, &table);
	for (size_t begin = 0, end; begin < table.row_count; begin = end) {
		for (end = begin; end < table.row_count && row_block(&table.rows[end]) == blocks;)
			end++;
		assert_true(end > begin);
		check_block(&table, begin, end, truth);

		/* the block alone is the same, but for the order of equals */
		struct table single;
		size_t center = begin;

		while (table.rows[center].mark != ROW_CENTER)
			center++;
		view_callers_callees_of(session, query, &table.rows[center].id, 1, &single);
		assert_int_equal(single.row_count, end - begin);
		check_block(&single, 0, single.row_count, truth);
		table_fini(&single);
		blocks++;
	}
	for (unsigned i = 0; i < FUNCTIONS; i++)
		expected += any(truth->inclusive[i]);
	assert_int_equal(blocks, expected);
	table_fini(&table);
}

static void check_tree(struct session *session, const struct query *query, bool inverted,
		       const struct path_truth *truth)
{
	struct table table;
	char path[DEPTH_MAX * 24] = "";
	size_t lengths[DEPTH_MAX + 2] = {0};
	uint32_t ids[DEPTH_MAX + 2] = {0};

	view_call_tree(session, query, &(struct tree_part){.inverted = inverted}, &table);
	assert_int_equal(table.row_count, truth->names.count + 1);
	for (size_t row = 1; row < table.row_count; row++) {
		const struct row *entry = &table.rows[row];

		assert_true(row_depth(entry) >= 1 &&
			    row_depth(entry) <= row_depth(&table.rows[row - 1]) + 1);
		path[lengths[row_depth(entry) - 1]] = '\0';
		strncat(path, "/", sizeof(path) - strlen(path) - 1);
		strncat(path, entry->name, sizeof(path) - strlen(path) - 1);
		lengths[row_depth(entry)] = strlen(path);
		ids[row_depth(entry)] = entry->id;
		assert_int_equal(row_parent(entry), ids[row_depth(entry) - 1]);

		uint32_t id = string_table_find(&truth->names, path);

		assert_int_not_equal(id, HASH_NONE);
		for (size_t i = 0; i < table.column_count; i++)
			if (!table.columns[i].choice.metric->is_static &&
			    table.columns[i].choice.metric->states)
				assert_value(table.values[row * table.column_count + i],
					     truth->weight[id], table.columns[i].choice.metric,
					     "node", path);

		bool last = row + 1 == table.row_count;

		for (size_t next = row + 1; next < table.row_count; next++) {
			last = row_depth(&table.rows[next]) < row_depth(entry) ||
			       next + 1 == table.row_count;
			if (row_depth(&table.rows[next]) <= row_depth(entry)) {
				last = row_depth(&table.rows[next]) < row_depth(entry);
				break;
			}
		}
		assert_int_equal(entry->last_child, last);
	}
	table_fini(&table);
}

/* Event by event, at the innermost place where the whole fragment is on the stack. */
static void count_fragment(const struct truth *truth, const unsigned *fragment, size_t count,
			   uint64_t caller[][10], uint64_t callee[][10], uint64_t own[10])
{
	for (size_t i = 0; i < truth->events.count; i++) {
		const struct event_truth *event = &truth->events.items[i];
		size_t at = event->depth;

		while (at >= count &&
		       memcmp(event->stack + at - count, fragment, count * sizeof(*fragment)) != 0)
			at--;
		if (at < count)
			continue;
		caller[at == count ? TOTAL : event->stack[at - count - 1]][event->state] +=
			event->weight;
		if (at == event->depth)
			own[event->state] += event->weight;
		else
			callee[event->stack[at]][event->state] += event->weight;
	}
}

static uint32_t find_one(struct session *session, const char *name)
{
	struct function_match *matches;
	size_t count = view_find_functions(session, &(struct query){0}, name, &matches);
	uint32_t function = count ? matches[0].function : FUNCTION_TOTAL;

	assert_int_equal(count, 1);
	free(matches);
	return function;
}

/* A piece of a random event's stack: its callers, itself, its callees. */
static void check_fragment(struct session *session, const struct query *query,
			   const struct truth *truth)
{
	if (!truth->events.count)
		return;

	const struct event_truth *event =
		&truth->events.items[random_below((unsigned)truth->events.count)];
	size_t begin = random_below((unsigned)event->depth);
	size_t count = 1 + random_below((unsigned)(event->depth - begin));
	uint64_t caller[FUNCTIONS + 1][10] = {0}, callee[FUNCTIONS][10] = {0}, own[10] = {0};
	uint32_t ids[DEPTH_MAX];
	char name[64];
	struct table table;
	size_t seen = 0;

	count_fragment(truth, event->stack + begin, count, caller, callee, own);
	for (size_t i = 0; i < count; i++) {
		function_name(event->stack[begin + i], name, sizeof(name));
		ids[i] = find_one(session, name);
	}
	view_callers_callees_of(session, query, ids, count, &table);
	for (size_t row = 0; row < table.row_count; row++) {
		const struct row *entry = &table.rows[row];
		unsigned function = function_of_name(entry->name);
		static const uint64_t nothing[10];
		const uint64_t *expected = nothing;

		if (entry->mark == ROW_CALLER)
			expected = caller[function];
		else if (entry->mark == ROW_CALLEE)
			expected = callee[function];
		else if (++seen == count)
			expected = own;
		for (size_t i = 0; i < table.column_count; i++)
			if (!table.columns[i].choice.metric->is_static &&
			    table.columns[i].choice.metric->states)
				assert_value(table.values[row * table.column_count + i], expected,
					     table.columns[i].choice.metric, "fragment",
					     entry->name);
		if (entry->mark == ROW_CALLER)
			memset(caller[function], 0, sizeof(caller[function]));
		else if (entry->mark == ROW_CALLEE)
			memset(callee[function], 0, sizeof(callee[function]));
	}
	assert_int_equal(seen, count);
	for (unsigned i = 0; i <= FUNCTIONS; i++)
		assert_false(any(caller[i]) || (i < FUNCTIONS && any(callee[i])));
	table_fini(&table);
}

static void check_objects(struct session *session, const struct query *query,
			  const struct truth *truth)
{
	struct table table;

	view_objects(session, query, &table);
	for (size_t row = 1; row < table.row_count; row++) {
		unsigned object = !strcmp(table.rows[row].name, "b.so");

		for (size_t i = 0; i < table.column_count; i++) {
			const struct metric_choice *choice = &table.columns[i].choice;

			if (choice->metric->states)
				assert_value(table.values[row * table.column_count + i],
					     choice->flavor == FLAVOR_EXCLUSIVE
						     ? truth->object_exclusive[object]
						     : truth->object_inclusive[object],
					     choice->metric, "object", table.rows[row].name);
		}
	}
	table_fini(&table);
}

/* Those with an event. */
static size_t count_threads(const struct truth *truth)
{
	size_t count = 0;

	for (unsigned process = 0; process < 2; process++)
		for (unsigned thread = 0; thread < THREADS; thread++)
			count += seconds(truth->thread[process][thread], 0x3ff) > 0;
	return count;
}

static void check_threads(struct session *session, const struct query *query,
			  const struct truth *truth)
{
	struct table table;

	view_threads(session, query, &table);
	assert_int_equal(table.row_count, 1 + count_threads(truth));
	for (size_t row = 0; row < table.row_count; row++) {
		unsigned process = 0, thread = 0, tid = 0;

		if (row)
			assert_int_equal(sscanf(table.rows[row].name,
						"Process %u, Thread %u (tid %u)", &process, &thread,
						&tid),
					 3);
		for (size_t i = 0; i < table.column_count; i++) {
			const struct metric *metric = table.columns[i].choice.metric;
			double value = table.values[row * table.column_count + i];

			if (row && !strcmp(metric->command, "masterthread"))
				assert_float_equal(
					value,
					thread == 1 ? seconds(truth->thread[process - 1][0], 0x3ff)
						    : 0,
					1e-9);
			else if (metric->states)
				assert_value(value,
					     row ? truth->thread[process - 1][thread - 1]
						 : truth->total,
					     metric, "thread", table.rows[row].name);
		}
	}
	table_fini(&table);
}

/* By the functions from the outermost on: at which addresses they were is not the question. */
static void count_stacks(struct path_truth *paths, const struct truth *truth)
{
	for (size_t i = 0; i < truth->events.count; i++) {
		const struct event_truth *event = &truth->events.items[i];
		char path[DEPTH_MAX * 24] = "", name[64];

		for (size_t k = 0; k < event->depth; k++) {
			function_name(event->stack[k], name, sizeof(name));
			strcat(strcat(path, "/"), name);
		}
		paths->weight[string_table_add(&paths->names, path)][event->state] += event->weight;
	}
}

/* Takes each row's values from those of its functions: nothing is left. */
static void check_stacks(struct session *session, struct query query, const struct truth *truth)
{
	struct path_truth *paths = calloc(1, sizeof(*paths));
	struct stack_list list;
	size_t column = 0;

	query.callers_first = true;
	count_stacks(paths, truth);
	view_stacks(session, &query, &list);
	for (unsigned state = 0; state < 10; state++) {
		while (list.table.columns[column].choice.metric->states != 1u << state)
			column = (column + 1) % list.table.column_count;
		assert_value(list.table.values[column], truth->total,
			     list.table.columns[column].choice.metric, "stacks", "<Total>");
		for (size_t row = 1; row < list.table.row_count; row++) {
			double value = list.table.values[row * list.table.column_count + column];
			char path[DEPTH_MAX * 24] = "";

			for (uint32_t i = 0; i < list.frames.stacks[row].depth; i++)
				strcat(strcat(path, "/"),
				       list.frames.frames[list.frames.stacks[row].frames[i]].name);
			paths->weight[string_table_add(&paths->names, path)][state] -=
				(uint64_t)(value * 1e6 + 0.5);
		}
	}
	for (size_t i = 0; i < paths->names.count; i++)
		assert_false(any(paths->weight[i]));
	stack_list_fini(&list);
	string_table_fini(&paths->names);
	free(paths);
}

static void check_seed(uint64_t seed)
{
	struct truth *truth = calloc(1, sizeof(*truth));
	char *path = make_experiment("random.er");
	char *child = make_descendant(path, "_f1");
	struct diag_list diags = {0};
	struct session *session;
	struct query query;

	random_state = seed;
	make_process(truth, path, 0);
	make_process(truth, child, 1);
	assert_int_equal(session_open(&path, 1, NULL, &session, &diags), STATUS_OK);
	query_init(&query, session);
	assert_int_equal(metric_list_parse(session, NULL, "ei.any:name", &query.metrics, &diags),
			 STATUS_OK);
	check_functions(session, &query, truth);
	check_callers(session, &query, truth);
	check_tree(session, &query, false, &truth->down);
	check_tree(session, &query, true, &truth->up);
	for (unsigned i = 0; i < FRAGMENTS; i++)
		check_fragment(session, &query, truth);
	check_objects(session, &query, truth);
	check_threads(session, &query, truth);
	check_stacks(session, query, truth);
	assert_int_equal(diags.count, 0);
	query_fini(&query);
	session_free(session);
	remove_experiment(path);
	free(child);
	free(path);
	string_table_fini(&truth->down.names);
	string_table_fini(&truth->up.names);
	vec_fini(&truth->events);
	free(truth);
}

static void test_views_equal_reference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		check_seed(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views_equal_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
