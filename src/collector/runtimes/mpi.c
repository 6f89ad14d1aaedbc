/* SPDX-License-Identifier: Apache-2.0 */
/* MPI tracing as a source: its parameter, and its begin.  All else is in the tracing library. */
#include "collector/runtimes/mpi.h"

void (*mpi_recording_begins)(void);

static bool read_param(const char *value)
{
	return *value && *value != ';';
}

static void begin(void)
{
	if (mpi_recording_begins)
		mpi_recording_begins();
}

const struct trace_source mpi_source = {
	.kind = TRACE_MPI, .read_param = read_param, .begin = begin};
