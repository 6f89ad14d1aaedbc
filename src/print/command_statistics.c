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
#include "base/array.h"
#include "base/terminal.h"
#include "present/json.h"
#include "present/number.h"
#include "print/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_WIDTH = 50, STATE_COUNT = 10 };

/* A process takes its last sample point when it has ended. */
enum { LATE_NS = 10 * 1000 * 1000 };

/* By so much of the thread time the kernel may count more than the clock. */
#define CPU_SLACK 0.02

/* The states in the order of the listing, by enum format_state. */
static const struct {
	const char *label;
	const char *key;
	unsigned state;
	bool optional; /* left out at 0: not every kernel or engine can tell it apart */
} states[] = {
	{"Trap CPU", "trap", 2, true},
	{"User Lock", "lock", 6, false},
	{"Data Page Fault", "datapfault", 4, false},
	{"Text Page Fault", "textpfault", 3, true},
	{"Kernel Page Fault", "kernelpfault", 5, true},
	{"Stopped", "stop", 9, false},
	{"Wait CPU", "wait", 8, false},
	{"Sleep", "sleep", 7, false},
};

enum { LISTED_STATES = COUNT(states) };

static const char sum_name[] = "<Sum across selected experiments>";

struct interval {
	const char *start_label, *end_label;
	uint64_t start_ns, end_ns;
	const struct usage *from, *to; /* NULL: no sample points */
	const double *state_seconds;   /* all 0: not known for this interval */
	double user_seconds, system_seconds;
	uint64_t recorded_ns;  /* of its duration */
	double before_seconds; /* CPU time before the recording, which is in no other number */
	bool is_sum;	       /* of several processes: begins and ends at no one moment */
};

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Counters only grow; one that does not is damaged and counts as nothing. */
static uint64_t gained(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static bool is_partial(const struct interval *interval)
{
	return interval->recorded_ns * 100 < gained(interval->start_ns, interval->end_ns) * 99;
}

/* It was paused for all its life, or lived outside the window of -t. */
static bool has_nothing(const struct interval *interval)
{
	return is_partial(interval) && !interval->recorded_ns;
}

/*
 * A process that is killed has written no last sample point: what it used since the one before is
 * known to the clock alone.
 */
static bool is_cut(const struct interval *interval)
{
	return interval->to->kind != FORMAT_SAMPLE_END;
}

static double thread_time(const struct interval *interval)
{
	double sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += interval->state_seconds[i];
	return sum;
}

/*
 * The kernel counts exactly, but also while nothing is recorded: in pauses, outside the window of
 * -t, and when the collector itself begins and ends, which in an image that soon becomes another
 * is most of it.  Then the clock alone tells of what was.
 */
static void settle_cpu(struct interval *interval)
{
	const double *by_state = interval->state_seconds;
	double whole = thread_time(interval), cpu = 0;
	bool is_less = false;

	if (interval->from) {
		interval->user_seconds =
			seconds(gained(interval->from->user_ns, interval->to->user_ns));
		interval->system_seconds =
			seconds(gained(interval->from->system_ns, interval->to->system_ns));
		cpu = interval->user_seconds + interval->system_seconds;
		is_less = is_cut(interval) && cpu < by_state[0] + by_state[1];
	}
	if (has_nothing(interval) || is_less ||
	    (whole > 0 && (!interval->from || is_partial(interval) ||
			   cpu + whole - by_state[0] - by_state[1] > whole * (1 + CPU_SLACK)))) {
		interval->user_seconds = by_state[0];
		interval->system_seconds = by_state[1];
	}
}

static void put_seconds(FILE *file, const char *label, double value)
{
	terminal_printf(file, "%*s: %.3f\n", LABEL_WIDTH, label, value);
}

static void put_share(FILE *file, const char *label, double value, double whole)
{
	char text[NUMBER_SIZE];

	if (whole > 0) {
		number_summary(text, UNIT_SECONDS, value, whole);
	} else {
		number_value(text, UNIT_SECONDS, value);
		text[strcspn(text, " ")] = '\0';
	}
	terminal_printf(file, "%*s: %s\n", LABEL_WIDTH, label, text);
}

static void put_times(FILE *file, const struct interval *interval)
{
	const double *by_state = interval->state_seconds;
	double whole = thread_time(interval);

	if (!interval->from && whole == 0)
		return;
	terminal_printf(file, "\n%*s:\n", LABEL_WIDTH, "Process Times (sec.)");
	put_share(file, "User CPU", interval->user_seconds, whole);
	put_share(file, "System CPU", interval->system_seconds, whole);
	for (int i = 0; whole > 0 && i < LISTED_STATES; i++)
		if (by_state[states[i].state] > 0 || !states[i].optional)
			put_share(file, states[i].label, by_state[states[i].state], whole);
}

/* What the kernel's files of the process tell, which other tools did not look into. */
#define FILE_COUNTS(X)                                                                             \
	X("Read calls", read_calls)                                                                \
	X("Write calls", write_calls)                                                              \
	X("Bytes read", read_bytes)                                                                \
	X("Bytes written", write_bytes)

#define USAGE_COUNTS(X)                                                                            \
	X("Minor Page Faults", minor_faults)                                                       \
	X("Major Page Faults", major_faults)                                                       \
	X("Input blocks", input_blocks)                                                            \
	X("Output blocks", output_blocks)                                                          \
	X("Voluntary context switches", voluntary_switches)                                        \
	X("Involuntary context switches", involuntary_switches)

static bool has_files(const struct interval *interval)
{
	return interval->to->threads > 0;
}

/* The kernel counts its maximum at other moments, by a counter that lags behind. */
static uint64_t most_resident(const struct interval *interval)
{
	const struct usage *end = interval->to;

	return end->max_rss_bytes && end->max_rss_bytes < end->rss_bytes ? end->rss_bytes
									 : end->max_rss_bytes;
}

static void put_counts(FILE *file, const struct interval *interval)
{
	if (!interval->from)
		return;
	fputc('\n', file);
#define X(label, field)                                                                            \
	terminal_printf(file, "%*s: %5" PRIu64 "\n", LABEL_WIDTH, label,                           \
			gained(interval->from->field, interval->to->field));
	USAGE_COUNTS(X)
	if (!has_files(interval))
		return;
	FILE_COUNTS(X)
#undef X
	if (interval->is_sum)
		return;
	terminal_printf(file, "%*s: %5" PRIu64 "\n", LABEL_WIDTH, "Resident bytes at the end",
			interval->to->rss_bytes);
	terminal_printf(file, "%*s: %5" PRIu64 "\n", LABEL_WIDTH, "Most resident bytes",
			most_resident(interval));
}

static void put_interval(FILE *file, const struct interval *interval)
{
	double duration = seconds(gained(interval->start_ns, interval->end_ns));
	double whole = thread_time(interval);

	terminal_printf(file, "%*s: %s\n", LABEL_WIDTH, "Start Label", interval->start_label);
	terminal_printf(file, "%*s: %s\n", LABEL_WIDTH, "End Label", interval->end_label);
	if (interval->is_sum) {
		terminal_printf(file, "%*s: N/A\n", LABEL_WIDTH, "Start Time (sec.)");
		terminal_printf(file, "%*s: N/A\n", LABEL_WIDTH, "End Time (sec.)");
	} else {
		put_seconds(file, "Start Time (sec.)", seconds(interval->start_ns));
		put_seconds(file, "End Time (sec.)", seconds(interval->end_ns));
	}
	put_seconds(file, "Duration (sec.)", duration);
	if (is_partial(interval))
		put_seconds(file, "Recorded (sec.)", seconds(interval->recorded_ns));
	if (whole > 0) {
		put_seconds(file, "Total Thread Time (sec.)", whole);
		if (interval->recorded_ns)
			put_seconds(file, "Average number of Threads",
				    whole / seconds(interval->recorded_ns));
	} else if (interval->to && has_files(interval)) {
		terminal_printf(file, "%*s: %" PRIu64 "\n", LABEL_WIDTH, "Threads at the end",
				interval->to->threads);
	}
	if (interval->before_seconds > 0)
		put_seconds(file, "CPU before recording (sec.)", interval->before_seconds);
	put_times(file, interval);
	put_counts(file, interval);
	fputc('\n', file);
}

static const char *sample_label(const struct usage *sample)
{
	static const char *const kinds[] = {"start", "periodic", "end", "manual"};

	if (sample->label[0])
		return sample->label;
	return sample->kind < 4 ? kinds[sample->kind] : "sample";
}

static struct interval whole_run(const struct process_info *process)
{
	struct interval interval = {
		.start_label = "Total",
		.end_label = "Total",
		.start_ns = process->start_ns,
		.end_ns = process->end_ns,
		.state_seconds = process->state_seconds,
		.recorded_ns = process->recorded_ns,
		.before_seconds = process->before_seconds,
	};
	size_t count = process->sample_count;

	/* The launcher's later ones are of the program's next image, or of what is not recorded. */
	while (count > 2 && process->samples[count - 1].time_ns > process->end_ns + LATE_NS)
		count--;
	if (count > 1) {
		interval.from = &process->samples[0];
		interval.to = &process->samples[count - 1];
	}
	settle_cpu(&interval);
	return interval;
}

static struct interval one_sample(const struct process_info *process, size_t index)
{
	static const double unknown[STATE_COUNT];
	const struct usage *from = &process->samples[index], *to = from + 1;

	struct interval interval = {
		.start_label = sample_label(from),
		.end_label = sample_label(to),
		.start_ns = from->time_ns,
		.end_ns = to->time_ns,
		.from = from,
		.to = to,
		.state_seconds = unknown,
		.recorded_ns = gained(from->time_ns, to->time_ns),
	};

	settle_cpu(&interval);
	return interval;
}

/* What several processes have in sum. */
struct sum {
	struct interval interval;
	struct usage from, to;
	double state_seconds[STATE_COUNT];
};

static void add_usage(struct usage *sum, const struct interval *interval)
{
	sum->threads += interval->to->threads;
#define X(label, field) sum->field += gained(interval->from->field, interval->to->field);
	USAGE_COUNTS(X)
	FILE_COUNTS(X)
#undef X
}

/* Its recorded time is `*recorded_ns`; true: it is less than its life. */
static bool add_process(struct sum *sum, const struct process_info *process, uint64_t *recorded_ns)
{
	struct interval own = whole_run(process);

	sum->interval.user_seconds += own.user_seconds;
	sum->interval.system_seconds += own.system_seconds;
	sum->interval.before_seconds += own.before_seconds;
	for (int i = 0; i < STATE_COUNT; i++)
		sum->state_seconds[i] += own.state_seconds[i];
	if (own.from) {
		sum->interval.from = &sum->from;
		sum->interval.to = &sum->to;
	}
	if (own.from && !has_nothing(&own))
		add_usage(&sum->to, &own);
	*recorded_ns = own.recorded_ns;
	return is_partial(&own);
}

/*
 * The selected processes of one experiment, of which `at` is the first.  Processes live beside
 * each other, images of one after each other; how much was recorded is told by the first's.
 */
static void add_experiment(struct sum *sum, const struct session *session, size_t *at, size_t end)
{
	const struct process_info *first = session_process(session, *at), *process;
	uint64_t begin_ns = first->start_ns, end_ns = 0, recorded_ns = 0, own_ns;
	bool partial = false;

	for (; *at < end; ++*at) {
		process = session_process(session, *at);
		if (process->founder != first->founder)
			break;
		begin_ns = process->start_ns < begin_ns ? process->start_ns : begin_ns;
		end_ns = process->end_ns > end_ns ? process->end_ns : end_ns;
		partial |= add_process(sum, process, &own_ns);
		recorded_ns += process->pid == first->pid ? own_ns : 0;
	}
	sum->interval.end_ns += gained(begin_ns, end_ns);
	sum->interval.recorded_ns += partial ? recorded_ns : gained(begin_ns, end_ns);
}

static void sum_up(struct sum *sum, const struct session *session, size_t first, size_t end)
{
	*sum = (struct sum){0};
	sum->interval.start_label = sum->interval.end_label = "Total";
	sum->interval.is_sum = true;
	sum->interval.state_seconds = sum->state_seconds;
	while (first < end)
		add_experiment(sum, session, &first, end);
}

static void set_count(json_t *row, const char *key, bool known, uint64_t count)
{
	json_object_set_new(row, key, known ? json_integer((json_int_t)count) : json_null());
}

static void json_cpu(json_t *row, const struct interval *interval)
{
	json_object_set_new(row, "user_s", json_real(interval->user_seconds));
	json_object_set_new(row, "system_s", json_real(interval->system_seconds));
}

static void json_moment(json_t *row, const char *key, const struct interval *interval, uint64_t ns)
{
	json_object_set_new(row, key, interval->is_sum ? json_null() : json_real(seconds(ns)));
}

/* Without a process: the sum of all that are selected. */
static void json_interval(struct json_report *report, const struct process_info *process,
			  const struct interval *interval, size_t number)
{
	json_t *row = json_object();
	json_t *by_state = NULL;

	json_object_set_new(row, "experiment", process ? json_integer(process->id) : json_null());
	json_object_set_new(row, "name", json_text(process ? process->name : sum_name));
	json_object_set_new(row, "sample", number ? json_integer((json_int_t)number) : json_null());
	json_object_set_new(row, "start_label", json_text(interval->start_label));
	json_object_set_new(row, "end_label", json_text(interval->end_label));
	json_moment(row, "start_s", interval, interval->start_ns);
	json_moment(row, "end_s", interval, interval->end_ns);
	json_object_set_new(row, "duration_s",
			    json_real(seconds(gained(interval->start_ns, interval->end_ns))));
	json_object_set_new(row, "recorded_s", json_real(seconds(interval->recorded_ns)));
	json_object_set_new(row, "before_s", json_real(interval->before_seconds));
	if (thread_time(interval) > 0) {
		by_state = json_pack("{s:f, s:f}", "user", interval->state_seconds[0], "system",
				     interval->state_seconds[1]);
		for (int i = 0; i < LISTED_STATES; i++)
			json_object_set_new(by_state, states[i].key,
					    json_real(interval->state_seconds[states[i].state]));
	}
	json_object_set_new(row, "state_seconds", by_state ? by_state : json_null());
	if (interval->from) {
		json_cpu(row, interval);
#define X(label, field)                                                                            \
	set_count(row, #field, true, gained(interval->from->field, interval->to->field));
		USAGE_COUNTS(X)
#undef X
#define X(label, field)                                                                            \
	set_count(row, #field, has_files(interval),                                                \
		  gained(interval->from->field, interval->to->field));
		FILE_COUNTS(X)
#undef X
		set_count(row, "rss_bytes", has_files(interval) && process,
			  interval->to->rss_bytes);
		set_count(row, "max_rss_bytes", has_files(interval) && process,
			  most_resident(interval));
		set_count(row, "threads", has_files(interval), interval->to->threads);
	}
	json_report_row(report, row);
}

static void put_title(struct print *print, const char *prefix, const char *name)
{
	FILE *file = print->output.file;

	output_style(&print->output, STYLE_TITLE);
	terminal_printf(file, "%s%s\n", prefix, name);
	output_style(&print->output, STYLE_PLAIN);
	terminal_printf(file, "        Aggregated statistics for selected samples\n\n");
}

static void print_process(struct print *print, const struct process_info *process, bool detail)
{
	FILE *file = print->output.file;
	struct interval interval = whole_run(process);

	put_title(print, "Experiment: ", process->name);
	put_interval(file, &interval);
	if (!detail)
		return;
	terminal_printf(file, "%*s\n\n", LABEL_WIDTH, "Individual samples");
	for (size_t i = 0; i + 1 < process->sample_count; i++) {
		interval = one_sample(process, i);
		terminal_printf(file, "%*s: %zu\n\n", LABEL_WIDTH, "Sample Number", i + 1);
		put_interval(file, &interval);
	}
}

static void json_process(struct json_report *report, const struct process_info *process,
			 bool detail)
{
	struct interval interval = whole_run(process);

	json_interval(report, process, &interval, 0);
	for (size_t i = 0; detail && i + 1 < process->sample_count; i++) {
		interval = one_sample(process, i);
		json_interval(report, process, &interval, i + 1);
	}
}

static void put_sum(struct print *print, struct json_report *report, size_t first, size_t end)
{
	struct sum sum;

	sum_up(&sum, print->session, first, end);
	if (print->presenter.format == PRESENT_JSON) {
		json_interval(report, NULL, &sum.interval, 0);
	} else {
		put_title(print, "", sum_name);
		put_interval(print->output.file, &sum.interval);
	}
}

static bool print_statistics(struct print *print, char **arguments, size_t count, bool detail,
			     const char *command)
{
	struct json_report report;
	size_t first, end;

	if (!command_select_processes(print, arguments, count, &first, &end))
		return false;
	if (print->presenter.format == PRESENT_JSON)
		json_report_begin(&report, &print->presenter, print->session, command, NULL, NULL);
	if (end - first > 1)
		put_sum(print, &report, first, end);
	for (size_t i = first; i < end; i++) {
		const struct process_info *process = session_process(print->session, i);

		if (print->presenter.format == PRESENT_JSON)
			json_process(&report, process, detail);
		else
			print_process(print, process, detail);
	}
	if (print->presenter.format == PRESENT_JSON)
		json_report_end(&report);
	return true;
}

bool command_statistics(struct print *print, char **arguments, size_t count)
{
	return print_statistics(print, arguments, count, false, "statistics");
}

bool command_sample_detail(struct print *print, char **arguments, size_t count)
{
	return print_statistics(print, arguments, count, true, "sample_detail");
}
