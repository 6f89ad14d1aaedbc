/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of all experiments as metrics: those of one name are one. Private to this module. */
#ifndef HELIO_ANALYSIS_COUNTER_H
#define HELIO_ANALYSIS_COUNTER_H

#include "analysis/session/session_state.h"

/* For counters that a process has and the session has no number for. */
enum { COUNTER_NONE = UINT8_MAX };
/* Metrics computed from counters, at most. */
enum { COUNTER_QUOTIENTS = 2 };

/* Adds the counters that the founder's log names; those of the process get the session's numbers.
 */
void counters_add(struct session *session, const struct experiment_log *founder,
		  struct session_process *process);

/* After all: the quotients of counters that there are. */
void counters_add_quotients(struct session *session, const struct finished_sums *weights);

/* Of a counter, or computed from counters. */
bool metric_is_counter(const struct metric *metric);

#endif
