/* SPDX-License-Identifier: Apache-2.0 */
/* Tracing of waits for locks: what the option says; the wrapped calls are in wrap/. */
#include "collector/core/trace.h"

static bool read_param(const char *value)
{
	return value[0] && value[0] != ';';
}

const struct trace_source sync_source = {.kind = TRACE_SYNC, .read_param = read_param};
