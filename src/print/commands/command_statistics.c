/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics and sample_detail: what the whole process used between two
 * sample points.
 *
 * CPU times and counts come from the kernel's accounting at the sample
 * points.  The other microstates come from the clock profile and are known
 * for the whole run only.  What Linux does not count (swaps, messages, system
 * calls, signals, trap time) has no line: a zero there would be a guess.
 */
#include "analysis/session/session.h"
#include "analysis/views/statistics.h"
#include "base/array.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"

#include <math.h>
#include <stdlib.h>

enum { LABEL_WIDTH = 50 };

/* The states in the order of the listing, by enum format_state. */
static const struct {
	const char *label;
	const char *key;
	unsigned state;
	bool optional; /* left out at 0: not every kernel or engine can tell it apart */
} states[] = {
	{"Trap CPU", "trap", FORMAT_STATE_TRAP, true},
	{"User Lock", "lock", FORMAT_STATE_USER_LOCK, false},
	{"Data Page Fault", "datapfault", FORMAT_STATE_DATA_FAULT, false},
	{"Text Page Fault", "textpfault", FORMAT_STATE_TEXT_FAULT, true},
	{"Kernel Page Fault", "kernelpfault", FORMAT_STATE_KERNEL_FAULT, true},
	{"Stopped", "stop", FORMAT_STATE_STOPPED, false},
	{"Wait CPU", "wait", FORMAT_STATE_WAIT_CPU, false},
	{"Sleep", "sleep", FORMAT_STATE_SLEEP, false},
};

enum { LISTED_STATES = COUNT(states) };

static const char sum_name[] = "<Sum across selected experiments>";

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void add_seconds(struct result *result, struct part *facts, const char *label, double value)
{
	part_add(result, facts, NULL, label, value_real(value, 3));
}

static void add_share(struct result *result, struct part *facts, const char *label, double value,
		      double whole)
{
	part_add(result, facts, NULL, label,
		 whole > 0 ? value_part(UNIT_SECONDS, value, whole)
			   : value_measure(UNIT_SECONDS, value));
}

static void add_times(struct result *result, const struct statistics *interval)
{
	const double *by_state = interval->state_seconds;
	double whole = statistics_thread_seconds(interval);
	struct part *facts;

	if (!interval->from && whole == 0)
		return;
	result_gap(result);
	facts = result_facts(result, LABEL_WIDTH);
	part_add(result, facts, NULL, "Process Times (sec.)", (struct value){.kind = VALUE_NONE});
	add_share(result, facts, "User CPU", interval->user_seconds, whole);
	add_share(result, facts, "System CPU", interval->system_seconds, whole);
	for (int i = 0; whole > 0 && i < LISTED_STATES; i++)
		if (by_state[states[i].state] > 0 || !states[i].optional)
			add_share(result, facts, states[i].label, by_state[states[i].state], whole);
}

static void add_count(struct result *result, struct part *facts, const char *label, uint64_t count)
{
	part_add(result, facts, NULL, label, value_count(count))->width = 5;
}

static void add_counts(struct result *result, const struct statistics *interval)
{
	struct part *facts;

	if (!interval->from)
		return;
	result_gap(result);
	facts = result_facts(result, LABEL_WIDTH);
#define X(label, field)                                                                            \
	add_count(result, facts, label,                                                            \
		  statistics_gained(interval->from->field, interval->to->field));
	USAGE_COUNTS(X)
	if (!statistics_has_files(interval))
		return;
	FILE_COUNTS(X)
#undef X
	if (interval->is_sum)
		return;
	add_count(result, facts, "Resident bytes at the end", interval->to->rss_bytes);
	add_count(result, facts, "Most resident bytes", statistics_most_resident(interval));
}

static void add_threads(struct result *result, struct part *facts,
			const struct statistics *interval)
{
	double whole = statistics_thread_seconds(interval);

	if (whole > 0) {
		add_seconds(result, facts, "Total Thread Time (sec.)", whole);
		if (interval->recorded_ns)
			add_seconds(result, facts, "Average number of Threads",
				    whole / seconds(interval->recorded_ns));
	} else if (interval->to && statistics_has_files(interval)) {
		part_add(result, facts, NULL, "Threads at the end",
			 value_count(interval->to->threads));
	}
}

static void add_interval(struct result *result, const struct statistics *interval)
{
	double duration = statistics_seconds(interval);
	struct part *facts = result_facts(result, LABEL_WIDTH);

	part_add(result, facts, NULL, "Start Label", value_text(result, interval->start_label));
	part_add(result, facts, NULL, "End Label", value_text(result, interval->end_label));
	if (interval->is_sum) {
		part_add(result, facts, NULL, "Start Time (sec.)", value_text(result, "N/A"));
		part_add(result, facts, NULL, "End Time (sec.)", value_text(result, "N/A"));
	} else {
		add_seconds(result, facts, "Start Time (sec.)", seconds(interval->start_ns));
		add_seconds(result, facts, "End Time (sec.)", seconds(interval->end_ns));
	}
	add_seconds(result, facts, "Duration (sec.)", duration);
	if (statistics_is_partial(interval))
		add_seconds(result, facts, "Recorded (sec.)", seconds(interval->recorded_ns));
	add_threads(result, facts, interval);
	if (interval->before_seconds > 0)
		add_seconds(result, facts, "CPU before recording (sec.)", interval->before_seconds);
	if (interval->collections) {
		add_count(result, facts, "Garbage collections", interval->collections);
		add_seconds(result, facts, "Garbage collection (sec.)",
			    interval->collection_seconds);
	}
	if (interval->classes)
		add_count(result, facts, "Linked classes of Java", interval->classes);
	if (interval->compiled) {
		add_count(result, facts, "Compiled methods of Java", interval->compiled);
		add_count(result, facts, "Bytes of their code", interval->compiled_bytes);
	}
	add_times(result, interval);
	add_counts(result, interval);
	result_gap(result);
}

/* ---- the same for programs ---- */

static struct value known(bool is_known, struct value value)
{
	return is_known ? value : (struct value){.kind = VALUE_NONE};
}

static struct value states_of(struct result *result, const struct statistics *interval)
{
	struct record *by_state = result_record(result);

	record_set(result, by_state, "user",
		   value_real(interval->state_seconds[FORMAT_STATE_USER], 3));
	record_set(result, by_state, "system",
		   value_real(interval->state_seconds[FORMAT_STATE_SYSTEM], 3));
	for (int i = 0; i < LISTED_STATES; i++)
		record_set(result, by_state, states[i].key,
			   value_real(interval->state_seconds[states[i].state], 3));
	return value_record(by_state);
}

static void set_usage(struct result *result, struct part *row, const struct statistics *interval)
{
	const bool files = statistics_has_files(interval), one = files && !interval->is_sum;

	part_set(result, row, "user_s", value_real(interval->user_seconds, 3));
	part_set(result, row, "system_s", value_real(interval->system_seconds, 3));
#define X(label, field)                                                                            \
	part_set(result, row, #field,                                                              \
		 value_count(statistics_gained(interval->from->field, interval->to->field)));
	USAGE_COUNTS(X)
#undef X
#define X(label, field)                                                                            \
	part_set(result, row, #field,                                                              \
		 known(files, value_count(statistics_gained(interval->from->field,                 \
							    interval->to->field))));
	FILE_COUNTS(X)
#undef X
	part_set(result, row, "rss_bytes", known(one, value_count(interval->to->rss_bytes)));
	part_set(result, row, "max_rss_bytes",
		 known(one, value_count(statistics_most_resident(interval))));
	part_set(result, row, "threads", known(files, value_count(interval->to->threads)));
}

/* number 0: all samples; without a process: the sum of all that are selected. */
static void set_interval(struct result *result, const struct process_info *process,
			 const struct statistics *interval, size_t number)
{
	struct part *row = result_line(result, "", "");
	const bool timed = !interval->is_sum;

	part_set(result, row, "experiment", known(process, value_count(process ? process->id : 0)));
	part_set(result, row, "name", value_text(result, process ? process->name : sum_name));
	part_set(result, row, "sample", known(number, value_count(number)));
	part_set(result, row, "start_label", value_text(result, interval->start_label));
	part_set(result, row, "end_label", value_text(result, interval->end_label));
	part_set(result, row, "start_s", known(timed, value_real(seconds(interval->start_ns), 3)));
	part_set(result, row, "end_s", known(timed, value_real(seconds(interval->end_ns), 3)));
	part_set(result, row, "duration_s", value_real(statistics_seconds(interval), 3));
	part_set(result, row, "recorded_s", value_real(seconds(interval->recorded_ns), 3));
	part_set(result, row, "before_s", value_real(interval->before_seconds, 3));
	if (interval->collections) {
		part_set(result, row, "collections", value_count(interval->collections));
		part_set(result, row, "collection_s", value_real(interval->collection_seconds, 3));
	}
	if (interval->classes)
		part_set(result, row, "classes", value_count(interval->classes));
	if (interval->compiled) {
		part_set(result, row, "compiled", value_count(interval->compiled));
		part_set(result, row, "compiled_bytes", value_count(interval->compiled_bytes));
	}
	part_set(result, row, "state_seconds",
		 statistics_thread_seconds(interval) > 0 ? states_of(result, interval)
							 : (struct value){.kind = VALUE_NONE});
	if (interval->from)
		set_usage(result, row, interval);
}

/* ---- the commands ---- */

static void add_title(struct result *result, const char *prefix, const char *name)
{
	result_heading(result, "%s%s", prefix, name)->heading.is_title = true;
	result_note(result, "        Aggregated statistics for selected samples");
	result_gap(result);
}

static void make_sample(struct result *into, size_t index, const void *data)
{
	const struct process_info *process = data;
	struct statistics interval = statistics_of_sample(process, index);

	part_add(into, result_facts(into, LABEL_WIDTH), NULL, "Sample Number",
		 value_count(index + 1));
	result_gap(into);
	add_interval(into, &interval);
	set_interval(into, process, &interval, index + 1);
}

static void add_samples(struct result *result, const struct process_info *process)
{
	size_t count = process->sample_count ? process->sample_count - 1 : 0;

	result_note(result, "%*s", LABEL_WIDTH, "Individual samples");
	result_gap(result);
	result_series(result, count, make_sample, process);
}

/* What the processes' parts are made of. */
struct processes {
	const struct session *session;
	size_t first;
	bool detail;
};

/* Of what was not recorded the name of the experiment says nothing. */
static void add_experiment_title(struct result *into, const struct process_info *process)
{
	if (!process->is_unrecorded) {
		add_title(into, "Experiment: ", process->name);
		return;
	}
	char *name = xasprintf("%s <not recorded: %s>", process->name, process->target);

	add_title(into, "Experiment: ", name);
	free(name);
}

static void make_process(struct result *into, size_t index, const void *data)
{
	const struct processes *of = data;
	const struct process_info *process = session_process(of->session, of->first + index);
	struct statistics whole = statistics_of_process(process);

	add_experiment_title(into, process);
	add_interval(into, &whole);
	set_interval(into, process, &whole, 0);
	if (of->detail)
		add_samples(into, process);
}

/* ---- experiments beside each other ---- */

/* The sums of a group's processes among those that were chosen, which lie side by side. */
static void sum_group(const struct session *session, size_t group, size_t first, size_t end,
		      struct statistics_sum *sum)
{
	while (first < end && session_process(session, first)->group != group + 1)
		first++;
	while (first < end && session_process(session, end - 1)->group != group + 1)
		end--;
	statistics_of_several(sum, session, first, end);
}

/* One line: the value of each group. */
struct line {
	const char *name, *title;
	enum metric_unit unit;
	double (*value)(const struct statistics *of, unsigned state);
	unsigned state;
};

static double value_duration(const struct statistics *of, unsigned state)
{
	return statistics_seconds(of);
}

static double value_threads(const struct statistics *of, unsigned state)
{
	return statistics_thread_seconds(of);
}

static double value_user(const struct statistics *of, unsigned state)
{
	return of->user_seconds;
}

static double value_system(const struct statistics *of, unsigned state)
{
	return of->system_seconds;
}

static double value_state(const struct statistics *of, unsigned state)
{
	return statistics_thread_seconds(of) > 0 ? of->state_seconds[state] : NAN;
}

#define X(label, field)                                                                            \
	static double value_##field(const struct statistics *of, unsigned state)                   \
	{                                                                                          \
		return of->from ? (double)statistics_gained(of->from->field, of->to->field) : NAN; \
	}
USAGE_COUNTS(X)
FILE_COUNTS(X)
#undef X

static void add_line(struct compared *compared, const struct line *line,
		     const struct statistics_sum *sums)
{
	size_t groups = session_group_count(compared->print->session);
	double *values = xcalloc(groups, sizeof(*values));
	bool any = false;

	for (size_t i = 0; i < groups; i++) {
		values[i] = line->value(&sums[i].whole, line->state);
		any |= values[i] > 0;
	}
	if (any)
		compared_add(compared, line->name, line->title, line->unit, values);
	free(values);
}

static void add_lines(struct compared *compared, const struct statistics_sum *sums)
{
	static const struct line lines[] = {
		{"duration_s", "Duration", UNIT_SECONDS, value_duration, 0},
		{"thread_s", "Total Thread Time", UNIT_SECONDS, value_threads, 0},
		{"user_s", "User CPU", UNIT_SECONDS, value_user, 0},
		{"system_s", "System CPU", UNIT_SECONDS, value_system, 0},
#define X(label, field) {#field, label, UNIT_COUNT, value_##field, 0},
		USAGE_COUNTS(X) FILE_COUNTS(X)
#undef X
	};
	enum { TIMES = 4 };

	for (size_t i = 0; i < TIMES; i++)
		add_line(compared, &lines[i], sums);
	for (size_t i = 0; i < LISTED_STATES; i++)
		add_line(compared,
			 &(struct line){states[i].key, states[i].label, UNIT_SECONDS, value_state,
					states[i].state},
			 sums);
	for (size_t i = TIMES; i < COUNT(lines); i++)
		add_line(compared, &lines[i], sums);
}

static void add_compared(struct print *print, struct result *result, size_t first, size_t end)
{
	size_t groups = session_group_count(print->session);
	struct statistics_sum *sums;
	struct compared compared;

	if (!compared_begin(&compared, print, result))
		return;
	sums = xcalloc(groups, sizeof(*sums));
	for (size_t i = 0; i < groups; i++)
		sum_group(print->session, i, first, end, &sums[i]);
	add_lines(&compared, sums);
	compared_end(&compared);
	result_gap(result);
	free(sums);
}

static bool show_statistics(struct print *print, char **arguments, size_t count, bool detail,
			    const char *command)
{
	struct processes of = {.session = print->session, .detail = detail};
	struct result result;
	size_t first, end;
	struct statistics_sum sum;

	if (!command_select_processes(print, arguments, count, &first, &end))
		return false;
	result_init(&result, command, print->session);
	add_compared(print, &result, first, end);
	if (end - first > 1) {
		statistics_of_several(&sum, print->session, first, end);
		add_title(&result, "", sum_name);
		add_interval(&result, &sum.whole);
		set_interval(&result, NULL, &sum.whole, 0);
	}
	of.first = first;
	result_series(&result, end - first, make_process, &of);
	return print_answer(print, &result);
}

static bool command_statistics(struct print *print, char **arguments, size_t count)
{
	return show_statistics(print, arguments, count, false, "statistics");
}

static bool command_sample_detail(struct print *print, char **arguments, size_t count)
{
	return show_statistics(print, arguments, count, true, "sample_detail");
}

const struct command command_rows_statistics[] = {
	{.name = "statistics",
	 .max_arguments = 1,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_LISTS,
	 .arguments = "[ID|all]",
	 .help = "resources used by the whole process",
	 .run = command_statistics},
	{.name = "sample_detail",
	 .max_arguments = 1,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_LISTS,
	 .arguments = "[ID|all]",
	 .help = "the same between each two sample points",
	 .run = command_sample_detail},
	{0},
};
