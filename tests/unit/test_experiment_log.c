/* SPDX-License-Identifier: Apache-2.0 */
/* log.xml, map.xml and overview: what they say, whatever state they are in. */
#include "base/strbuf.h"
#include "experiment/log.h"
#include "experiment/map.h"
#include "experiment/overview.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct fixture {
	char *path;
	struct arena arena;
	struct diag_list diags;
	struct experiment_log log;
	struct experiment_map map;
	struct experiment_overview overview;
};

static struct read_context context_of(struct fixture *fixture)
{
	return (struct read_context){.folder = root_folder(),
				     .directory = fixture->path,
				     .name = "l.er",
				     .diags = &fixture->diags};
}

static void read_log_bytes(struct fixture *fixture, const void *bytes, size_t size)
{
	*fixture = (struct fixture){.path = make_experiment("l.er")};
	write_file(fixture->path, "log.xml", bytes, size);

	struct read_context context = context_of(fixture);

	experiment_log_read(&fixture->log, &fixture->arena, &context);
}

static void read_log(struct fixture *fixture, const char *text)
{
	read_log_bytes(fixture, text, strlen(text));
}

static void read_map(struct fixture *fixture, const char *text)
{
	*fixture = (struct fixture){.path = make_experiment("l.er")};
	write_text(fixture->path, "map.xml", text);

	struct read_context context = context_of(fixture);

	experiment_map_read(&fixture->map, &fixture->arena, &context);
}

static void end(struct fixture *fixture)
{
	experiment_log_fini(&fixture->log);
	experiment_map_fini(&fixture->map);
	experiment_overview_fini(&fixture->overview);
	diag_fini(&fixture->diags);
	arena_fini(&fixture->arena);
	remove_experiment(fixture->path);
	free(fixture->path);
}

static void test_whole_log(void **state)
{
	struct fixture fixture;
	const struct experiment_log *log = &fixture.log;

	(void)state;
	read_log(&fixture, LOG_START LOG_SYSTEM LOG_PROCESS
		 "<event kind=\"fork\" tstamp=\"2000\" pid=\"101\" lineage=\"_f1\"/>\n"
		 "<event kind=\"counters\" tstamp=\"3000\" events=\"5\" dropped=\"6\" "
		 "unwind_failed=\"7\" truncated=\"8\" cpu_ns=\"9\" cpu_recorded_ns=\"10\"/>\n"
		 "<future thing=\"1\"/>\n" LOG_END);
	assert_int_equal(experiment_log_origin(log), LOG_OURS);
	assert_string_equal(log->version, "1.0");
	assert_string_equal(log->producer, "heliometer test");
	assert_int_equal(log->wall_ns, 1790000000000000000);
	assert_string_equal(log->hostname, "h");
	assert_string_equal(log->os, "Linux 6.1");
	assert_int_equal(log->cpus, 2);
	assert_int_equal(log->pid, 100);
	assert_int_equal(log->sid, 97);
	assert_string_equal(log->executable, "/tmp/prog");
	assert_int_equal(log->start_ns, 1000);
	assert_int_equal(log->arguments.count, 2);
	assert_string_equal(log->arguments.items[1], "a < b");
	assert_null(log->arguments.items[2]);
	assert_string_equal(experiment_log_setting(log, "clock"), "1000");
	assert_null(experiment_log_setting(log, "none"));
	assert_int_equal(log->events.count, 3);
	assert_string_equal(log->events.items[0].kind, "fork");
	assert_int_equal(log->events.items[0].time_ns, 2000);
	assert_int_equal(log->events.items[0].attribute_count, 2);
	assert_string_equal(log->events.items[0].attributes[1].name, "lineage");
	assert_string_equal(log->events.items[0].attributes[1].value, "_f1");
	assert_true(log->counters.present && log->counters.has_cpu);
	assert_int_equal(log->counters.events, 5);
	assert_int_equal(log->counters.cpu_recorded_ns, 10);
	assert_true(log->ended && log->has_status && log->closed);
	assert_int_equal(log->exit_status, 3);
	assert_int_equal(log->last_ns, 9000000);
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

static void test_running_log(void **state)
{
	struct fixture fixture;

	(void)state;
	read_log(&fixture, LOG_START LOG_PROCESS "<event kind=\"pause\" tstamp=\"2000\"/>\n");
	assert_int_equal(fixture.log.pid, 100);
	assert_false(fixture.log.ended || fixture.log.closed);
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

static void test_exec_that_failed(void **state)
{
	struct fixture fixture;

	(void)state;
	read_log(&fixture, LOG_START "<event kind=\"exec\" tstamp=\"1\" lineage=\"_x1\"/>\n");
	assert_true(fixture.log.ended);
	end(&fixture);
	read_log(&fixture, LOG_START "<event kind=\"exec\" tstamp=\"1\" lineage=\"_x1\"/>\n<event "
				     "kind=\"exec_failed\" tstamp=\"2\" errno=\"2\"/>\n");
	assert_false(fixture.log.ended);
	end(&fixture);
}

/* Damage of one line costs that line and gives one warning. */
static void check_damaged(const char *line, size_t length, size_t damaged)
{
	struct bytes text = {0};
	struct fixture fixture;

	bytes_put(&text, LOG_START LOG_SYSTEM LOG_PROCESS,
		  strlen(LOG_START LOG_SYSTEM LOG_PROCESS));
	bytes_put(&text, line, length);
	bytes_put(&text, LOG_END, strlen(LOG_END));
	read_log_bytes(&fixture, text.data, text.size);
	assert_int_equal(fixture.log.pid, 100);
	assert_true(fixture.log.ended);
	assert_int_equal(fixture.diags.count, damaged);
	assert_int_equal(fixture.log.damaged, damaged);
	bytes_free(&text);
	end(&fixture);
}

static void test_damaged_lines(void **state)
{
	(void)state;
	check_damaged("", 0, 0);
	check_damaged("\0\0\0\0\0\0", 6, 0); /* room that was never written */
	check_damaged("  \n\n", 4, 0);
	check_damaged("<event kind=\"fork\" tstam\n", 25, 1);
	check_damaged("garbage\n", 8, 1);
	check_damaged("<event kind=\"fork\"/> tail\n", 26, 1);
	check_damaged("<event kind=\"\x01\"/>\n", 18, 1);
	check_damaged("<event kind=\"a\" kind=\"b\"/>\n", 27, 1);
	check_damaged("<event kind=\"&undefined;\"/>\n", 28, 1);
	check_damaged("\xff\xfe\x80\n", 4, 1);
}

static void test_names_need_not_be_utf8(void **state)
{
	struct fixture fixture;

	(void)state;
	read_map(&fixture, MAP_START "<event kind=\"map\" vaddr=\"0x1000\" size=\"0x1000\" "
				     "bias=\"0\" name=\"/lib/caf\xe9.so\"/>\n"
				     "<event kind=\"map\" vaddr=\"0x3000\" size=\"0x1000\" "
				     "bias=\"0\" name=\"/lib/caf\xc3\xa9.so\"/>\n" MAP_END);
	assert_int_equal(fixture.map.files.count, 2);
	assert_string_equal(fixture.map.files.items[0].path, "/lib/caf\xe9.so");
	assert_string_equal(fixture.map.files.items[1].path, "/lib/caf\xc3\xa9.so");
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

static void test_origins(void **state)
{
	static const struct {
		const char *text;
		enum log_origin origin;
	} cases[] = {
		{"<experiment version=\"12.4\" pbs=\"1\">\n<collector>x</collector>\n",
		 LOG_GPROFNG},
		{"<experiment version=\"13.0\">\n", LOG_FOREIGN},
		{"<experiment version=\"8.3\">\n", LOG_FOREIGN},
		{"<experiment version=\"2.0\" producer=\"heliometer 9\">\n", LOG_NEWER},
		{"<experiment version=\"1.7\" producer=\"heliometer 3\">\n", LOG_OURS},
		{"hello\n", LOG_UNKNOWN},
		{"", LOG_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;

		read_log(&fixture, cases[i].text);
		assert_int_equal(experiment_log_origin(&fixture.log), cases[i].origin);
		end(&fixture);
	}
}

static void assert_at(const struct fixture *fixture, uint64_t pc, uint32_t epoch, const char *path)
{
	uint32_t found = experiment_map_find(&fixture->map, pc, epoch);

	if (!path)
		assert_int_equal(found, MAP_NONE);
	else
		assert_string_equal(
			fixture->map.files.items[fixture->map.segments.items[found].file].path,
			path);
}

/*
 * epoch 0: a at 0x1000, c at 0x8000.  b takes a's place in epoch 1; c is unmapped in
 * epoch 1 and nobody takes its place; a comes back in epoch 2, elsewhere.
 */
static void test_epochs(void **state)
{
	struct fixture fixture;

	(void)state;
	read_map(&fixture, MAP_START
		 "<event kind=\"map\" tstamp=\"0\" epoch=\"0\" vaddr=\"0x1000\" size=\"0x2000\" "
		 "bias=\"0x800\" name=\"/a\" buildid=\"aa\" mtime=\"7\" filesize=\"8\"/>\n"
		 "<event kind=\"map\" tstamp=\"0\" epoch=\"0\" vaddr=\"0x8000\" size=\"0x1000\" "
		 "bias=\"0\" name=\"/c\"/>\n"
		 "<event kind=\"unmap\" tstamp=\"1\" epoch=\"0\" vaddr=\"0x1000\"/>\n"
		 "<event kind=\"map\" tstamp=\"2\" epoch=\"1\" vaddr=\"0x1800\" size=\"0x800\" "
		 "bias=\"0\" name=\"/b\"/>\n"
		 "<event kind=\"unmap\" tstamp=\"3\" epoch=\"1\" vaddr=\"0x8000\"/>\n"
		 "<event kind=\"map\" tstamp=\"4\" epoch=\"2\" vaddr=\"0x20000\" size=\"0x2000\" "
		 "bias=\"0x1f800\" name=\"/a\" buildid=\"aa\" mtime=\"7\" "
		 "filesize=\"8\"/>\n" MAP_END);
	assert_int_equal(fixture.map.files.count, 3); /* /a once */
	assert_int_equal(fixture.map.files.items[0].mtime, 7);
	assert_string_equal(fixture.map.files.items[0].build_id, "aa");
	assert_at(&fixture, 0x0fff, 0, NULL);
	assert_at(&fixture, 0x1000, 0, "/a");
	assert_at(&fixture, 0x1900, 0, "/a");
	assert_at(&fixture, 0x2fff, 0, "/a");
	assert_at(&fixture, 0x3000, 0, NULL);
	assert_at(&fixture, 0x1900, 1, "/b");
	assert_at(&fixture, 0x1900, 9, "/b");
	assert_at(&fixture, 0x1000, 1, "/a"); /* nobody took this part */
	assert_at(&fixture, 0x2000, 1, "/a");
	assert_at(&fixture, 0x8000, 0, "/c");
	assert_at(&fixture, 0x8000, 1, "/c"); /* from before the unmapping in the same epoch */
	assert_at(&fixture, 0x8000, 2, NULL);
	assert_at(&fixture, 0x20000, 1, NULL); /* not yet there */
	assert_at(&fixture, 0x20000, 2, "/a");
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

static void test_absurd_segments(void **state)
{
	struct fixture fixture;

	(void)state;
	read_map(
		&fixture, MAP_START
		"<event kind=\"map\" vaddr=\"0xfffffffffffff000\" size=\"0x2000\" bias=\"0\" "
		"name=\"/wraps\"/>\n"
		"<event kind=\"map\" vaddr=\"0x1000\" size=\"0x7000000000000000\" bias=\"0\" "
		"name=\"/huge\"/>\n"
		"<event kind=\"map\" vaddr=\"zero\" size=\"0x1000\" bias=\"0\" name=\"/nan\"/>\n"
		"<event kind=\"map\" vaddr=\"0x1000\" size=\"0x1000\" bias=\"0\"/>\n"
		"<event kind=\"map\" vaddr=\"0x99999999999999999999\" size=\"0x1000\" bias=\"0\" "
		"name=\"/big\"/>\n"
		"<event kind=\"map\" vaddr=\"0x4000\" size=\"0x1000\" bias=\"0\" name=\"/ok\"/>\n");
	assert_int_equal(fixture.map.segments.count, 1);
	assert_at(&fixture, 0x4000, 0, "/ok");
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, "5 of its events"));
	end(&fixture);
}

struct span {
	unsigned long start, end, epoch;
};

/* map.xml with so many segments that lie in each other's way; the seed makes them. */
static void read_spans(struct fixture *fixture, struct span *spans, size_t count, bool nested)
{
	struct strbuf text = {0};
	uint64_t seed = 7;

	strbuf_puts(&text, MAP_START);
	for (size_t i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		spans[i].start = nested ? 0x1000 + i : 0x1000 + (seed >> 40) % 500;
		spans[i].end =
			nested ? 0x1000 + 2 * count - i : spans[i].start + (seed >> 50) % 300;
		spans[i].epoch = nested ? i % 3 : (seed >> 30) % 20;
		strbuf_printf(&text,
			      "<event kind=\"map\" epoch=\"%lu\" vaddr=\"0x%lx\" size=\"0x%lx\" "
			      "bias=\"0\" name=\"/f%zu\"/>\n",
			      spans[i].epoch, spans[i].start, spans[i].end - spans[i].start, i);
	}
	strbuf_puts(&text, "</maps>\n");
	read_map(fixture, text.text);
	strbuf_fini(&text);
}

/* The last of the highest epoch up to one, by looking at each; later: of the lowest one above. */
static size_t look_at_all(const struct span *spans, size_t count, unsigned long pc,
			  unsigned long epoch, bool later)
{
	size_t best = count;

	for (size_t i = 0; i < count; i++) {
		const struct span *span = &spans[i];

		if (pc < span->start || pc >= span->end || (span->epoch > epoch) != later)
			continue;
		if (best == count ||
		    (later ? span->epoch < spans[best].epoch : span->epoch >= spans[best].epoch))
			best = i;
	}
	return best;
}

static void assert_span(const struct fixture *fixture, uint32_t found, size_t span, size_t count)
{
	char name[24];

	snprintf(name, sizeof(name), "/f%zu", span);
	if (span == count)
		assert_int_equal(found, MAP_NONE);
	else
		assert_string_equal(
			fixture->map.files.items[fixture->map.segments.items[found].file].path,
			name);
}

static void test_many_overlaps(void **state)
{
	enum { COUNT = 700 };
	struct span spans[COUNT];
	struct fixture fixture;

	(void)state;
	read_spans(&fixture, spans, COUNT, false);
	for (unsigned long pc = 0xff0; pc < 0x1350; pc += 3)
		for (unsigned long epoch = 0; epoch < 22; epoch += 2) {
			assert_span(&fixture,
				    experiment_map_find(&fixture.map, pc, (uint32_t)epoch),
				    look_at_all(spans, COUNT, pc, epoch, false), COUNT);
			assert_span(&fixture,
				    experiment_map_find_later(&fixture.map, pc, (uint32_t)epoch),
				    look_at_all(spans, COUNT, pc, epoch, true), COUNT);
		}
	end(&fixture);
}

/* Seconds for a look-up per segment, of segments within each other. */
static double time_of_overlaps(size_t count)
{
	struct span *spans = xmalloc(count * sizeof(*spans));
	struct fixture fixture;

	read_spans(&fixture, spans, count, true);

	clock_t begin = clock();

	for (size_t i = 0; i < 4 * count; i++)
		assert_int_not_equal(experiment_map_find(&fixture.map, 0x1000 + count, 2),
				     MAP_NONE);
	double spent = (double)(clock() - begin) / CLOCKS_PER_SEC;

	end(&fixture);
	free(spans);
	return spent;
}

/* Eight times the segments are not 64 times the work. */
static void test_overlaps_are_linear(void **state)
{
	enum { FEW = 2000, TRIES = 5 };
	double least = 1e9;

	(void)state;
	for (int i = 0; i < TRIES && least > 24; i++) {
		double few = time_of_overlaps(FEW), many = time_of_overlaps(8 * FEW);

		least = few > 0 && many / few < least ? many / few : least;
	}
	assert_true(least <= 24);
}

static void read_overview(struct fixture *fixture, const void *records, size_t size)
{
	struct bytes file = {0};

	*fixture = (struct fixture){.path = make_experiment("l.er")};
	put_file_header(&file, "overview");
	bytes_put(&file, records, size);
	write_file(fixture->path, "overview", file.data, file.size);
	bytes_free(&file);

	struct read_context context = context_of(fixture);

	experiment_overview_read(&fixture->overview, &context);
}

static void test_overview(void **state)
{
	enum { S = 1000000000 };
	struct format_sample samples[5] = {
		/* the last one stays incomplete */
		{.time_ns = 10ull * S, .kind = 0, .label = "12345678901234567890123456789012"},
		{.time_ns = 20ull * S, .kind = 1, .user_ns = 3, .run_delay_ns = 4},
		{0},				   /* set aside, not written */
		{.time_ns = 19ull * S, .kind = 3}, /* read before, written after the one before */
	};
	struct fixture fixture;

	(void)state;
	memset(samples[0].label, 'x', sizeof(samples[0].label)); /* no NUL */
	read_overview(&fixture, samples, 4 * sizeof(samples[0]));
	assert_int_equal(fixture.overview.count, 3);
	assert_int_equal(strlen(fixture.overview.items[0].label), 32);
	assert_int_equal(fixture.overview.items[1].user_ns, 3);
	assert_int_equal(fixture.overview.items[1].run_delay_ns, 4);
	assert_int_equal(fixture.overview.items[2].kind, 3);
	assert_int_equal(fixture.overview.items[2].time_ns, 20ull * S);
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);

	samples[1].kind = 77;
	samples[0].time_ns = 30ull * S;
	samples[3].time_ns = 5; /* long before the one before it */
	read_overview(&fixture, samples, 4 * sizeof(samples[0]) + 8);
	assert_int_equal(fixture.overview.count, 1);
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, "3 sample points"));
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_log),
		cmocka_unit_test(test_running_log),
		cmocka_unit_test(test_exec_that_failed),
		cmocka_unit_test(test_damaged_lines),
		cmocka_unit_test(test_names_need_not_be_utf8),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_absurd_segments),
		cmocka_unit_test(test_many_overlaps),
		cmocka_unit_test(test_overlaps_are_linear),
		cmocka_unit_test(test_overview),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
