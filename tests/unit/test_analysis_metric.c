/* SPDX-License-Identifier: Apache-2.0 */
/* The language of metric specifications, rule by rule; sums as they are kept. */
#include "analysis/metric/measure.h"
#include "analysis/metric/metric.h"
#include "analysis/session/query.h"
#include "analysis/session/session.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One thread with an event in each of the given states; clock: the setting's value. */
static struct session *open_session(const unsigned *states, size_t count, const char *clock)
{
	char *path = make_experiment("m.er"), log[1024];
	struct bytes file = {0}, payload = {0};
	struct diag_list diags = {0};
	struct session *session;
	uint32_t stack = 0;

	snprintf(log, sizeof(log),
		 LOG_START "<setting name=\"clock\" value=\"%s\"/>\n" LOG_PROCESS LOG_END, clock);
	write_text(path, "log.xml", log);
	write_text(path, "map.xml", MAP_START MAP_END);
	write_overview(path);
	if (count) {
		put_file_header(&file, "profile");
		put_thread(&payload, 1, 100, 0);
		for (size_t i = 0; i < count; i++)
			put_event(&payload, states[i], 10, 10, &stack, 0);
		put_block(&file, (struct format_block_header){.first = 1, .encoding = 1}, &payload);
		write_file(path, "profile", file.data, file.size);
	}
	bytes_free(&file);
	bytes_free(&payload);
	assert_int_equal(session_open(&path, 1, NULL, &session, &diags), STATUS_OK);
	diag_fini(&diags);
	remove_experiment(path);
	free(path);
	return session;
}

static int setup(void **state)
{
	static const unsigned states[] = {FORMAT_STATE_USER, FORMAT_STATE_SLEEP};

	*state = open_session(states, 2, "1000");
	return 0;
}

static int teardown(void **state)
{
	session_free(*state);
	return 0;
}

static void check(const struct session *session, const char *spec, const char *expected)
{
	struct metric_list list = {0};
	struct diag_list diags = {0};

	if (metric_list_parse(session, NULL, spec, &list, &diags))
		fail_msg("%s: %s", spec, diags.items[0].text);

	char *text = metric_list_text(&list);

	assert_string_equal(text, expected);
	assert_int_equal(diags.count, 0);
	free(text);
	free(list.items);
}

static void test_expansion(void **state)
{
	check(*state, "e.user:name", "e.user:name");
	check(*state, "ie.user:name", "i.user:e.user:name");
	check(*state, "i%.user:name", "i.%user:name");
	check(*state, "i.%user:name", "i.%user:name");
	check(*state, "ei%.user:name", "e.%user:i.%user:name");
	check(*state, "eie.user:name", "e.user:i.user:name");
	check(*state, "aei.user:name", "a.user:e.user:i.user:name");
}

static void test_name_is_always_there(void **state)
{
	check(*state, "e.user", "e.user:name");
	check(*state, "name:e.user", "name:e.user");
	check(*state, "!name:e.user", "!name:e.user");
	check(*state, "size:e.user:address", "size:e.user:address:name");
	check(*state, " e.user : i.user ", "e.user:i.user:name");
	check(*state, "e.user::i.user:", "e.user:i.user:name");
}

static void test_merging(void **state)
{
	check(*state, "e.user:i.user:e%user:name", "e.%user:i.user:name");
	check(*state, "e.user:e.user:name", "e.user:name");
	check(*state, "name:e.user:name", "name:e.user");
	/* hidden in one place and shown in another is shown */
	check(*state, "e!user:e.user:name", "e.user:name");
	check(*state, "e.user:e!user:name", "e.user:name");
	check(*state, "e!user:e!%user:name", "e!.%user:name");
	check(*state, "!size:size:name", "size:name");
}

static void test_visibility_fits_the_unit(void **state)
{
	check(*state, "e+user:name", "e.user:name");
	check(*state, "e%user:name", "e%user:name");
	check(*state, "e+.%user:name", "e.%user:name");
	check(*state, "e!user:name", "e!.user:name");
	check(*state, ".size:+size:name", "size:name");
}

static void test_aliases(void **state)
{
	check(*state, "e.ulock:e.text:e.data:e.wall:name",
	      "e.lock:e.textpfault:e.datapfault:e.masterthread:name");
	check(*state, "e.USER:NAME", "e.user:name");
	check(*state, "e.lock:e%ulock:name", "e.%lock:name");
}

static void test_groups(void **state)
{
	check(*state, "default", "e.%totalcpu:i.%totalcpu:name");
	check(*state, "i.user:default", "i.user:e.%totalcpu:i.%totalcpu:name");
	check(*state, "e.any",
	      "e.total:e.totalcpu:e.user:e.system:e.masterthread:e.wait:e.lock:e.textpfault:"
	      "e.datapfault:e.kernelpfault:e.sleep:e.stop:e.owait:name");
	/* what any adds goes where it is not yet */
	check(*state, "i%sleep:i.any:name",
	      "i.%sleep:i.total:i.totalcpu:i.user:i.system:i.masterthread:i.wait:i.lock:"
	      "i.textpfault:i.datapfault:i.kernelpfault:i.stop:i.owait:name");
}

static void test_trap_is_there_with_data_only(void **state)
{
	static const unsigned states[] = {FORMAT_STATE_TRAP};
	struct session *with = open_session(states, 1, "1000");

	assert_false(metric_available(*state, metric_find(NULL, "trap")));
	assert_true(metric_available(with, metric_find(NULL, "trap")));
	assert_true(metric_available(*state, metric_find(NULL, "stop")));
	check(*state, "e.trap", "e.trap:name"); /* asked for by name it is 0 */
	session_free(with);
}

/* The text, behind which may stand what to do, in parentheses. */
static void check_message(const char *text, const char *expected)
{
	size_t length = strlen(expected);

	assert_int_equal(strncmp(text, expected, length), 0);
	assert_true(!text[length] || !strncmp(text + length, " (", 2));
}

/* The message's text, and that the list stays as it was. */
static void check_error(const struct session *session, const char *spec, const char *expected)
{
	struct metric_list list = {0};
	struct diag_list diags = {0};

	assert_int_equal(metric_list_parse(session, NULL, "i.sleep", &list, &diags), STATUS_OK);
	assert_int_equal(metric_list_parse(session, NULL, spec, &list, &diags), STATUS_INVALID);
	assert_int_equal(diags.count, 1);
	check_message(diags.items[0].text, expected);

	char *text = metric_list_text(&list);

	assert_string_equal(text, "i.sleep:name");
	free(text);
	free(list.items);
	diag_fini(&diags);
}

#define NO_DATA "No data recorded to support metric specification: "

static void test_errors(void **state)
{
	check_error(*state, "e.bogus", NO_DATA "e.bogus");
	check_error(*state, "e.user:i.bogus:name", NO_DATA "i.bogus");
	check_error(*state, "e.hwc", NO_DATA "e.hwc");
	check_error(*state, "i+bit", NO_DATA "i+bit");
	check_error(*state, "d.user", NO_DATA "d.user");
	check_error(*state, "bogus", NO_DATA "bogus");
	check_error(*state, "", "Invalid metric specification:  (it names no metric)");
	check_error(*state, "user",
		    "Invalid metric specification: user (it has no flavour; write e.user for "
		    "exclusive or i.user for inclusive values)");
	check_error(*state, "%user",
		    "Invalid metric specification: %user (it has no flavour; write e.user for "
		    "exclusive or i.user for inclusive values)");
	check_error(*state, "e.name",
		    "Invalid metric specification: e.name (this metric has no flavours; write it "
		    "without them)");
}

static void test_no_clock_data(void **state)
{
	struct session *session = open_session(NULL, 0, "0");
	struct query query;

	(void)state;
	check_error(*state, "e.hwc", NO_DATA "e.hwc");
	check(session, "default", "name");
	check(session, "size", "size:name");

	struct metric_list list = {0};
	struct diag_list diags = {0};

	assert_int_equal(metric_list_parse(session, NULL, "e.user", &list, &diags), STATUS_INVALID);
	check_message(diags.items[0].text, NO_DATA "e.user");
	assert_int_equal(metric_list_parse(session, NULL, "e.any", &list, &diags), STATUS_INVALID);
	check_message(diags.items[1].text, NO_DATA "e.any");
	diag_fini(&diags);
	query_init(&query, session);
	assert_string_equal(query.sort.metric->command, "name");
	query_fini(&query);
	session_free(session);
}

static void check_sort(const struct session *session, const char *spec, const char *expected,
		       bool expected_reverse)
{
	struct metric_choice choice = {0};
	struct diag_list diags = {0};
	bool reverse = !expected_reverse;

	assert_int_equal(metric_sort_parse(session, spec, &choice, &reverse, &diags), STATUS_OK);

	char *title = metric_choice_title(&choice);

	assert_string_equal(title, expected);
	assert_int_equal(reverse, expected_reverse);
	assert_int_equal(diags.count, 0);
	free(title);
}

static void test_sort(void **state)
{
	struct metric_choice choice = {0};
	struct diag_list diags = {0};
	bool reverse = false;

	check_sort(*state, "e.totalcpu", "Exclusive Total CPU Time", false);
	check_sort(*state, "-i.sleep", "Inclusive Sleep Time", true);
	check_sort(*state, "name", "Name", false);
	check_sort(*state, "a.user", "Attributed User CPU Time", false);
	/* of a list the first that there is */
	check_sort(*state, "e.hwc:i.user:name", "Inclusive User CPU Time", false);
	check_sort(*state, "ei.any:name", "Exclusive Total Thread Time", false);
	assert_int_equal(metric_sort_parse(*state, "e.bogus", &choice, &reverse, &diags),
			 STATUS_INVALID);
	check_message(diags.items[0].text, NO_DATA "e.bogus");
	assert_null(choice.metric);
	diag_fini(&diags);
}

/* All metrics, in the order of the catalogue. */
static const struct {
	const char *command, *title;
} catalogue[] = {
	{"total", "Total Thread Time"},
	{"totalcpu", "Total CPU Time"},
	{"user", "User CPU Time"},
	{"system", "System CPU Time"},
	{"trap", "Trap CPU Time"},
	{"wait", "Wait CPU Time"},
	{"lock", "User Lock Time"},
	{"textpfault", "Text Page Fault Time"},
	{"datapfault", "Data Page Fault Time"},
	{"kernelpfault", "Kernel Page Fault Time"},
	{"sleep", "Sleep Time"},
	{"stop", "Stopped Time"},
	{"owait", "Other Wait Time"},
	{"masterthread", "Master Thread Time"},
	{"sync", "Sync Wait Time"},
	{"syncn", "Sync Wait Count"},
	{"heapalloccnt", "Allocations"},
	{"heapallocbytes", "Bytes Allocated"},
	{"heapleakcnt", "Leaks"},
	{"heapleakbytes", "Bytes Leaked"},
	{"ioreadcnt", "Read Count"},
	{"ioreadbytes", "Read Bytes"},
	{"ioreadtime", "Read Time"},
	{"iowritecnt", "Write Count"},
	{"iowritebytes", "Write Bytes"},
	{"iowritetime", "Write Time"},
	{"iowaitcnt", "I/O Wait Count"},
	{"iowaittime", "I/O Wait Time"},
	{"iorequestcnt", "Submitted Requests"},
	{"ioothercnt", "Other I/O Count"},
	{"ioothertime", "Other I/O Time"},
	{"ioerrorcnt", "I/O Error Count"},
	{"ioerrortime", "I/O Error Time"},
	{"mpitime", "MPI Time"},
	{"mpisend", "MPI Sends"},
	{"mpibytessent", "MPI Bytes Sent"},
	{"mpireceive", "MPI Receives"},
	{"mpibytesrecv", "MPI Bytes Received"},
	{"mpiother", "Other MPI Calls"},
	{"mpibytesarrived", "MPI Bytes Arrived"},
	{"mpiwaittime", "MPI Wait Time"},
	{"mpicollectivetime", "MPI Collective Time"},
	{"mpifilebytes", "MPI File Bytes"},
	{"mpiwork", "MPI Work"},
	{"mpiwait", "MPI Wait"},
	{"ompwork", "OpenMP Work Time"},
	{"ompwait", "OpenMP Wait Time"},
	{"ompovhd", "OpenMP Overhead Time"},
	{"ompibar", "OpenMP Implicit Barrier Time"},
	{"ompebar", "OpenMP Explicit Barrier Time"},
	{"ompserl", "OpenMP Serial Time"},
	{"omprduc", "OpenMP Reduction Time"},
	{"omplkwt", "OpenMP Lock Wait Time"},
	{"ompctwt", "OpenMP Critical Section Wait Time"},
	{"ompodwt", "OpenMP Ordered Section Wait Time"},
	{"ompatwt", "OpenMP Atomic Wait Time"},
	{"omptkwt", "OpenMP Task Wait Time"},
	{"ompidle", "OpenMP Idle Time"},
	{"ompregn", "OpenMP Regions"},
	{"jalloccnt", "Java Allocations"},
	{"jallocbytes", "Java Bytes Allocated"},
	{"jlivecnt", "Java Objects Live"},
	{"jlivebytes", "Java Bytes Live"},
	{"jkeptcnt", "Java Objects Kept"},
	{"jkeptbytes", "Java Bytes Kept"},
	{"size", "Size"},
	{"address", "PC Address"},
	{"name", "Name"},
};

static void test_catalogue(void **state)
{
	size_t count = 0;

	(void)state;
	while (metric_catalogue(NULL, count))
		count++;
	assert_int_equal(count, sizeof(catalogue) / sizeof(catalogue[0]));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(metric_find(NULL, catalogue[i].command)->title,
				    catalogue[i].title);
		assert_non_null(metric_find(NULL, catalogue[i].command)->description);
	}
	assert_null(metric_find(NULL, ""));
	assert_null(metric_find(NULL, "use"));
}

/* Every third node or so has a sum; of the second measure some need more than 32 bits. */
static uint64_t sum_of(size_t measure, size_t node)
{
	return (node * 7 + measure) % 3 ? 0 : node << (measure == 1 ? 30 : 0);
}

static void fill_sums(struct measure_sums *sums, size_t nodes)
{
	*sums = (struct measure_sums){.nodes = nodes};
	for (size_t measure = 0; measure < 3; measure++)
		for (size_t node = 0; node < nodes; node++)
			measure_add(sums, (enum measure)measure, (uint32_t)node,
				    sum_of(measure, node));
}

static void check_sums(const struct finished_sums *sums, size_t times)
{
	uint64_t *all = calloc(sums->nodes + 1, sizeof(*all));

	for (size_t measure = 0; measure < 3; measure++) {
		struct finished_walk walk = finished_begin(sums, (enum measure)measure);

		assert_true(finished_read(sums, (enum measure)measure, all));
		for (size_t node = 0; node < sums->nodes; node++) {
			uint64_t sum = times * sum_of(measure, node);

			assert_true(finished_at(sums, (enum measure)measure, node) == sum);
			assert_true(all[node] == sum);
			if (!sum)
				continue;
			assert_true(finished_next(&walk));
			assert_true(walk.node == node && walk.sum == sum);
		}
		assert_false(finished_next(&walk));
	}
	assert_false(finished_has(sums, (enum measure)3));
	free(all);
}

static void test_finished_sums(void **state)
{
	static const size_t sizes[] = {1, 2, 63, 64, 65, 128, 1000};
	struct measure_sums parts[2], all;
	struct finished_sums sums;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill_sums(&all, sizes[i]);
		measure_finish(&sums, &all);
		check_sums(&sums, 1);
		finished_fini(&sums);
		all = (struct measure_sums){.nodes = sizes[i]};
		fill_sums(&parts[0], sizes[i]);
		fill_sums(&parts[1], sizes[i]);
		measure_fold_last(&sums, &all, parts, 2, NULL);
		check_sums(&sums, 2);
		finished_fini(&sums);
	}
}

/* What is 0 takes a bit, and a share of a count for each 64. */
static void test_sums_of_few_nodes_are_small(void **state)
{
	enum { NODES = 1 << 16, FEW = 100 };
	struct measure_sums sums = {.nodes = NODES};
	struct finished_sums finished;

	(void)state;
	for (uint32_t i = 0; i < FEW; i++)
		measure_add(&sums, (enum measure)0, i * (NODES / FEW), 1);
	measure_finish(&finished, &sums);
	assert_true(finished_size(&finished) < NODES / 4);
	finished_fini(&finished);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expansion),
		cmocka_unit_test(test_name_is_always_there),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_visibility_fits_the_unit),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_trap_is_there_with_data_only),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_no_clock_data),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_finished_sums),
		cmocka_unit_test(test_sums_of_few_nodes_are_small),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
