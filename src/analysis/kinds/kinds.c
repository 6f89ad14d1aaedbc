/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/kinds.h"

#include <string.h>

#define X(NAME, name) [TRACE_##NAME] = &name##_kind,
static const struct kind *const kinds[TRACE_KINDS] = {FORMAT_KINDS(X)};
#undef X

const struct kind *kind_of(enum trace_kind kind)
{
	return kinds[kind];
}

/* One turn for those that stand first, one for the others. */
const struct metric *kinds_metric(size_t index)
{
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < TRACE_KINDS; i++) {
			const struct kind *kind = kinds[i];

			if (kind->metrics_first != !turn)
				continue;
			if (index < kind->metric_count)
				return &kind->metrics[index];
			index -= kind->metric_count;
		}
	return NULL;
}

size_t kinds_metric_count(void)
{
	size_t count = 0;

	for (int i = 0; i < TRACE_KINDS; i++)
		count += kinds[i]->metric_count;
	return count;
}

enum trace_kind measure_trace(unsigned measure)
{
	int found = TRACE_KINDS;
#define X(NAME, name) MEASURE_TO_##NAME,
	static const int before[TRACE_KINDS] = {FORMAT_KINDS(X)};
#undef X

	if (measure >= MEASURE_COUNTER)
		return TRACE_COUNTER;
	for (int kind = 0; kind < TRACE_KINDS && (int)measure > before[kind]; kind++)
		found = kind;
	return (enum trace_kind)found;
}

/* Whether any row counts: of the others no column has to be read. */
static bool has_chosen(const struct event_run *run, const struct measuring *measuring)
{
	return !measuring->chosen || memchr(measuring->chosen, 1, run->count);
}

/* NULL: its events count for nothing. */
static kind_measure *find_measure(enum event_kind kind, bool squares)
{
	if (kind == EVENTS_CLOCK)
		return squares ? square_clock : measure_clock;
	return squares ? kind_of(kind - EVENTS_TRACE)->square
		       : kind_of(kind - EVENTS_TRACE)->measure;
}

void measure_run(const struct event_run *run, const struct measuring *measuring)
{
	kind_measure *run_kind = find_measure(run->kind, measuring->squares);

	/* the metric is there wherever the thread is */
	if (run->kind == EVENTS_CLOCK && measuring->first_thread && !measuring->squares)
		measure_array(measuring->sums, MEASURE_FIRST_THREAD);
	if (!run_kind || !has_chosen(run, measuring))
		return;
	run_kind(run, measuring);
	if (run->kind == EVENTS_CLOCK && measuring->omp_class && !measuring->squares)
		omp_measure_clock(run, measuring);
	if (run->kind == EVENTS_CLOCK && measuring->in_mpi && !measuring->squares)
		mpi_measure_clock(run, measuring);
}
