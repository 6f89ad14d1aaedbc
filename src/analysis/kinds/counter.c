/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/counter.h"

#include "base/array.h"
#include "format/counter.h"

#include <string.h>
#include <strings.h>

/* The session's number of a counter, or COUNTER_NONE where it has as many as it can have. */
static uint8_t counter_number(struct session *session, const struct experiment_log *founder,
			      const struct log_counter *counter)
{
	size_t count = session->counters.count;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(session->counters.items[i].command, counter->name))
			return (uint8_t)i;
	if (count == MEASURE_COUNTERS_MAX) {
		diag_add_once(&session->warnings, DIAG_WARNING,
			      "only %d different counters can be shown together; %s is left out",
			      MEASURE_COUNTERS_MAX, counter->name);
		return COUNTER_NONE;
	}
	bool is_time = !strcmp(counter->unit, FORMAT_COUNTER_NS);

	*vec_push(&session->counters) = (struct metric){
		.command = counter->name,
		.title = counter->title,
		.unit = is_time ? UNIT_SECONDS : UNIT_COUNT,
		.measure = MEASURE_COUNTER + (unsigned)count,
		.description = counter->has_address ? "counter profiling, with data addresses"
						    : "counter profiling",
		.if_data = true,
		.has_address = counter->has_address,
		.hz = strcmp(counter->unit, FORMAT_COUNTER_CYCLES)
			      ? 0
			      : (double)founder->clock_mhz * 1e6,
	};
	return (uint8_t)count;
}

void counters_add(struct session *session, const struct experiment_log *founder,
		  struct session_process *process)
{
	memset(process->counters, COUNTER_NONE, sizeof(process->counters));
	for (size_t i = 0; i < founder->hwcounters.count; i++) {
		const struct log_counter *counter = &founder->hwcounters.items[i];

		if (counter->number < COUNTERS_MAX)
			process->counters[counter->number] =
				counter_number(session, founder, counter);
	}
}

/* ---- quotients ---- */

static const struct metric *find_counter(const struct session *session, const char *name)
{
	for (size_t i = 0; i < session->counters.count; i++)
		if (!strcasecmp(session->counters.items[i].command, name))
			return &session->counters.items[i];
	return NULL;
}

static uint64_t total_of(const struct finished_sums *sums, unsigned measure)
{
	struct finished_walk walk = finished_begin(sums, measure);
	uint64_t total = 0;

	while (finished_next(&walk))
		total += walk.sum;
	return total;
}

/* By how many bits both have to be shifted down to fit into halves of a value. */
static unsigned scale_of(const struct finished_sums *sums, const struct metric *a,
			 const struct metric *b)
{
	uint64_t total = total_of(sums, a->measure) | total_of(sums, b->measure);
	unsigned scale = 0;

	while (total >> scale > INT32_MAX)
		scale++;
	return scale;
}

void counters_add_quotients(struct session *session, const struct finished_sums *weights)
{
	static const struct {
		const char *command, *title, *upper, *lower, *description;
	} known[] = {
		{"CPI", "Cycles Per Instruction", "cycles", "insts", "cycles / insts"},
		{"IPC", "Instructions Per Cycle", "insts", "cycles", "insts / cycles"},
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		const struct metric *upper = find_counter(session, known[i].upper);
		const struct metric *lower = find_counter(session, known[i].lower);

		if (!upper || !lower)
			continue;
		struct metric quotient = {
			.command = known[i].command,
			.title = known[i].title,
			.unit = UNIT_RATIO,
			.measure = upper->measure,
			.divisor = lower->measure,
			.scale = scale_of(weights, upper, lower),
			.description = known[i].description,
			.if_data = true,
		};

		*vec_push(&session->counters) = quotient;
	}
}

bool metric_is_counter(const struct metric *metric)
{
	return metric->measure >= MEASURE_COUNTER && metric->measure < MEASURE_NONE;
}
