/* SPDX-License-Identifier: Apache-2.0 */
/* Overflow profiling of counters: events of perf that interrupt the thread they happen in. */
#include "collector/core/trace.h"

static bool read_param(const char *value)
{
	return value[0] && value[0] != ';';
}

const struct trace_source counter_source = {.kind = TRACE_COUNTER, .read_param = read_param};
