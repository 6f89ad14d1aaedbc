/* SPDX-License-Identifier: Apache-2.0 */
/* The demo kind in the collector: it has no settings, and nothing to begin or to end. */
#include "collector/core/trace.h"

static bool read_param(const char *value)
{
	return *value && *value != ';';
}

const struct trace_source demo_source = {.kind = TRACE_DEMO, .read_param = read_param};
