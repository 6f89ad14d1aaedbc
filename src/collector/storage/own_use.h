/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector itself makes of the process's usage: bytes and calls of input and output,
 * page faults, blocks of disks and context switches.  Sample points leave it out.
 */
#ifndef HELIO_COLLECTOR_OWN_USE_H
#define HELIO_COLLECTOR_OWN_USE_H

#include "format/own_use.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The calling thread works for the collector from begin to end: so its page faults, blocks and
 * switches in between are ours.  For work that is worth two system calls.  It may stand between
 * work_begin and work_end, and in another span, which it belongs to then.
 */
struct own_use_span {
	uint64_t minor, major, input, output, voluntary, involuntary;
};
void own_use_begin(struct own_use_span *span);
void own_use_end(const struct own_use_span *span);
/*
 * The same for a handler of ours, which looks in a process's first events only: they touch most.
 * NULL: it does not look.
 */
const struct own_use_span *own_use_first_begin(void);
void own_use_first_end(const struct own_use_span *span);

/* Pages of ours that will be filled: their faults and their blocks are ours. */
void own_use_prefault(void *memory, size_t size);

/*
 * Where page faults are counted, makes memory of ours present without one that counts: by what the
 * counters have set, which is NULL where none counts them.  Anywhere.
 */
void own_use_set_present(void (*make_present)(const void *memory, size_t size));
void own_use_make_present(const void *memory, size_t size);

/* The same around a sample point, which counts what was up to it; one thread at a time. */
void own_use_work_begin(void);
void own_use_work_settle(void);
void own_use_work_end(void);

/* Adds what the calling thread, one of ours, has used since `noted`, and moves `noted` on. */
void own_use_thread(struct own_use_span *noted);

/* The counts are kept in `shared` from now on, where the launcher can read them. */
void own_use_open(struct format_own_use *shared, struct format_left *left);
/*
 * What is needed if the process ends by exit_group(2) without the C library and cannot log it
 * (struct format_left).  CPU time before the recording, and the collector's part of it:
 */
void own_use_note_before(uint64_t user_us, uint64_t system_us, uint64_t own_us);
/* At a look of the monitor's thread, which has used so much until then: that, and the children's.
 */
void own_use_note_look(uint64_t cpu_ns);
/* Before that is unmapped; in the child of a fork, too. */
void own_use_forget(void);

/* Whether the kernel's sums contain children's I/O.  own_use_io_changes: false, and nothing
 * changes, if that was not `from`. */
enum format_io_state own_use_io_state(void);
bool own_use_io_changes(enum format_io_state from, enum format_io_state to);
/* What threads that have ended have read and written. */
void own_use_add_ended(const struct format_io *io);
void own_use_get_ended(struct format_io *io);

/* What there has been up to now. */
void own_use_get(struct format_own_use *use);

#endif
