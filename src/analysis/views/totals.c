/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/views/totals.h"

#include "analysis/metric/metric.h"
#include "analysis/session/functions.h"
#include "analysis/session/query.h"
#include "analysis/session/session.h"
#include "analysis/session/session_state.h"
#include "analysis/views/view_functions.h"
#include "base/array.h"

#include <string.h>

enum { HOT_SHARE = 10 }; /* percent of all the threads' time that makes a metric hot */

double session_family_seconds(const struct process_info *founder)
{
	if (founder->family_end_ns <= founder->start_ns)
		return 0;
	return (double)(founder->family_end_ns - founder->start_ns) / 1e9;
}

double session_seconds(const struct session *session)
{
	double sum = 0;

	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);

		if (process->founder == process->id)
			sum += session_family_seconds(process);
	}
	return sum;
}

double session_thread_seconds(const struct session *session)
{
	double sum = 0;

	for (size_t i = 0; i < session_process_count(session); i++)
		for (int state = 0; state < PROFILE_STATES; state++)
			sum += session_process(session, i)->state_seconds[state];
	return sum;
}

size_t session_descendants(const struct session *session, const struct process_info *founder)
{
	size_t count = 0;

	for (size_t i = 0; i < session_process_count(session); i++)
		count += session_process(session, i)->founder == founder->id;
	return count - 1;
}

double view_total(struct session *session, const struct query *query, const struct metric *metric)
{
	double exclusive, inclusive, total;

	view_function_values(session, query, FUNCTION_TOTAL, metric, &exclusive, &inclusive,
			     &total);
	return total;
}

double totals_percent(double value, double whole)
{
	return whole != 0 ? 100 * value / whole : 0;
}

bool totals_is_hot(const struct metric *metric, double total, double whole)
{
	return metric->unit == UNIT_SECONDS && totals_percent(total, whole) >= HOT_SHARE;
}

/* What is neither of the clock nor traced has been counted. */
const char *totals_kind(const struct metric *metric)
{
	enum trace_kind kind = metric_trace(metric);

	return kind < TRACE_KINDS ? format_kinds[kind].title : "Clock Profiling";
}
