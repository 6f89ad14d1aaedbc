/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/counter.h"

#include "format/counter.h"

#include <string.h>

/* The session's number of a counter, or COUNTER_NONE where it has as many as it can have. */
static uint8_t counter_number(struct session *session, const struct log_counter *counter)
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
			process->counters[counter->number] = counter_number(session, counter);
	}
}

bool metric_is_counter(const struct metric *metric)
{
	return metric->measure >= MEASURE_COUNTER && metric->measure < MEASURE_NONE;
}
