/* SPDX-License-Identifier: Apache-2.0 */
/* Tracing of input and output: what the option says; the wrapped calls are in wrap/. */
#include "collector/core/trace.h"

static bool read_param(const char *value)
{
	return value[0] && value[0] != ';';
}

const struct trace_source io_source = {.kind = TRACE_IO, .read_param = read_param};
