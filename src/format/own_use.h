/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector itself makes of a process's usage.  It lies in the header of the file
 * `profile` while the process is recorded, in front of the recording clock, so that
 * the launcher can leave it out of the sample points that it takes.
 */
#ifndef HELIO_FORMAT_OWN_USE_H
#define HELIO_FORMAT_OWN_USE_H

#include "format/control.h"

/* Fields of struct format_sample. */
#define FORMAT_OWN_USE_FIELDS(X)                                                                   \
	X(read_bytes)                                                                              \
	X(write_bytes)                                                                             \
	X(read_calls)                                                                              \
	X(write_calls)                                                                             \
	X(minor_faults)                                                                            \
	X(major_faults)                                                                            \
	X(input_blocks)                                                                            \
	X(output_blocks)                                                                           \
	X(voluntary_switches)                                                                      \
	X(involuntary_switches)

struct format_own_use {
#define X(name) uint64_t name;
	FORMAT_OWN_USE_FIELDS(X)
#undef X
};

enum { OWN_USE_OFFSET = CONTROL_OFFSET - sizeof(struct format_own_use) };

/* What is the program's. A count that was read later than the sample may be too large. */
static inline void own_use_leave_out(struct format_sample *sample, const struct format_own_use *own)
{
#define X(name) sample->name -= own->name < sample->name ? own->name : sample->name;
	FORMAT_OWN_USE_FIELDS(X)
#undef X
}

#endif
