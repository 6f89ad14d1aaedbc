/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole experiments in bad states: every file cut off at every length, bytes
 * changed, files and processes missing.  Never a crash, and never other totals
 * without a warning.
 */
#include "experiment/experiment.h"
#include "experiment_writer.h"
#include "format/checksum.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiment_support.h"

enum { THREADS = 3, EVENTS = 40 };

static const char *const file_names[] = {"log.xml", "map.xml", "overview", "profile", "stacks"};

/* µs by state over all processes. */
#define ENDS_US 64ull /* of CPU time that the threads took after their last events */

struct totals {
	uint64_t state_us[FORMAT_STATE_COUNT];
	uint64_t unknown_us; /* of the missing call stacks' node */
};

static void put_checked_block(struct bytes *file, struct format_block_header header,
			      const struct bytes *payload)
{
	size_t start = file->size;

	put_block(file, header, payload);
	memcpy(&header, file->data + start, sizeof(header));
	header.checksum = format_checksum(&header, payload->data);
	memcpy(file->data + start, &header, sizeof(header));
}

static void write_profile(const char *path, struct totals *truth)
{
	struct bytes file = {0};

	put_file_header(&file, "profile");
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		struct bytes payload = {0};
		uint32_t stack = 0;

		put_thread(&payload, thread + 1, 100 + thread, 1000);
		for (uint32_t i = 0; i < EVENTS; i++) {
			unsigned state = (i * 7 + thread) % FORMAT_STATE_COUNT;

			put_event(&payload, state, 100 + i, 100 + i, &stack, 1 + (i * 5) % 6);
			truth->state_us[state] += 100 + i;
		}
		put_control(&payload, 0x81, 0);
		put_checked_block(&file,
				  (struct format_block_header){
					  .first = thread + 1, .base_time = 1000, .encoding = 1},
				  &payload);
		bytes_free(&payload);
	}
	write_file(path, "profile", file.data, file.size);
	bytes_free(&file);
}

static void write_stacks(const char *path)
{
	static const uint8_t packed[] = {1, 0, 0x80, 0x40, 1, 0, 0x20, 2, 2};
	struct bytes file = {0}, raw = {0}, nodes = {0};

	put_file_header(&file, "stacks");
	bytes_put(&nodes, packed, sizeof(packed));
	put_checked_block(
		&file, (struct format_block_header){.first = 1, .encoding = 3, .count = 3}, &nodes);
	for (uint32_t i = 4; i <= 6; i++)
		put_raw_node(&raw, i - 1, 0, 0x3000 + i);
	put_checked_block(&file, (struct format_block_header){.first = 4, .encoding = 2}, &raw);
	write_file(path, "stacks", file.data, file.size);
	bytes_free(&file);
	bytes_free(&raw);
	bytes_free(&nodes);
}

static void write_log(const char *path, const char *system)
{
	struct totals own = {0};
	char text[2048];

	write_profile(path, &own);

	unsigned long long cpu = (own.state_us[0] + own.state_us[1] + own.state_us[2]) * 1000;

	snprintf(text, sizeof(text),
		 LOG_START
		 "%s" LOG_PROCESS
		 "<event kind=\"counters\" tstamp=\"8000000\" events=\"%d\" dropped=\"0\" "
		 "unwind_failed=\"0\" truncated=\"0\" cpu_ns=\"%llu\" "
		 "ends_cpu_ns=\"%llu\" cpu_recorded_ns=\"%llu\"/>\n" LOG_END,
		 system, THREADS * EVENTS, cpu + ENDS_US * 1000, ENDS_US * 1000, cpu);
	write_text(path, "log.xml", text);
}

static void write_process(const char *path, const char *system, struct totals *truth)
{
	write_log(path, system);
	write_profile(path, truth);
	truth->state_us[FORMAT_STATE_SYSTEM] += ENDS_US;
	write_stacks(path);
	write_overview(path);
	write_text(path, "map.xml",
		   MAP_START "<event kind=\"map\" vaddr=\"0x1000\" size=\"0x8000\" bias=\"0\" "
			     "name=\"/lib/a.so\"/>\n" MAP_END);
}

/* A founder with a child; the caller frees both paths. */
static char *write_family(char **child, struct totals *truth)
{
	char *path = make_experiment("d.er");

	*truth = (struct totals){0};
	*child = make_descendant(path, "_f1");
	write_process(path, LOG_SYSTEM, truth);
	write_process(*child, "", truth);
	return path;
}

/* A founder of 9 ms that has written no counters, with such events. */
static void check_untold(const char *events, const char *warning, uint64_t children_us)
{
	char *path = make_experiment("left.er"), text[2048];
	struct diag_list errors = {0}, warnings = {0};
	struct totals truth = {0};
	struct experiment *experiment;
	uint64_t found_us = 0;

	write_process(path, LOG_SYSTEM, &truth);
	snprintf(text, sizeof(text),
		 LOG_START LOG_SYSTEM "<setting name=\"follow\" value=\"on\"/>\n" LOG_PROCESS
				      "%s</experiment>\n",
		 events);
	write_text(path, "log.xml", text);
	assert_int_equal(experiment_open(path, &experiment, &errors, &warnings), STATUS_OK);
	for (size_t i = 0; i < warnings.count; i++)
		if (strstr(warnings.items[i].text, "cannot be"))
			assert_true(warning && strstr(warnings.items[i].text, warning));
	for (size_t i = 0; i < warnings.count && warning; i++)
		if (strstr(warnings.items[i].text, warning))
			warning = NULL;
	assert_null(warning);
	for (size_t i = 1; i < experiment->processes.count; i++)
		found_us += experiment->processes.items[i].profile.threads.items[0].recorded_us;
	assert_in_range(found_us, children_us, children_us);
	experiment_free(experiment);
	diag_fini(&errors);
	diag_fini(&warnings);
	remove_experiment(path);
	free(path);
}

#define LEFT(own, children)                                                                        \
	"<event kind=\"left\" before_user_us=\"0\" before_system_us=\"0\" before_own_us=\"0\" "    \
	"collector_us=\"" own "\" children_user_us=\"" children "\" children_system_us=\"0\"/>\n"
#define EXIT(user)                                                                                 \
	"<event kind=\"exit\" tstamp=\"9000000000\" status=\"0\" signal=\"9\" user_us=\"" user     \
	"\" system_us=\"0\"/>\n"
#define MOST "18446744073709551615"

/* Two processors and nine seconds: no more than 18 can have been used. */
static void test_impossible_times(void **state)
{
	(void)state;
	check_untold(LEFT("0", "5000000") EXIT("6000000"), NULL, 5000000);
	check_untold(LEFT("0", MOST) EXIT("6000000"), "is said to have left", 0);
	check_untold(LEFT(MOST, "5000000") EXIT("6000000"), "is said to have left", 0);
	check_untold(LEFT("0", "7000000") EXIT("6000000"), "is said to have left", 0);
	check_untold(LEFT("0", "30000000") EXIT("40000000"), "cannot be", 0);
	check_untold(LEFT("0", MOST) EXIT(MOST), "cannot be", 0);
	check_untold("<event kind=\"counters\" events=\"120\" process_cpu_ns=\"9000000\" "
		     "children_user_us=\"" MOST "\" children_system_us=\"1\"/>\n" EXIT("6000000"),
		     "its counters tell of", 0);
}

/* Sums from the columns, as the engine takes them. */
static void add_process(const struct process *process, struct totals *totals)
{
	for (size_t i = 0; i < process->profile.segments.count; i++) {
		const struct profile_segment *segment = &process->profile.segments.items[i];
		const struct rows *rows = &process->profile.rows;

		for (size_t row = segment->first; row < segment->first + segment->count; row++) {
			uint64_t stack = rows_get(rows, ROW_STACK, row);
			uint64_t weight = rows_get(rows, ROW_FIELD + PROFILE_WEIGHT, row);

			assert_true(stack < process->stacks.nodes.count);
			totals->state_us[rows_get(rows, ROW_TYPE, row)] += weight;
			if (stack == STACK_UNKNOWN)
				totals->unknown_us += weight;
		}
	}
}

/* The number of warnings; SIZE_MAX where the experiment cannot be opened. */
static size_t read_totals(const char *path, struct totals *totals)
{
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;
	enum status status = experiment_open(path, &experiment, &errors, &warnings);
	size_t count = warnings.count;

	*totals = (struct totals){0};
	if (status) {
		assert_true(errors.count > 0);
		count = SIZE_MAX;
	} else {
		assert_int_equal(errors.count, 0);
		for (size_t i = 0; i < experiment->processes.count; i++)
			add_process(&experiment->processes.items[i], totals);
	}
	experiment_free(experiment);
	diag_fini(&errors);
	diag_fini(&warnings);
	return count;
}

static void assert_right_or_warned(const char *path, const struct totals *truth, const char *file,
				   size_t where)
{
	struct totals totals, killed = *truth;

	/* Without its end a log is that of a process that was killed. */
	killed.state_us[FORMAT_STATE_SYSTEM] -= ENDS_US;
	if (!read_totals(path, &totals) && memcmp(&totals, truth, sizeof(totals)) &&
	    memcmp(&totals, &killed, sizeof(totals)))
		fail_msg("%s damaged at %zu: other totals without a warning", file, where);
}

static void test_intact(void **state)
{
	struct totals truth, totals;
	char *child, *path = write_family(&child, &truth);

	(void)state;
	assert_int_equal(read_totals(path, &totals), 0);
	assert_memory_equal(&totals, &truth, sizeof(truth));
	remove_experiment(path);
	free(child);
	free(path);
}

static void truncate_all(const char *directory, const char *path, const struct totals *truth)
{
	for (size_t i = 0; i < sizeof(file_names) / sizeof(file_names[0]); i++) {
		struct bytes whole = read_whole(directory, file_names[i]);

		for (size_t size = 0; size < whole.size; size++) {
			write_file(directory, file_names[i], whole.data, size);
			assert_right_or_warned(path, truth, file_names[i], size);
		}
		write_file(directory, file_names[i], whole.data, whole.size);
		bytes_free(&whole);
	}
}

static void test_cut_off_anywhere(void **state)
{
	struct totals truth;
	char *child, *path = write_family(&child, &truth);

	(void)state;
	truncate_all(path, path, &truth);
	truncate_all(child, path, &truth);
	remove_experiment(path);
	free(child);
	free(path);
}

static void test_bytes_changed_anywhere(void **state)
{
	struct totals truth;
	char *child, *path = write_family(&child, &truth);
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(file_names) / sizeof(file_names[0]); i++) {
		struct bytes whole = read_whole(path, file_names[i]);

		for (size_t at = 0; at < whole.size; at++) {
			uint8_t old = whole.data[at];

			random = random * 6364136223846793005u + 1442695040888963407u;
			whole.data[at] ^= (uint8_t)(1 + (random >> 33) % 255);
			write_file(path, file_names[i], whole.data, whole.size);
			assert_right_or_warned(path, &truth, file_names[i], at);
			whole.data[at] = old;
		}
		write_file(path, file_names[i], whole.data, whole.size);
		bytes_free(&whole);
	}
	remove_experiment(path);
	free(child);
	free(path);
}

static void test_missing_files(void **state)
{
	static const char *const texts[] = {"log.xml is missing", "map.xml is missing",
					    "overview is missing", "profile is missing",
					    "stacks is missing"};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct totals truth;
		char *child, *path = write_family(&child, &truth);
		char *file = NULL;

		assert_true(asprintf(&file, "%s/%s", child, file_names[i]) > 0);
		assert_int_equal(unlink(file), 0);
		assert_warned(path, texts[i]);
		free(file);
		remove_experiment(path);
		free(child);
		free(path);
	}
}

/* A log of the founder with other events at its end, and what the check of it says. */
static void check_log(const char *events, const char *warning)
{
	struct totals truth;
	char *child, *path = write_family(&child, &truth), text[4096];

	snprintf(text, sizeof(text), LOG_START LOG_SYSTEM LOG_PROCESS "%s", events);
	write_text(path, "log.xml", text);
	assert_warned(path, warning);
	remove_experiment(path);
	free(child);
	free(path);
}

static void test_self_checks(void **state)
{
	(void)state;
	check_log("", "still runs or was killed");
	check_log("<event kind=\"exit\" tstamp=\"9000000\" status=\"0\" signal=\"9\"/>\n",
		  "killed by signal 9");
	check_log("<event kind=\"counters\" events=\"121\"/>\n" LOG_END,
		  "1 of the 121 recorded events are missing");
	check_log("<event kind=\"counters\" dropped=\"17\"/>\n" LOG_END, "17 events were dropped");
	check_log("<event kind=\"counters\" unwind_failed=\"2\"/>\n" LOG_END,
		  "2 call stacks could not be followed");
	check_log("<event kind=\"counters\" truncated=\"2\"/>\n" LOG_END,
		  "2 call stacks were deeper");
	check_log("<event kind=\"counters\" cpu_ns=\"100000000\"/>\n" LOG_END,
		  "the process used 0.100 s: 95.");
	check_log("<event kind=\"counters\" cpu_recorded_ns=\"9000000\"/>\n" LOG_END,
		  "but 0.009 s were recorded");
	check_log("<event kind=\"counters\" cpu_ns=\"5640000\" ends_cpu_ns=\"1000\" "
		  "cpu_recorded_ns=\"5620000\"/>\n" LOG_END,
		  "the CPU times of its counters do not add up");
	check_log("garbage\n" LOG_END, "log.xml is damaged: 1 of its lines");
}

static void test_life_against_weights(void **state)
{
	struct totals truth;
	char *child, *path = write_family(&child, &truth);
	struct bytes file = {0}, payload = {0};
	uint32_t stack = 0;

	(void)state;
	/* 1 s of life with 0.9 s of events */
	put_file_header(&file, "profile");
	put_thread(&payload, 1, 100, 0);
	put_event(&payload, FORMAT_STATE_SLEEP, 900000, 900000, &stack, 1);
	put_control(&payload, 0x81, 100000);
	put_block(&file, (struct format_block_header){.first = 1, .encoding = 1}, &payload);
	write_file(path, "profile", file.data, file.size);
	assert_warned(path, "lived for 1.000 s but their events hold 0.900 s");
	assert_warned(path, "the process ended at 0.009 s");
	bytes_free(&file);
	bytes_free(&payload);
	remove_experiment(path);
	free(child);
	free(path);
}

static void check_refused(const char *path, enum status expected, const char *text)
{
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;

	assert_int_equal(experiment_open(path, &experiment, &errors, &warnings), expected);
	assert_null(experiment);
	assert_int_equal(errors.count, 1);
	if (!strstr(errors.items[0].text, text))
		fail_msg("says: %s", errors.items[0].text);
	diag_fini(&errors);
	diag_fini(&warnings);
}

static void test_what_is_no_experiment(void **state)
{
	char *path = make_experiment("n.er");

	(void)state;
	check_refused("/nowhere/at/all.er", STATUS_NOTFOUND, "no such experiment");
	check_refused("/etc/passwd", STATUS_INVALID, "not a directory");
	check_refused(path, STATUS_INVALID, "it has no log.xml");
	write_text(path, "log.xml", "some text\n");
	check_refused(path, STATUS_INVALID, "known format");
	write_text(path, "log.xml",
		   "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<experiment version=\"11.4\">\n"
		   "<collector>7.9</collector>\n</experiment>\n\0\0\0");
	check_refused(path, STATUS_INVALID, "Oracle Developer Studio");
	write_text(path, "log.xml", "<experiment version=\"2.0\" producer=\"heliometer 2\">\n");
	check_refused(path, STATUS_INVALID, "newer version");
	remove_experiment(path);
	free(path);
}

static void test_one_descendant_by_itself(void **state)
{
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;
	struct totals truth;
	char *child, *path = write_family(&child, &truth);

	(void)state;
	assert_int_equal(experiment_open(child, &experiment, &errors, &warnings), STATUS_OK);
	assert_int_equal(experiment->processes.count, 1);
	assert_string_equal(experiment->name, "d.er/_f1.er");
	assert_string_equal(experiment->processes.items[0].lineage, "_f1");
	assert_int_equal(warnings.count, 0);
	experiment_free(experiment);
	remove_experiment(path);
	free(child);
	free(path);
}

static void test_order_of_descendants(void **state)
{
	static const char *const lineages[] = {"_x1", "_f10", "_f2", "_f1_x1", "_f1_f1", "_f1"};
	static const char *const expected[] = {"", "_f1", "_f1_f1", "_f1_x1", "_f2", "_f10", "_x1"};
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;
	struct totals truth = {0};
	char *path = make_experiment("o.er"), *bad;

	(void)state;
	write_process(path, LOG_SYSTEM, &truth);
	for (size_t i = 0; i < 6; i++) {
		char *child = make_descendant(path, lineages[i]);

		write_process(child, "", &truth);
		free(child);
	}
	bad = make_descendant(path, "_f3"); /* empty */
	assert_int_equal(experiment_open(path, &experiment, &errors, &warnings), STATUS_OK);
	assert_int_equal(experiment->processes.count, 7);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(experiment->processes.items[i].lineage, expected[i]);
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.items[0].text, "o.er/_f3.er"));
	diag_fini(&warnings);
	experiment_free(experiment);
	remove_experiment(path);
	free(bad);
	free(path);
}

/* The process can open nothing more before it raises its limit. */
static void use_up_descriptors(void)
{
	struct rlimit limit;
	int next = dup(STDIN_FILENO);

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void test_what_is_open_is_read_where_descriptors_are_few(void **state)
{
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;
	struct totals truth = {0};
	struct rlimit before;
	char *path = make_experiment("e.er"), aside[PATH_MAX];

	(void)state;
	write_process(path, LOG_SYSTEM, &truth);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(folder >= 0);
	snprintf(aside, sizeof(aside), "%s/../aside.er", path);
	assert_int_equal(rename(path, aside), 0);
	assert_int_equal(mkdir(path, 0755), 0); /* no experiment */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	use_up_descriptors();
	assert_int_equal(experiment_open_logs_in(folder, path, &experiment, &errors, &warnings),
			 STATUS_OK);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_string_equal(experiment->processes.items[0].log.arch, "x86_64");
	experiment_free(experiment);
	close(folder);
	remove_experiment(path);
	free(path);
}

/* What has the founder's name now is not what the descendant was opened in. */
static void test_a_family_that_is_exchanged(void **state)
{
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;
	struct totals truth;
	char *child, *path = write_family(&child, &truth), aside[PATH_MAX];
	int folder = open(child, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(folder >= 0);
	snprintf(aside, sizeof(aside), "%s/../aside.er", path);
	assert_int_equal(rename(path, aside), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	write_log(path, "<system hostname=\"stranger\" os=\"None 1\" arch=\"none\" "
			"pagesize=\"1\" pages=\"1\" cpus=\"1\" clock_mhz=\"1\"/>\n");
	assert_int_equal(experiment_open_logs_in(folder, child, &experiment, &errors, &warnings),
			 STATUS_OK);
	assert_string_equal(experiment->processes.items[0].log.hostname, "h");
	assert_string_equal(experiment->processes.items[0].log.arch, "x86_64");
	experiment_free(experiment);
	close(folder);
	remove_experiment(path);
	free(child);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intact),
		cmocka_unit_test(test_cut_off_anywhere),
		cmocka_unit_test(test_bytes_changed_anywhere),
		cmocka_unit_test(test_missing_files),
		cmocka_unit_test(test_self_checks),
		cmocka_unit_test(test_life_against_weights),
		cmocka_unit_test(test_what_is_no_experiment),
		cmocka_unit_test(test_one_descendant_by_itself),
		cmocka_unit_test(test_order_of_descendants),
		cmocka_unit_test(test_impossible_times),
		cmocka_unit_test(test_a_family_that_is_exchanged),
		cmocka_unit_test(test_what_is_open_is_read_where_descriptors_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
