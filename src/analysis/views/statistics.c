/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/views/statistics.h"

#include "analysis/session/session.h"

/* A process takes its last sample point when it has ended. */
enum { LATE_NS = 10 * 1000 * 1000 };

/* By so much of the thread time the kernel may count more than the clock. */
#define CPU_SLACK 0.02

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

double statistics_seconds(const struct statistics *of)
{
	return seconds(statistics_gained(of->start_ns, of->end_ns));
}

bool statistics_is_partial(const struct statistics *interval)
{
	return interval->recorded_ns * 100 <
	       statistics_gained(interval->start_ns, interval->end_ns) * 99;
}

/* It was paused for all its life, or lived outside the window of -t. */
static bool has_nothing(const struct statistics *interval)
{
	return statistics_is_partial(interval) && !interval->recorded_ns;
}

/*
 * A process that is killed has written no last sample point: what it used since the one before is
 * known to the clock alone.
 */
static bool is_cut(const struct statistics *interval)
{
	return interval->to->kind != FORMAT_SAMPLE_END;
}

double statistics_thread_seconds(const struct statistics *interval)
{
	double sum = 0;

	for (int i = 0; i < STATISTICS_STATES; i++)
		sum += interval->state_seconds[i];
	return sum;
}

/*
 * The kernel counts exactly, but also while nothing is recorded: in pauses, outside the window of
 * -t, and when the collector itself begins and ends, which in an image that soon becomes another
 * is most of it.  Then the clock alone tells of what was.
 */
static void settle_cpu(struct statistics *interval)
{
	const double *by_state = interval->state_seconds;
	double whole = statistics_thread_seconds(interval), cpu = 0;
	bool is_less = false;

	if (interval->from) {
		interval->user_seconds =
			seconds(statistics_gained(interval->from->user_ns, interval->to->user_ns));
		interval->system_seconds = seconds(
			statistics_gained(interval->from->system_ns, interval->to->system_ns));
		cpu = interval->user_seconds + interval->system_seconds;
		is_less = is_cut(interval) && cpu < by_state[0] + by_state[1];
	}
	if (has_nothing(interval) || is_less ||
	    (whole > 0 && (!interval->from || statistics_is_partial(interval) ||
			   cpu + whole - by_state[0] - by_state[1] > whole * (1 + CPU_SLACK)))) {
		interval->user_seconds = by_state[0];
		interval->system_seconds = by_state[1];
	}
}

bool statistics_has_files(const struct statistics *interval)
{
	return interval->to->threads > 0;
}

/* The kernel counts its maximum at other moments, by a counter that lags behind. */
uint64_t statistics_most_resident(const struct statistics *interval)
{
	const struct usage *end = interval->to;

	return end->max_rss_bytes && end->max_rss_bytes < end->rss_bytes ? end->rss_bytes
									 : end->max_rss_bytes;
}

static const char *sample_label(const struct usage *sample)
{
	static const char *const kinds[] = {"start", "periodic", "end", "manual"};

	if (sample->label[0])
		return sample->label;
	return sample->kind < 4 ? kinds[sample->kind] : "sample";
}

struct statistics statistics_of_process(const struct process_info *process)
{
	struct statistics interval = {
		.start_label = "Total",
		.end_label = "Total",
		.start_ns = process->start_ns,
		.end_ns = process->end_ns,
		.state_seconds = process->state_seconds,
		.recorded_ns = process->recorded_ns,
		.before_seconds = process->before_seconds,
		.collections = process->collection_count,
		.collection_seconds = process->collection_seconds,
		.classes = process->class_count,
		.compiled = process->compiled_count,
		.compiled_bytes = process->compiled_bytes,
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

struct statistics statistics_of_sample(const struct process_info *process, size_t index)
{
	static const double unknown[STATISTICS_STATES];
	const struct usage *from = &process->samples[index], *to = from + 1;

	struct statistics interval = {
		.start_label = sample_label(from),
		.end_label = sample_label(to),
		.start_ns = from->time_ns,
		.end_ns = to->time_ns,
		.from = from,
		.to = to,
		.state_seconds = unknown,
		.recorded_ns = statistics_gained(from->time_ns, to->time_ns),
	};

	settle_cpu(&interval);
	return interval;
}

static void add_usage(struct usage *sum, const struct statistics *interval)
{
	sum->threads += interval->to->threads;
#define X(label, field) sum->field += statistics_gained(interval->from->field, interval->to->field);
	USAGE_COUNTS(X)
	FILE_COUNTS(X)
#undef X
}

/* Its recorded time is `*recorded_ns`; true: it is less than its life. */
static bool add_process(struct statistics_sum *sum, const struct process_info *process,
			uint64_t *recorded_ns)
{
	struct statistics own = statistics_of_process(process);

	sum->whole.user_seconds += own.user_seconds;
	sum->whole.system_seconds += own.system_seconds;
	sum->whole.before_seconds += own.before_seconds;
	sum->whole.collections += own.collections;
	sum->whole.collection_seconds += own.collection_seconds;
	sum->whole.classes += own.classes;
	sum->whole.compiled += own.compiled;
	sum->whole.compiled_bytes += own.compiled_bytes;
	for (int i = 0; i < STATISTICS_STATES; i++)
		sum->state_seconds[i] += own.state_seconds[i];
	if (own.from) {
		sum->whole.from = &sum->from;
		sum->whole.to = &sum->to;
	}
	if (own.from && !has_nothing(&own))
		add_usage(&sum->to, &own);
	*recorded_ns = own.recorded_ns;
	return statistics_is_partial(&own);
}

/*
 * The selected processes of one experiment, of which `at` is the first.  Processes live beside
 * each other, images of one after each other; how much was recorded is told by the first's.
 */
static void add_experiment(struct statistics_sum *sum, const struct session *session, size_t *at,
			   size_t end)
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
	sum->whole.end_ns += statistics_gained(begin_ns, end_ns);
	sum->whole.recorded_ns += partial ? recorded_ns : statistics_gained(begin_ns, end_ns);
}

void statistics_of_several(struct statistics_sum *sum, const struct session *session, size_t first,
			   size_t end)
{
	*sum = (struct statistics_sum){0};
	sum->whole.start_label = sum->whole.end_label = "Total";
	sum->whole.is_sum = true;
	sum->whole.state_seconds = sum->state_seconds;
	while (first < end)
		add_experiment(sum, session, &first, end);
}
