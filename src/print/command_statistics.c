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
#include "print/command.h"
#include "print/json.h"
#include "print/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_WIDTH = 50, STATE_COUNT = 10 };

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

enum { LISTED_STATES = sizeof(states) / sizeof(states[0]) };

struct interval {
	const char *start_label, *end_label;
	uint64_t start_ns, end_ns;
	const struct usage *from, *to; /* NULL: no sample points */
	const double *state_seconds;   /* all 0: not known for this interval */
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

static double thread_time(const struct interval *interval)
{
	double sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += interval->state_seconds[i];
	return sum;
}

static void put_seconds(FILE *file, const char *label, double value)
{
	fprintf(file, "%*s: %.3f\n", LABEL_WIDTH, label, value);
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
	fprintf(file, "%*s: %s\n", LABEL_WIDTH, label, text);
}

static void put_times(FILE *file, const struct interval *interval)
{
	const double *by_state = interval->state_seconds;
	double whole = thread_time(interval);

	if (!interval->from && whole == 0)
		return;
	fprintf(file, "\n%*s:\n", LABEL_WIDTH, "Process Times (sec.)");
	if (interval->from) {
		put_share(file, "User CPU",
			  seconds(gained(interval->from->user_ns, interval->to->user_ns)), whole);
		put_share(file, "System CPU",
			  seconds(gained(interval->from->system_ns, interval->to->system_ns)),
			  whole);
	} else {
		put_share(file, "User CPU", by_state[0], whole);
		put_share(file, "System CPU", by_state[1], whole);
	}
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
	fprintf(file, "%*s: %5" PRIu64 "\n", LABEL_WIDTH, label,                                   \
		gained(interval->from->field, interval->to->field));
	USAGE_COUNTS(X)
	if (!has_files(interval))
		return;
	FILE_COUNTS(X)
#undef X
	fprintf(file, "%*s: %5" PRIu64 "\n", LABEL_WIDTH, "Resident bytes at the end",
		interval->to->rss_bytes);
	fprintf(file, "%*s: %5" PRIu64 "\n", LABEL_WIDTH, "Most resident bytes",
		most_resident(interval));
}

static void put_interval(FILE *file, const struct interval *interval)
{
	double duration = seconds(gained(interval->start_ns, interval->end_ns));
	double whole = thread_time(interval);

	fprintf(file, "%*s: %s\n", LABEL_WIDTH, "Start Label", interval->start_label);
	fprintf(file, "%*s: %s\n", LABEL_WIDTH, "End Label", interval->end_label);
	put_seconds(file, "Start Time (sec.)", seconds(interval->start_ns));
	put_seconds(file, "End Time (sec.)", seconds(interval->end_ns));
	put_seconds(file, "Duration (sec.)", duration);
	if (whole > 0) {
		put_seconds(file, "Total Thread Time (sec.)", whole);
		if (duration > 0)
			put_seconds(file, "Average number of Threads", whole / duration);
	} else if (interval->to && has_files(interval)) {
		fprintf(file, "%*s: %" PRIu64 "\n", LABEL_WIDTH, "Threads at the end",
			interval->to->threads);
	}
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
	};

	if (process->sample_count > 1) {
		interval.from = &process->samples[0];
		interval.to = &process->samples[process->sample_count - 1];
	}
	return interval;
}

static struct interval one_sample(const struct process_info *process, size_t index)
{
	static const double unknown[STATE_COUNT];
	const struct usage *from = &process->samples[index], *to = from + 1;

	return (struct interval){
		.start_label = sample_label(from),
		.end_label = sample_label(to),
		.start_ns = from->time_ns,
		.end_ns = to->time_ns,
		.from = from,
		.to = to,
		.state_seconds = unknown,
	};
}

static void set_seconds(json_t *row, const char *key, uint64_t from, uint64_t to)
{
	json_object_set_new(row, key, json_real(seconds(gained(from, to))));
}

static void set_count(json_t *row, const char *key, bool known, uint64_t count)
{
	json_object_set_new(row, key, known ? json_integer((json_int_t)count) : json_null());
}

static void json_interval(struct json_report *report, const struct process_info *process,
			  const struct interval *interval, size_t number)
{
	json_t *row = json_object();
	json_t *by_state = NULL;

	json_object_set_new(row, "experiment", json_integer(process->id));
	json_object_set_new(row, "name", json_text(process->name));
	json_object_set_new(row, "sample", number ? json_integer((json_int_t)number) : json_null());
	json_object_set_new(row, "start_label", json_text(interval->start_label));
	json_object_set_new(row, "end_label", json_text(interval->end_label));
	json_object_set_new(row, "start_s", json_real(seconds(interval->start_ns)));
	json_object_set_new(row, "end_s", json_real(seconds(interval->end_ns)));
	if (thread_time(interval) > 0) {
		by_state = json_pack("{s:f, s:f}", "user", interval->state_seconds[0], "system",
				     interval->state_seconds[1]);
		for (int i = 0; i < LISTED_STATES; i++)
			json_object_set_new(by_state, states[i].key,
					    json_real(interval->state_seconds[states[i].state]));
	}
	json_object_set_new(row, "state_seconds", by_state ? by_state : json_null());
	if (interval->from) {
		set_seconds(row, "user_s", interval->from->user_ns, interval->to->user_ns);
		set_seconds(row, "system_s", interval->from->system_ns, interval->to->system_ns);
#define X(label, field)                                                                            \
	set_count(row, #field, true, gained(interval->from->field, interval->to->field));
		USAGE_COUNTS(X)
#undef X
#define X(label, field)                                                                            \
	set_count(row, #field, has_files(interval),                                                \
		  gained(interval->from->field, interval->to->field));
		FILE_COUNTS(X)
#undef X
		set_count(row, "rss_bytes", has_files(interval), interval->to->rss_bytes);
		set_count(row, "max_rss_bytes", has_files(interval), most_resident(interval));
		set_count(row, "threads", has_files(interval), interval->to->threads);
	}
	json_report_row(report, row);
}

static void print_process(struct print *print, const struct process_info *process, bool detail)
{
	FILE *file = print->output.file;
	struct interval interval = whole_run(process);

	output_style(&print->output, STYLE_TITLE);
	fprintf(file, "Experiment: %s\n", process->name);
	output_style(&print->output, STYLE_PLAIN);
	fprintf(file, "        Aggregated statistics for selected samples\n\n");
	put_interval(file, &interval);
	if (!detail)
		return;
	fprintf(file, "%*s\n\n", LABEL_WIDTH, "Individual samples");
	for (size_t i = 0; i + 1 < process->sample_count; i++) {
		interval = one_sample(process, i);
		fprintf(file, "%*s: %zu\n\n", LABEL_WIDTH, "Sample Number", i + 1);
		put_interval(file, &interval);
	}
}

static bool print_statistics(struct print *print, char **arguments, size_t count, bool detail,
			     const char *command)
{
	struct json_report report;
	size_t first, end;

	if (!command_select_processes(print, arguments, count, &first, &end))
		return false;
	if (print->mode == MODE_JSON)
		json_report_begin(&report, print, command, NULL, NULL);
	for (size_t i = first; i < end; i++) {
		const struct process_info *process = session_process(print->session, i);

		if (print->mode != MODE_JSON) {
			print_process(print, process, detail);
			continue;
		}
		struct interval interval = whole_run(process);

		json_interval(&report, process, &interval, 0);
		for (size_t k = 0; detail && k + 1 < process->sample_count; k++) {
			interval = one_sample(process, k);
			json_interval(&report, process, &interval, k + 1);
		}
	}
	if (print->mode == MODE_JSON)
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
