/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of I/O tracing: files, descriptors, call stacks, statistics. */
#include "analysis/io.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "present/json.h"
#include "print/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 34 };

/* ---- ioactivity, iodetail ---- */

static bool print_table(struct print *print, const char *command,
			void (*view)(struct session *, const struct query *, struct table *))
{
	struct table table;

	view(print->session, &print->query, &table);

	char *heading = command_table_heading(table.title, &table, print->query.sort_reverse);

	return command_show_table(print, command, SHAPE_LIST, &table, heading);
}

bool command_ioactivity(struct print *print, char **arguments, size_t count)
{
	return print_table(print, "ioactivity", view_io_activity);
}

bool command_iodetail(struct print *print, char **arguments, size_t count)
{
	return print_table(print, "iodetail", view_io_detail);
}

/* ---- iocallstack ---- */

static void put_values(FILE *file, const struct io_stack_list *list, const struct io_stack *stack)
{
	const char *group = NULL;

	for (size_t i = 0; i < list->metric_count; i++) {
		const struct metric *metric = list->metrics[i];
		size_t common = strcspn(metric->title, " ");
		bool same = group && !strncmp(group, metric->title, common + 1);

		if (stack->values[i] <= 0)
			continue;
		if (group)
			fputs(same ? "  " : "\n", file);
		group = metric->title;
		if (metric->unit == UNIT_SECONDS)
			terminal_printf(file, "%s=%.6f (secs.)", metric->title, stack->values[i]);
		else
			terminal_printf(file, "%s=%.0f", metric->title, stack->values[i]);
	}
	fputc('\n', file);
}

static void text_stacks(FILE *file, const struct io_stack_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct io_stack *stack = &list->stacks[i];

		if (i)
			terminal_printf(file, "\nStack #%zu\n", i);
		else
			terminal_printf(file, "<Total>\n");
		put_values(file, list, stack);
		for (size_t k = 0; k < stack->depth; k++)
			terminal_printf(file, "  %s\n", stack->frames[k]);
	}
	fputc('\n', file);
}

/* It begins with what the first group says of all. */
struct group_report {
	bool begun;
	struct json_report json;
};

static void json_stacks(struct print *print, const struct io_stack_list *list, const char *name,
			struct group_report *report)
{
	json_t *metrics = json_array();

	for (size_t i = 0; i < list->metric_count; i++)
		json_array_append_new(metrics, json_metric(list->metrics[i], FLAVOR_EXCLUSIVE));
	if (!report->begun)
		json_report_begin(&report->json, &print->presenter, print->session, "iocallstack",
				  metrics, NULL);
	else
		json_decref(metrics);
	report->begun = true;
	for (size_t i = 0; i < list->count; i++) {
		const struct io_stack *stack = &list->stacks[i];
		json_t *row = json_object(), *frames = json_array();

		for (size_t k = 0; k < stack->depth; k++)
			json_array_append_new(frames, json_text(stack->frames[k]));
		if (name)
			json_object_set_new(row, "experiment", json_text(name));
		json_object_set_new(row, "name", i ? json_null() : json_text("<Total>"));
		json_object_set_new(row, "frames", frames);
		for (size_t k = 0; k < list->metric_count; k++) {
			char *key = metric_key(list->metrics[k], FLAVOR_EXCLUSIVE);

			json_object_set_new(row, key,
					    json_number(list->metrics[k]->unit, stack->values[k]));
			free(key);
		}
		json_report_row(&report->json, row);
	}
}

static void put_stacks(struct print *print, const char *name, void *data)
{
	struct io_stack_list list;

	view_io_stacks(print->session, &print->query, &list);
	if (print->presenter.format == PRESENT_JSON)
		json_stacks(print, &list, name, data);
	else
		text_stacks(print->output.file, &list);
	io_stack_list_fini(&list);
}

bool command_iocallstack(struct print *print, char **arguments, size_t count)
{
	struct group_report report = {.begun = false};

	command_each_group(print, put_stacks, &report);
	if (report.begun)
		json_report_end(&report.json);
	return true;
}

/* ---- iostat ---- */

static const struct {
	const char *title, *calls, *key;
	bool has_bytes;
} groups[IO_GROUPS] = {
	[IO_GROUP_WRITE] = {"Write", "Write Calls", "write", true},
	[IO_GROUP_READ] = {"Read", "Read Calls", "read", true},
	[IO_GROUP_WAIT] = {"I/O Wait", "Wait Calls", "wait", false},
	[IO_GROUP_OTHER] = {"Other I/O", "Other I/O Calls", "other", false},
	[IO_GROUP_ERROR] = {"I/O Error", "Failed Calls", "error", false},
};

/* The first number of bytes of a class, and of µs. */
static uint64_t size_begin(unsigned class)
{
	return class ? UINT64_C(1) << (class - 1) : 0;
}

static uint64_t time_begin(unsigned class)
{
	uint64_t begin = class > 0;

	for (unsigned i = 1; i < class; i++)
		begin *= 10;
	return begin;
}

static char *size_text(uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned unit = 0;

	for (; bytes >= 1024; bytes /= 1024)
		unit++;
	return unit ? xasprintf("%" PRIu64 "%cB", bytes, units[unit])
		    : xasprintf("%" PRIu64 "B", bytes);
}

static char *time_text(uint64_t us)
{
	if (us >= 1000000)
		return xasprintf("%" PRIu64 "s", us / 1000000);
	return us >= 1000 ? xasprintf("%" PRIu64 "ms", us / 1000) : xasprintf("%" PRIu64 "us", us);
}

static void put_ranges(FILE *file, const char *title, const char *calls, const uint64_t *classes,
		       unsigned count, uint64_t (*begin)(unsigned), char *(*text)(uint64_t))
{
	terminal_printf(file, "%-*s%s\n", LABEL_WIDTH, title, calls);
	terminal_printf(file, "-------------------------------------------------------\n");
	for (unsigned i = 0; i < count; i++) {
		char *from = text(begin(i)), *to = i + 1 < count ? text(begin(i + 1)) : xstrdup("");
		char *range = xasprintf("  %s - %s", from, to);

		if (classes[i])
			terminal_printf(file, "%-*s%" PRIu64 "\n", LABEL_WIDTH, range, classes[i]);
		free(range);
		free(from);
		free(to);
	}
	fputc('\n', file);
}

static void put_number(FILE *file, const char *label, uint64_t value)
{
	terminal_printf(file, "%-*s%" PRIu64 "\n", LABEL_WIDTH, label, value);
}

static void put_seconds(FILE *file, const char *label, uint64_t ns)
{
	terminal_printf(file, "%-*s%.6f (secs.)\n", LABEL_WIDTH, label, (double)ns / 1e9);
}

static void put_errors(FILE *file, const struct io_report *report)
{
	terminal_printf(file, "%-*s%s\n", LABEL_WIDTH, "Error", "Failed Calls");
	terminal_printf(file, "-------------------------------------------------------\n");
	for (size_t i = 0; i < report->errors.count; i++) {
		const struct io_error *error = &report->errors.items[i];
		const char *name = strerrorname_np((int)error->number);
		char *label = name ? xasprintf("  %s", name)
				   : xasprintf("  errno %" PRIu64, error->number);

		put_number(file, label, error->calls);
		free(label);
	}
	fputc('\n', file);
}

static void put_group(FILE *file, const struct io_report *report, enum io_group group)
{
	const struct io_statistics *of = &report->of[group];

	if (!of->calls)
		return;
	terminal_printf(file, "\n%s Statistics\n", groups[group].title);
	if (groups[group].has_bytes)
		put_ranges(file, "I/O Size Range", groups[group].calls, of->sizes, IO_SIZE_CLASSES,
			   size_begin, size_text);
	put_ranges(file, "Time Range", groups[group].calls, of->times, IO_TIME_CLASSES, time_begin,
		   time_text);
	if (group == IO_GROUP_ERROR)
		put_errors(file, report);
	put_seconds(file, "Longest time", of->longest_ns);
	if (groups[group].has_bytes) {
		put_number(file, "Smallest bytes", of->smallest);
		put_number(file, "Largest bytes", of->largest);
	}
	put_seconds(file, "Total time", of->total_ns);
	put_number(file, "Total calls", of->calls);
	if (groups[group].has_bytes)
		put_number(file, "Total bytes", of->bytes);
	if (of->requests)
		put_number(file, "Submitted requests", of->requests);
}

/* [{"from", "calls"}]: of classes that have any. */
static json_t *json_classes(const uint64_t *classes, unsigned count, uint64_t (*begin)(unsigned),
			    double scale)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < count; i++)
		if (classes[i])
			json_array_append_new(array, json_pack("{s:f, s:I}", "from",
							       (double)begin(i) * scale, "calls",
							       (json_int_t)classes[i]));
	return array;
}

static json_t *json_errors(const struct io_report *report)
{
	json_t *errors = json_array();

	for (size_t i = 0; i < report->errors.count; i++) {
		const struct io_error *error = &report->errors.items[i];

		json_array_append_new(errors,
				      json_pack("{s:I, s:o, s:I, s:f}", "errno",
						(json_int_t)error->number, "name",
						json_text(strerrorname_np((int)error->number)),
						"calls", (json_int_t)error->calls, "time_s",
						(double)error->total_ns / 1e9));
	}
	return errors;
}

static json_t *json_group(const struct io_report *report, int group)
{
	const struct io_statistics *of = &report->of[group];

	return json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:o, s:o}", "group",
			 groups[group].key, "calls", (json_int_t)of->calls, "bytes",
			 (json_int_t)of->bytes, "requests", (json_int_t)of->requests, "time_s",
			 (double)of->total_ns / 1e9, "longest_s", (double)of->longest_ns / 1e9,
			 "smallest_bytes", (json_int_t)of->smallest, "largest_bytes",
			 (json_int_t)of->largest, "sizes",
			 json_classes(of->sizes, IO_SIZE_CLASSES, size_begin, 1), "times",
			 json_classes(of->times, IO_TIME_CLASSES, time_begin, 1e-6));
}

/* Of one of several experiments the rows say so, and errors are a part of theirs. */
static void json_statistics(const struct io_report *report, const char *name,
			    struct json_report *out)
{
	for (int group = 0; group < IO_GROUPS; group++) {
		json_t *row = json_group(report, group);

		if (name)
			json_object_set_new(row, "experiment", json_text(name));
		if (name && group == IO_GROUP_ERROR)
			json_object_set_new(row, "errors", json_errors(report));
		json_report_row(out, row);
	}
}

static void put_statistics(struct print *print, const char *name, void *data)
{
	struct group_report *out = data;
	struct io_report report;

	view_io_report(print->session, &print->query, &report);
	if (print->presenter.format == PRESENT_JSON) {
		if (!out->begun)
			json_report_begin(
				&out->json, &print->presenter, print->session, "iostat", NULL,
				name ? NULL : json_pack("{s:o}", "errors", json_errors(&report)));
		out->begun = true;
		json_statistics(&report, name, &out->json);
	} else {
		for (int group = 0; group < IO_GROUPS; group++)
			put_group(print->output.file, &report, (enum io_group)group);
		fputc('\n', print->output.file);
	}
	io_report_fini(&report);
}

bool command_iostat(struct print *print, char **arguments, size_t count)
{
	struct group_report report = {.begun = false};

	command_each_group(print, put_statistics, &report);
	if (report.begun)
		json_report_end(&report.json);
	return true;
}
