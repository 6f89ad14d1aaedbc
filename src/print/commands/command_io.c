/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of I/O tracing: files, descriptors, call stacks, statistics. */
#include "analysis/views/io.h"
#include "base/array.h"
#include "base/memory.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"
#include "print/commands/command_views.h"

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

static bool command_ioactivity(struct print *print, char **arguments, size_t count)
{
	return print_table(print, "ioactivity", view_io_activity);
}

static bool command_iodetail(struct print *print, char **arguments, size_t count)
{
	return print_table(print, "iodetail", view_io_detail);
}

/* ---- iocallstack ---- */

/* Values whose titles begin with the same word are on one line. */
static void add_values(struct result *into, const struct io_stack_list *list,
		       const struct io_stack *stack)
{
	const char *group = NULL;
	struct part *line = NULL;

	for (size_t i = 0; i < list->metric_count; i++) {
		const struct metric *metric = list->metrics[i];
		size_t common = strcspn(metric->title, " ");
		bool same = group && !strncmp(group, metric->title, common + 1);
		bool timed = metric->unit == UNIT_SECONDS;

		if (stack->values[i] <= 0)
			continue;
		group = metric->title;
		if (!same)
			line = result_line(into, "", "  ");
		line->facts.layout.assign = "=";
		part_add(into, line, NULL, metric->title,
			 value_real(stack->values[i], timed ? 6 : 0))
			->suffix = timed ? " (secs.)" : NULL;
	}
	if (!line)
		result_gap(into);
}

/* The stacks of one experiment, or of all. */
struct io_group_stacks {
	const char *name; /* or NULL */
	struct io_stack_list list;
};

static void make_stack(struct result *into, size_t index, const void *data)
{
	const struct io_group_stacks *group = data;
	const struct io_stack_list *list = &group->list;
	const struct io_stack *stack = &list->stacks[index];
	struct part *row;

	if (index)
		result_gap(into);
	if (index)
		result_heading(into, "Stack #%zu", index);
	else
		result_heading(into, "<Total>");
	add_values(into, list, stack);
	row = result_line(into, "", "");
	if (group->name)
		part_set(into, row, "experiment", value_text(into, group->name));
	part_set(into, row, "name", value_text(into, index ? NULL : "<Total>"));
	part_set(into, row, "frames", value_texts(into, stack->frames, stack->depth));
	for (size_t i = 0; i < list->metric_count; i++) {
		char *key = metric_key(list->metrics[i], FLAVOR_EXCLUSIVE);

		part_set(into, row, key, value_measure(list->metrics[i]->unit, stack->values[i]));
		free(key);
	}
	result_frames(into, stack->frames, stack->depth);
}

/* What is asked of each experiment, and the answer. */
struct io_question {
	struct result result;
	VEC(struct io_group_stacks *) groups;
};

static void ask_stacks(struct print *print, const char *name, void *data)
{
	struct io_question *question = data;
	struct io_group_stacks *group = xcalloc(1, sizeof(*group));
	const struct io_stack_list *list = &group->list;

	view_io_stacks(print->session, &print->query, &group->list);
	group->name = name;
	for (size_t i = 0; i < list->metric_count && !question->groups.count; i++)
		*vec_push(&question->result.metrics) =
			(struct metric_choice){list->metrics[i], FLAVOR_EXCLUSIVE, VISIBLE_VALUE};
	*vec_push(&question->groups) = group;
	command_group_heading(print, &question->result, name);
	result_series(&question->result, list->count, make_stack, group);
	result_gap(&question->result);
}

static bool command_iocallstack(struct print *print, char **arguments, size_t count)
{
	struct io_question question = {.groups = {0}};

	result_init(&question.result, "iocallstack", print->session);
	command_each_group(print, ask_stacks, &question);
	print_answer(print, &question.result);
	for (size_t i = 0; i < question.groups.count; i++) {
		io_stack_list_fini(&question.groups.items[i]->list);
		free(question.groups.items[i]);
	}
	vec_fini(&question.groups);
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

/* Calls by what each needed. */
static struct part *add_histogram(struct result *result, const char *title, const char *calls)
{
	const struct list_column columns[] = {{.title = title, .width = LABEL_WIDTH - 1},
					      {.title = calls}};
	struct part *list = result_list(result, columns, COUNT(columns));

	list->audience = FOR_PEOPLE;
	list->list.ruled = true;
	return list;
}

static void add_ranges(struct result *result, const char *title, const char *calls,
		       const uint64_t *classes, unsigned count, uint64_t (*begin)(unsigned),
		       char *(*text)(uint64_t))
{
	struct part *list = add_histogram(result, title, calls);

	for (unsigned i = 0; i < count; i++) {
		char *from = text(begin(i)), *to = i + 1 < count ? text(begin(i + 1)) : xstrdup("");

		if (classes[i]) {
			part_cell(result, list, value_printf(result, "  %s - %s", from, to));
			part_cell(result, list, value_count(classes[i]));
		}
		free(from);
		free(to);
	}
	result_gap(result);
}

static void add_errors(struct result *result, const struct io_report *report)
{
	struct part *list = add_histogram(result, "Error", "Failed Calls");

	for (size_t i = 0; i < report->errors.count; i++) {
		const struct io_error *error = &report->errors.items[i];
		const char *name = strerrorname_np((int)error->number);

		part_cell(result, list,
			  name ? value_printf(result, "  %s", name)
			       : value_printf(result, "  errno %" PRIu64, error->number));
		part_cell(result, list, value_count(error->calls));
	}
	result_gap(result);
}

static void add_seconds(struct result *result, struct part *facts, const char *label, uint64_t ns)
{
	part_add(result, facts, NULL, label, value_real((double)ns / 1e9, 6))->suffix = " (secs.)";
}

static void add_count(struct result *result, struct part *facts, const char *label, uint64_t count)
{
	part_add(result, facts, NULL, label, value_count(count));
}

static void add_group(struct result *result, const struct io_report *report, enum io_group group)
{
	const struct io_statistics *of = &report->of[group];
	const bool has_bytes = groups[group].has_bytes;
	struct part *facts;

	if (!of->calls)
		return;
	result_gap(result);
	result_heading(result, "%s Statistics", groups[group].title);
	if (has_bytes)
		add_ranges(result, "I/O Size Range", groups[group].calls, of->sizes,
			   IO_SIZE_CLASSES, size_begin, size_text);
	add_ranges(result, "Time Range", groups[group].calls, of->times, IO_TIME_CLASSES,
		   time_begin, time_text);
	if (group == IO_GROUP_ERROR)
		add_errors(result, report);
	facts = result_facts(result, -LABEL_WIDTH);
	facts->facts.layout.assign = "";
	add_seconds(result, facts, "Longest time", of->longest_ns);
	if (has_bytes) {
		add_count(result, facts, "Smallest bytes", of->smallest);
		add_count(result, facts, "Largest bytes", of->largest);
	}
	add_seconds(result, facts, "Total time", of->total_ns);
	add_count(result, facts, "Total calls", of->calls);
	if (has_bytes)
		add_count(result, facts, "Total bytes", of->bytes);
	if (of->requests)
		add_count(result, facts, "Submitted requests", of->requests);
}

/* ---- the same for programs ---- */

/* [{"from", "calls"}]: of classes that have any. */
static struct value list_classes(struct result *result, const uint64_t *classes, unsigned count,
				 uint64_t (*begin)(unsigned), double scale)
{
	struct value_list *list = result_values(result);

	for (unsigned i = 0; i < count; i++) {
		struct record *class = classes[i] ? result_record(result) : NULL;

		if (!class)
			continue;
		record_set(result, class, "from", value_real((double)begin(i) * scale, 6));
		record_set(result, class, "calls", value_count(classes[i]));
		values_add(result, list, value_record(class));
	}
	return value_list(list);
}

static struct value list_errors(struct result *result, const struct io_report *report)
{
	struct value_list *list = result_values(result);

	for (size_t i = 0; i < report->errors.count; i++) {
		const struct io_error *error = &report->errors.items[i];
		const char *name = strerrorname_np((int)error->number);
		struct record *record = result_record(result);

		record_set(result, record, "errno", value_count(error->number));
		record_set(result, record, "name", value_text(result, name));
		record_set(result, record, "calls", value_count(error->calls));
		record_set(result, record, "time_s", value_real((double)error->total_ns / 1e9, 6));
		values_add(result, list, value_record(record));
	}
	return value_list(list);
}

/* Of one of several experiments the rows say so, and errors are a part of theirs. */
static void set_group(struct result *result, const struct io_report *report, enum io_group group,
		      const char *name)
{
	const struct io_statistics *of = &report->of[group];
	struct part *row = result_line(result, "", "");

	part_set(result, row, "group", value_text(result, groups[group].key));
	part_set(result, row, "calls", value_count(of->calls));
	part_set(result, row, "bytes", value_count(of->bytes));
	part_set(result, row, "requests", value_count(of->requests));
	part_set(result, row, "time_s", value_real((double)of->total_ns / 1e9, 6));
	part_set(result, row, "longest_s", value_real((double)of->longest_ns / 1e9, 6));
	part_set(result, row, "smallest_bytes", value_count(of->smallest));
	part_set(result, row, "largest_bytes", value_count(of->largest));
	part_set(result, row, "sizes",
		 list_classes(result, of->sizes, IO_SIZE_CLASSES, size_begin, 1));
	part_set(result, row, "times",
		 list_classes(result, of->times, IO_TIME_CLASSES, time_begin, 1e-6));
	if (name)
		part_set(result, row, "experiment", value_text(result, name));
	if (name && group == IO_GROUP_ERROR)
		part_set(result, row, "errors", list_errors(result, report));
}

static void ask_statistics(struct print *print, const char *name, void *data)
{
	struct result *result = data;
	struct io_report report;

	view_io_report(print->session, &print->query, &report);
	command_group_heading(print, result, name);
	if (!name) {
		struct part *errors = result_line(result, "", "");

		errors->facts.of_all = true;
		part_set(result, errors, "errors", list_errors(result, &report));
	}
	uint64_t calls = 0;

	for (int group = 0; group < IO_GROUPS; group++) {
		calls += report.of[group].calls;
		add_group(result, &report, (enum io_group)group);
		set_group(result, &report, (enum io_group)group, name);
	}
	if (!calls)
		result_note(result, "No call was recorded.");
	result_gap(result);
	io_report_fini(&report);
}

static bool command_iostat(struct print *print, char **arguments, size_t count)
{
	struct result result;

	result_init(&result, "iostat", print->session);
	command_each_group(print, ask_statistics, &result);
	return print_answer(print, &result);
}

const struct command command_rows_io[] = {
	{.name = "ioactivity",
	 .group = GROUP_TRACES,
	 .data = DATA_IO,
	 .help = "the files and peers that were read and written",
	 .run = command_ioactivity,
	 .comes_next = true},
	{.name = "iodetail",
	 .group = GROUP_TRACES,
	 .data = DATA_IO,
	 .help = "the same by each opening of a descriptor",
	 .run = command_iodetail},
	{.name = "iocallstack",
	 .group = GROUP_TRACES,
	 .data = DATA_IO,
	 .help = "the call stacks of I/O",
	 .run = command_iocallstack},
	{.name = "iostat",
	 .group = GROUP_TRACES,
	 .data = DATA_IO,
	 .help = "sizes, times and errors of I/O calls",
	 .run = command_iostat},
	{0},
};
