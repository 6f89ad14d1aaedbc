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

static void add_times(struct result *result, const struct interval *interval)
{
	const double *by_state = interval->state_seconds;
	double whole = thread_time(interval);
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

static void add_count(struct result *result, struct part *facts, const char *label, uint64_t count)
{
	part_add(result, facts, NULL, label, value_count(count))->width = 5;
}

static void add_counts(struct result *result, const struct interval *interval)
{
	struct part *facts;

	if (!interval->from)
		return;
	result_gap(result);
	facts = result_facts(result, LABEL_WIDTH);
#define X(label, field)                                                                            \
	add_count(result, facts, label, gained(interval->from->field, interval->to->field));
	USAGE_COUNTS(X)
	if (!has_files(interval))
		return;
	FILE_COUNTS(X)
#undef X
	if (interval->is_sum)
		return;
	add_count(result, facts, "Resident bytes at the end", interval->to->rss_bytes);
	add_count(result, facts, "Most resident bytes", most_resident(interval));
}

static void add_threads(struct result *result, struct part *facts, const struct interval *interval)
{
	double whole = thread_time(interval);

	if (whole > 0) {
		add_seconds(result, facts, "Total Thread Time (sec.)", whole);
		if (interval->recorded_ns)
			add_seconds(result, facts, "Average number of Threads",
				    whole / seconds(interval->recorded_ns));
	} else if (interval->to && has_files(interval)) {
		part_add(result, facts, NULL, "Threads at the end",
			 value_count(interval->to->threads));
	}
}

static void add_interval(struct result *result, const struct interval *interval)
{
	double duration = seconds(gained(interval->start_ns, interval->end_ns));
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
	if (is_partial(interval))
		add_seconds(result, facts, "Recorded (sec.)", seconds(interval->recorded_ns));
	add_threads(result, facts, interval);
	if (interval->before_seconds > 0)
		add_seconds(result, facts, "CPU before recording (sec.)",
			    interval->before_seconds);
	add_times(result, interval);
	add_counts(result, interval);
	result_gap(result);
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

/* ---- the same for programs ---- */

static struct value known(bool is_known, struct value value)
{
	return is_known ? value : (struct value){.kind = VALUE_NONE};
}

static struct value states_of(struct result *result, const struct interval *interval)
{
	struct record *by_state = result_record(result);

	record_set(result, by_state, "user", value_real(interval->state_seconds[0], 3));
	record_set(result, by_state, "system", value_real(interval->state_seconds[1], 3));
	for (int i = 0; i < LISTED_STATES; i++)
		record_set(result, by_state, states[i].key,
			   value_real(interval->state_seconds[states[i].state], 3));
	return value_record(by_state);
}

static void set_usage(struct result *result, struct part *row, const struct interval *interval)
{
	const bool files = has_files(interval), one = files && !interval->is_sum;

	part_set(result, row, "user_s", value_real(interval->user_seconds, 3));
	part_set(result, row, "system_s", value_real(interval->system_seconds, 3));
#define X(label, field)                                                                            \
	part_set(result, row, #field,                                                              \
		 value_count(gained(interval->from->field, interval->to->field)));
	USAGE_COUNTS(X)
#undef X
#define X(label, field)                                                                            \
	part_set(result, row, #field,                                                              \
		 known(files, value_count(gained(interval->from->field, interval->to->field))));
	FILE_COUNTS(X)
#undef X
	part_set(result, row, "rss_bytes", known(one, value_count(interval->to->rss_bytes)));
	part_set(result, row, "max_rss_bytes", known(one, value_count(most_resident(interval))));
	part_set(result, row, "threads", known(files, value_count(interval->to->threads)));
}

/* number 0: all samples; without a process: the sum of all that are selected. */
static void set_interval(struct result *result, const struct process_info *process,
			 const struct interval *interval, size_t number)
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
	part_set(result, row, "duration_s",
		 value_real(seconds(gained(interval->start_ns, interval->end_ns)), 3));
	part_set(result, row, "recorded_s", value_real(seconds(interval->recorded_ns), 3));
	part_set(result, row, "before_s", value_real(interval->before_seconds, 3));
	part_set(result, row, "state_seconds",
		 thread_time(interval) > 0 ? states_of(result, interval)
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
	struct interval interval = one_sample(process, index);

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
struct statistics {
	const struct session *session;
	size_t first;
	bool detail;
};

static void make_process(struct result *into, size_t index, const void *data)
{
	const struct statistics *of = data;
	const struct process_info *process = session_process(of->session, of->first + index);
	struct interval whole = whole_run(process);

	add_title(into, "Experiment: ", process->name);
	add_interval(into, &whole);
	set_interval(into, process, &whole, 0);
	if (of->detail)
		add_samples(into, process);
}

static bool show_statistics(struct print *print, char **arguments, size_t count, bool detail,
			    const char *command)
{
	struct statistics of = {.session = print->session, .detail = detail};
	struct result result;
	size_t first, end;
	struct sum sum;

	if (!command_select_processes(print, arguments, count, &first, &end))
		return false;
	result_init(&result, command, print->session);
	if (end - first > 1) {
		sum_up(&sum, print->session, first, end);
		add_title(&result, "", sum_name);
		add_interval(&result, &sum.interval);
		set_interval(&result, NULL, &sum.interval, 0);
	}
	of.first = first;
	result_series(&result, end - first, make_process, &of);
	return print_answer(print, &result);
}

bool command_statistics(struct print *print, char **arguments, size_t count)
{
	return show_statistics(print, arguments, count, false, "statistics");
}

bool command_sample_detail(struct print *print, char **arguments, size_t count)
{
	return show_statistics(print, arguments, count, true, "sample_detail");
}
