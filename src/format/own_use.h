/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector itself makes of a process's usage.  It lies in the header of the file
 * `profile` while the process is recorded, in front of the recording clock, so that
 * the launcher can leave it out of the sample points that it takes.
 */
#ifndef HELIO_FORMAT_OWN_USE_H
#define HELIO_FORMAT_OWN_USE_H

#include "format/control.h"

#include <sys/time.h>

/* µs of a usage that the kernel tells. */
static inline uint64_t format_us_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_usec;
}

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

/* Bytes read and written, calls that read and that write: as /proc/PID/io has them first. */
enum { FORMAT_IO_COUNTS = 4 };
struct format_io {
	uint64_t count[FORMAT_IO_COUNTS];
};

/* Whether what the kernel has of a process contains what its children have read and written. */
enum format_io_state {
	FORMAT_IO_OWN,	    /* no child was awaited */
	FORMAT_IO_APART,    /* it does, and they can be told apart */
	FORMAT_IO_TOGETHER, /* … not any more: too many threads have ended since */
};

/*
 * What only the process knows, for the case that it ends by a system call of its own, as Go does,
 * or is killed, and cannot say it.
 */
#define FORMAT_LEFT_FIELDS(X)                                                                      \
	X(before_user_us) /* of its CPU time, what it had used when its recording began */         \
	X(before_system_us)                                                                        \
	X(before_own_us)    /* … of which the collector */                                       \
	X(collector_us)	    /* … the monitor has used until its last look; and until then … */ \
	X(children_user_us) /* … those of its children that it had awaited */                    \
	X(children_system_us)

struct format_left {
#define X(name) uint64_t name;
	FORMAT_LEFT_FIELDS(X)
#undef X
	uint64_t looked; /* there was a look */
};

struct format_own_use {
#define X(name) uint64_t name;
	FORMAT_OWN_USE_FIELDS(X)
#undef X
	uint64_t io_state;	/* enum format_io_state */
	struct format_io ended; /* of the program's threads that had ended before, or have since */
};

/*
 * From what the kernel says of a process the part of its children is taken, which is what is
 * neither of living threads (`rest`) nor of ended ones; *children: the largest found so far.
 */
static inline void format_io_leave_out(uint64_t *whole, uint64_t rest, uint64_t ended,
				       uint64_t *children)
{
	uint64_t part = rest > ended ? rest - ended : 0;

	if (part > *children)
		*children = part;
	*whole -= *children < *whole ? *children : *whole;
}

enum {
	OWN_USE_OFFSET = CONTROL_OFFSET - sizeof(struct format_own_use),
	LEFT_OFFSET = OWN_USE_OFFSET - sizeof(struct format_left),
};

/* What is the program's. A count that was read later than the sample may be too large. */
static inline void own_use_leave_out(struct format_sample *sample, const struct format_own_use *own)
{
#define X(name) sample->name -= own->name < sample->name ? own->name : sample->name;
	FORMAT_OWN_USE_FIELDS(X)
#undef X
}

#endif
