/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment of gprofng made by hand, with known meaning: what becomes of its packets, stacks,
 * maps and threads; and the same with each of its files cut off or changed anywhere.
 */
#include "experiment/experiment.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiment_support.h"

enum { START_NS = 1000000000, CHUNK = 16384, MAIN = 100, OTHER = 555 };

#define COMMON_FIELDS                                                                              \
	"<field name=\"LWPID\" offset=\"8\" type=\"INT64\"/>\n"                                    \
	"<field name=\"CPUID\" offset=\"16\" type=\"INT32\"/>\n"                                   \
	"<field name=\"TSTAMP\" offset=\"20\" type=\"INT64\"/>\n"                                  \
	"<field name=\"FRINFO\" offset=\"28\" type=\"INT64\"/>\n"
#define DATA(name, attributes, kind)                                                               \
	"<profile name=\"" name "\"" attributes ">\n<profdata fname=\"" name "\"/>\n"              \
	"<profpckt kind=\"" kind "\">\n" COMMON_FIELDS
#define DATA_END "</profpckt>\n</profile>\n"

static const char log_text[] =
	"<experiment version=\"12.4\">\n<collector>2.40</collector>\n</experiment>\n"
	"<system hostname=\"h\" arch=\"x86_64\" os=\"Linux 6\" pagesz=\"4096\" npages=\"9\">\n"
	"  <cpu id=\"0\" clk=\"2500\"/>\n  <cpu id=\"1\" clk=\"2600\"/>\n</system>\n"
	"<process pid=\"100\"></process>\n<process ppid=\"99\"></process>\n"
	"<process>./prog a%0a%b</process>\n<setting sample_period=\"1\"/>\n"
	"<event kind=\"run\" tstamp=\"1.0\" time=\"1795268636\"/>\n"
	"<event kind=\"sample\" tstamp=\"0.1\" id=\"0\" label=\"first\"/>\n" DATA(
		"profile", " ptimer=\"10007\"",
		"8") "<field name=\"MSTATE\" offset=\"36\" type=\"INT32\"/>\n"
		     "<field name=\"NTICK\" offset=\"40\" type=\"INT32\"/>\n" DATA_END DATA(
			     "heaptrace", "",
			     "5") "<field name=\"HTYPE\" offset=\"36\" type=\"INT32\"/>\n"
				  "<field name=\"HSIZE\" offset=\"40\" type=\"UINT64\"/>\n"
				  "<field name=\"HVADDR\" offset=\"48\" type=\"UINT64\"/>\n"
				  "<field name=\"HOVADDR\" offset=\"56\" "
				  "type=\"UINT64\"/>\n" DATA_END DATA(
					  "synctrace", "",
					  "2") "<field name=\"SRQST\" offset=\"36\" "
					       "type=\"INT64\"/>\n"
					       "<field name=\"SOBJ\" offset=\"44\" "
					       "type=\"INT64\"/>\n" DATA_END DATA(
						       "iotrace", "",
						       "19") "<field name=\"IOTYPE\" offset=\"36\" "
							     "type=\"INT32\"/>\n"
							     "<field name=\"IOFD\" offset=\"40\" "
							     "type=\"INT32\"/>\n"
							     "<field name=\"IONBYTE\" "
							     "offset=\"44\" type=\"INT64\"/>\n"
							     "<field name=\"IORQST\" offset=\"52\" "
							     "type=\"INT64\"/>\n"
							     "<field name=\"IOFNAME\" "
							     "offset=\"60\" "
							     "type=\"STRING\"/>\n" DATA_END
							     "<event kind=\"cwarn\" "
							     "id=\"207\">10007 -> 0</event>\n"
							     "<event kind=\"exit\" "
							     "tstamp=\"2.5\"/>\n";

static const char map_text[] =
	"<event kind=\"map\" object=\"segment\" tstamp=\"0.5\" vaddr=\"0x401000\" size=\"4096\" "
	"foffset=\"+0x1000\" modes=\"0x005\" name=\"/nowhere/a\"/>\n"
	"<event kind=\"map\" object=\"segment\" tstamp=\"0.5\" vaddr=\"0x402000\" size=\"4096\" "
	"foffset=\"+0x2000\" modes=\"0x003\" name=\"/nowhere/a\"/>\n"
	"<event kind=\"unmap\" tstamp=\"1.0\" vaddr=\"0x401000\"/>\n"
	"<event kind=\"map\" object=\"segment\" tstamp=\"1.5\" vaddr=\"0x401000\" size=\"4096\" "
	"foffset=\"+0x0\" modes=\"0x005\" name=\"/nowhere/b\"/>\n"
	"<event kind=\"map\" object=\"dynfunc\" name=\"[vdso]\" vaddr=\"0x7000\" size=\"16\" "
	"funcname=\"time\"/>\n"
	"<event kind=\"map\" object=\"function\" tstamp=\"0.9\" vaddr=\"0x6ff0\" size=\"256\" "
	"name=\"[vdso]\"/>\n";

static void put_half(struct bytes *bytes, uint32_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

static void put_word(struct bytes *bytes, uint64_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

/* What all packets of events begin with; `size` of the whole. */
static void put_head(struct bytes *file, unsigned kind, unsigned size, uint64_t thread,
		     uint64_t time_ns, uint64_t frame)
{
	put_half(file, size | kind << 16);
	put_half(file, 0);
	put_word(file, thread);
	put_half(file, 3);
	put_word(file, START_NS + time_ns);
	put_word(file, frame);
}

static void put_clock(struct bytes *file, uint64_t thread, uint64_t time_ns, uint64_t frame,
		      uint32_t state, uint32_t ticks)
{
	put_head(file, 8, 44, thread, time_ns, frame);
	put_half(file, state);
	put_half(file, ticks);
}

static void put_heap(struct bytes *file, uint64_t time_ns, uint32_t type, uint64_t size,
		     uint64_t address, uint64_t old)
{
	put_head(file, 5, 64, MAIN, time_ns, 1);
	put_half(file, type);
	put_word(file, size);
	put_word(file, address);
	put_word(file, old);
}

static void put_io(struct bytes *file, uint64_t time_ns, uint32_t type, uint32_t descriptor,
		   uint64_t size, const char *name)
{
	char text[8] = "";

	strncpy(text, name, sizeof(text) - 1);
	put_head(file, 19, 68, MAIN, time_ns, 1);
	put_half(file, type);
	put_half(file, descriptor);
	put_word(file, size);
	put_word(file, START_NS + time_ns - 250);
	bytes_put(file, text, sizeof(text));
}

/* A packet of frames with a stack of up to four addresses, which goes on at `link`, unless 0. */
static void put_frames(struct bytes *file, uint64_t frame, uint64_t stack,
		       const uint64_t *addresses, uint64_t link)
{
	unsigned count = 0;

	while (addresses[count])
		count++;

	unsigned part = 16 + 8 * (count + (link != 0));

	put_half(file, (16 + part) | 11u << 16);
	put_half(file, 16);
	put_word(file, frame);
	put_half(file, part);
	put_half(file, 1u | (link ? 0x80000000u : 0));
	put_word(file, stack);
	for (unsigned i = 0; i < count; i++)
		put_word(file, addresses[i]);
	if (link)
		put_word(file, link);
}

static void end_chunk(struct bytes *file)
{
	while (file->size % CHUNK)
		bytes_u8(file, 0);
}

static void save(const char *path, const char *name, struct bytes *file)
{
	write_file(path, name, file->data, file->size);
	bytes_free(file);
}

static void write_stacks(const char *path)
{
	struct bytes file = {0};

	put_frames(&file, 1, 11, (const uint64_t[]){0x401010, 0x401020, 0}, 0);
	put_frames(&file, 2, 12, (const uint64_t[]){0x401030, 0}, 11);
	put_frames(&file, 3, 12, (const uint64_t[]){0}, 0);
	put_frames(&file, 4, 13, (const uint64_t[]){0x7004, 0x7fff, UINT64_MAX - 1, 0}, 0);
	save(path, "data.frameinfo", &file);
}

static void write_events(const char *path)
{
	struct bytes profile = {0}, heap = {0}, sync = {0}, io = {0};

	put_clock(&profile, MAIN, 600000000, 1, 10, 1);
	put_clock(&profile, MAIN, 1600000000, 1, 10, 2);
	put_half(&profile, 16 | 0xffffu << 16); /* closes the chunk */
	put_word(&profile, 0);
	put_half(&profile, 0);
	end_chunk(&profile);
	put_clock(&profile, OTHER, 200000000, 2, 10, 3);  /* before its segment was recorded */
	put_clock(&profile, OTHER, 1100000000, 3, 10, 4); /* while nothing is there */
	put_clock(&profile, OTHER, 700000000, 4, 7, 5);
	put_clock(&profile, OTHER, 800000000, 99, 10, 6);
	save(path, "profile", &profile);
	put_heap(&heap, 10, 0, 100, 64, 0);
	put_heap(&heap, 20, 2, 200, 128, 64);
	put_heap(&heap, 30, 0, 7, 64, 0);
	put_heap(&heap, 40, 1, 0, 128, 0);
	save(path, "heaptrace", &heap);
	put_head(&sync, 2, 52, OTHER, 900, 1);
	put_word(&sync, START_NS + 400);
	put_word(&sync, 0x8888);
	save(path, "synctrace", &sync);
	put_io(&io, 1000, 2, 5, 0, "/etc/x");
	put_io(&io, 2000, 0, 5, 77, "");
	put_io(&io, 3000, 6, 5, 88, "");
	put_io(&io, 4000, 3, 5, 0, "");
	put_io(&io, 5000, 1, 5, 99, "");
	save(path, "iotrace", &io);
}

static void write_samples(const char *path)
{
	struct bytes file = {0};

	for (uint64_t i = 0; i < 2; i++) {
		put_word(&file, 0);
		for (unsigned time = 0; time < 20; time++) { /* s and ns of each */
			put_word(&file, time ? 0 : 1);
			put_word(&file, !time ? i * 1000 : time == 4 ? i * 50 : 0);
		}
		for (unsigned count = 0; count < 22; count++)
			put_word(&file, count ? 0 : i * 9);
	}
	save(path, "overview", &file);
}

static char *write_experiment(void)
{
	char *path = make_experiment("g.er");

	write_text(path, "log.xml", log_text);
	write_text(path, "map.xml", map_text);
	write_stacks(path);
	write_events(path);
	write_samples(path);
	return path;
}

struct fixture {
	char *path;
	struct experiment *experiment;
	const struct process *process;
	struct diag_list errors, warnings;
};

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){.path = write_experiment()};
	assert_int_equal(experiment_open(fixture->path, &fixture->experiment, &fixture->errors,
					 &fixture->warnings),
			 STATUS_OK);
	fixture->process = &fixture->experiment->processes.items[0];
}

static void end(struct fixture *fixture)
{
	experiment_free(fixture->experiment);
	diag_fini(&fixture->errors);
	diag_fini(&fixture->warnings);
	remove_experiment(fixture->path);
	free(fixture->path);
}

static void test_log(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);

	const struct experiment_log *log = &fixture.process->log;

	assert_string_equal(log->producer, "gprofng 2.40");
	assert_string_equal(log->version, "12.4");
	assert_int_equal(log->pid, 100);
	assert_int_equal(log->ppid, 99);
	assert_int_equal(log->cpus, 2);
	assert_int_equal(log->clock_mhz, 2600);
	assert_string_equal(log->arguments.items[0], "./prog");
	assert_string_equal(log->arguments.items[1], "a\nb");
	assert_string_equal(experiment_log_setting(log, "clock"), "10007");
	assert_true(log->ended);
	assert_int_equal(log->last_ns, 2500000000);
	assert_string_equal(log->events.items[0].kind, "warning");
	assert_string_equal(log->events.items[0].attributes[0].value, "10007 -> 0");
	assert_int_equal(fixture.process->overview.count, 2);
	assert_string_equal(fixture.process->overview.items[0].label, "first");
	assert_int_equal(fixture.process->overview.items[1].user_ns, 50);
	assert_int_equal(fixture.process->overview.items[1].minor_faults, 9);
	end(&fixture);
}

/* The frames of the n-th row of a thread, leaf first, with the objects that their addresses are in.
 */
static void assert_row(const struct process *process, uint64_t number, uint32_t n,
		       unsigned in_state, uint32_t weight_us, const char *frames)
{
	const struct stack_tree *tree = &process->stacks;
	const struct rows *rows = &process->profile.rows;
	char text[256] = "";
	size_t row = SIZE_MAX;

	for (size_t i = 0; i < process->profile.segments.count; i++) {
		const struct profile_segment *segment = &process->profile.segments.items[i];

		if (process->profile.threads.items[segment->thread].number != number)
			continue;
		row = segment->first + n;
	}
	assert_true(row < rows->count);
	assert_int_equal(rows_get(rows, ROW_TYPE, row), in_state);
	assert_int_equal(rows_get(rows, ROW_FIELD + PROFILE_WEIGHT, row), weight_us);
	assert_int_equal(rows_get(rows, ROW_CPU, row), 3);
	for (uint32_t node = (uint32_t)rows_get(rows, ROW_STACK, row); node != STACK_ROOT;
	     node = tree->nodes.items[node].parent) {
		const struct stack_location *at =
			&tree->locations.items[tree->nodes.items[node].location];
		uint32_t segment = experiment_map_find(&process->map, at->pc, at->epoch);
		const struct map_segment *found =
			segment == MAP_NONE ? NULL : &process->map.segments.items[segment];
		const char *name = !found ? "-"
				   : found->file != MAP_NONE
					   ? process->map.files.items[found->file].path
					   : process->map.functions.items[found->function].name;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%llx %s, ",
			 (unsigned long long)at->pc, name);
	}
	assert_string_equal(text, frames);
}

/* Addresses belong to what was there at the time of the event. */
static void test_clock(void **state)
{
	enum { CPU = PROFILE_STATE_CPU };
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	assert_int_equal(fixture.process->profile.event_count, 6);
	assert_int_equal(fixture.process->profile.threads.items[0].tid, MAIN);
	assert_int_equal(fixture.process->profile.threads.items[1].tid, OTHER);
	assert_row(fixture.process, 1, 0, CPU, 10007, "401010 /nowhere/a, 401020 /nowhere/a, ");
	assert_row(fixture.process, 1, 1, CPU, 20014, "401010 /nowhere/b, 401020 /nowhere/b, ");
	assert_row(fixture.process, 2, 0, CPU, 30021,
		   "401030 /nowhere/a, 401010 /nowhere/a, 401020 /nowhere/a, ");
	assert_row(fixture.process, 2, 1, FORMAT_STATE_SLEEP, 50035, "7004 time, 7fff -, 1 -, ");
	assert_row(fixture.process, 2, 2, CPU, 60042, "3 -, ");
	assert_row(fixture.process, 2, 3, CPU, 40028,
		   "401030 /nowhere/b, 401010 /nowhere/b, 401020 /nowhere/b, ");
	assert_int_equal(fixture.warnings.count, 1);
	assert_non_null(strstr(fixture.warnings.items[0].text, "the call stacks of 1 of "));
	end(&fixture);
}

static void test_traces(void **state)
{
	static const char *const names[] = {"/etc/x", "/etc/x", "/etc/x", "/etc/x", ""};
	struct fixture fixture;

	(void)state;
	begin(&fixture);

	const struct experiment_trace *io = &fixture.process->traces[TRACE_IO];
	const struct experiment_trace *sync = &fixture.process->traces[TRACE_SYNC];

	/* of 100, which moved to 200, which was released, and 7 */
	assert_int_equal(fixture.process->heap.left_bytes, 7);
	assert_int_equal(fixture.process->heap.left_blocks, 1);
	assert_int_equal(fixture.process->heap.peak_bytes, 207);
	assert_int_equal(fixture.process->heap.unmatched, 0);
	assert_int_equal(sync->rows.count, 1);
	assert_int_equal(sync->runs.items[0].thread, 2);
	assert_int_equal(trace_field(sync, SYNC_WAITED, 0), 500);
	assert_int_equal(trace_field(sync, SYNC_OBJECT, 0), 0x8888);
	assert_int_equal(io->rows.count, 5);
	for (size_t i = 0; i < io->rows.count; i++) {
		uint64_t number = trace_field(io, IO_NAME, i);

		assert_true(number < io->texts.count);
		const char *name = io->texts.items[number];

		assert_string_equal(name ? name : "", names[i]);
	}
	assert_int_equal(trace_type(io, 2), IO_WRITE);
	assert_int_equal(trace_field(io, IO_RESULT, 1), 0);
	assert_true(trace_field(io, IO_RESULT, 2) != 0);
	assert_int_equal(trace_field(io, IO_BYTES, 1), 77);
	assert_int_equal(trace_field(io, IO_WAITED, 1), 250);
	end(&fixture);
}

static const char *const file_names[] = {"log.xml",   "map.xml",   "data.frameinfo", "profile",
					 "heaptrace", "synctrace", "iotrace",	     "overview"};

/* Whatever it is, it is read or refused; nodes and texts are there. */
static void read_it(const char *path)
{
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;

	if (!experiment_open(path, &experiment, &errors, &warnings)) {
		const struct process *process = &experiment->processes.items[0];

		for (size_t row = 0; row < process->profile.rows.count; row++)
			assert_true(rows_get(&process->profile.rows, ROW_STACK, row) <
				    process->stacks.nodes.count);
	} else {
		assert_true(errors.count > 0);
	}
	experiment_free(experiment);
	diag_fini(&errors);
	diag_fini(&warnings);
}

static void test_damage(void **state)
{
	char *path = write_experiment();

	(void)state;
	for (size_t i = 0; i < sizeof(file_names) / sizeof(file_names[0]); i++) {
		struct bytes whole = read_whole(path, file_names[i]);

		for (size_t at = 0; at < whole.size; at++) {
			uint8_t old = whole.data[at];

			if (at > 300 && at < CHUNK && i == 3) /* nothing is there */
				continue;
			if (at % 2)
				write_file(path, file_names[i], whole.data, at);
			whole.data[at] = (uint8_t)(at % 3 ? old ^ 0xff : 0);
			if (at % 2 == 0)
				write_file(path, file_names[i], whole.data, whole.size);
			whole.data[at] = old;
			read_it(path);
		}
		write_file(path, file_names[i], whole.data, whole.size);
		bytes_free(&whole);
	}
	remove_experiment(path);
	free(path);
}

static void test_what_is_missing(void **state)
{
	static const char *const texts[][2] = {
		{"map.xml", "no address can be named"},
		{"profile", "the time of this process is not counted"},
		{"data.frameinfo", "all time shows as <Unknown>"},
		{"heaptrace", "heaptrace is missing"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *path = write_experiment(), name[256];

		snprintf(name, sizeof(name), "%s/%s", path, texts[i][0]);
		assert_int_equal(remove(name), 0);
		assert_warned(path, texts[i][1]);
		remove_experiment(path);
		free(path);
	}
}

/* A copy is called after the file and its directory; of two copies none can be told. */
static void test_copies(void **state)
{
	char *path = write_experiment(), copies[256];
	struct diag_list errors = {0}, warnings = {0};

	(void)state;
	snprintf(copies, sizeof(copies), "%s/archives", path);
	assert_int_equal(mkdir(copies, 0700), 0);
	write_text(copies, "a_Q2KW2-me_ua", "");
	write_text(copies, "a_of_dnWuQRcLhw9", "");
	write_text(copies, "b_dnWuQRcLhw9", "");
	write_text(copies, "b_UHyILZt997d", "");
	for (size_t i = 0; i < 2; i++) {
		struct experiment *experiment;

		assert_int_equal(experiment_open(path, &experiment, &errors, &warnings), STATUS_OK);

		const struct map_file *file = &experiment->processes.items[0].map.files.items[i];

		assert_string_equal(file->path, i ? "/nowhere/b" : "/nowhere/a");
		if (i)
			assert_null(file->copy);
		else
			assert_non_null(strstr(file->copy, "/archives/a_Q2KW2-me_ua"));
		experiment_free(experiment);
	}
	diag_fini(&errors);
	diag_fini(&warnings);
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = {"a_Q2KW2-me_ua", "a_of_dnWuQRcLhw9",
						    "b_dnWuQRcLhw9", "b_UHyILZt997d"};
		char name[300];

		snprintf(name, sizeof(name), "%s/%s", copies, names[i]);
		unlink(name);
	}
	rmdir(copies);
	remove_experiment(path);
	free(path);
}

/* What is not read is not passed over in silence. */
static void test_other_data(void **state)
{
	char *path = write_experiment();

	(void)state;
	write_text(path, "log.xml",
		   "<experiment version=\"12.4\">\n<profile name=\"hwcounter\" numstates=\"1\">\n");
	assert_warned(path, "data of the kind hwcounter is not read");
	write_text(path, "log.xml",
		   "<experiment version=\"12.4\">\n<process wsize=\"32\"></process>\n");
	assert_warned(path, "32-bit programs are not read");
	remove_experiment(path);
	free(path);
}

static void test_what_is_cut(void **state)
{
	char *path = write_experiment();
	struct bytes whole = read_whole(path, "profile");

	(void)state;
	write_file(path, "profile", whole.data, whole.size - 4);
	assert_warned(path, "profile is damaged");
	write_file(path, "profile", whole.data, whole.size);
	bytes_free(&whole);
	whole = read_whole(path, "data.frameinfo");
	write_file(path, "data.frameinfo", whole.data + 48, whole.size - 48);
	assert_warned(path, "the outer parts of 2 call stacks are missing");
	bytes_free(&whole);
	remove_experiment(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_what_is_cut),
		cmocka_unit_test(test_other_data),
		cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
