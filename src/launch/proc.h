/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells about another process. */
#ifndef HELIO_LAUNCH_PROC_H
#define HELIO_LAUNCH_PROC_H

#include "format/format.h"
#include "format/own_use.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROC_TEXT = 4096 };

/*
 * Reads a small file of a process, or with `task` of one of its threads; of lines that are too
 * long, and of a text that is, there is the beginning.  False, and "", if it cannot be read.
 */
bool proc_read_text(pid_t pid, pid_t task, const char *file, char text[PROC_TEXT]);

/* What stands behind "name:" at the beginning of a line of such a text; NULL: there is none. */
const char *proc_field(const char *text, const char *name);
/* The same as a number; 0 without it. */
uint64_t proc_number(const char *text, const char *name, int base);

/* 0: not known, or in none of our namespaces. */
pid_t proc_parent(pid_t pid);

/* From /proc/PID/stat; times in ns. */
struct proc_stat {
	char state; /* R S D Z T … as ps shows it */
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t threads;
	uint64_t start_ns; /* CLOCK_BOOTTIME, rounded down to a tick (10 ms) */
};

/* False if there is no such process. */
bool proc_read_stat(pid_t pid, struct proc_stat *stat);

/*
 * Fills the usage fields of a sample; what cannot be read keeps its value.
 * Switches, run delay and blocks are summed over the living threads of a process with
 * at most PROC_THREADS_MAX of them, which makes them lower bounds.
 * living: what those threads have read and written, or 0.
 * False if the process is gone or only waits for its parent.
 */
enum { PROC_THREADS_MAX = 64 };
bool proc_read_usage(pid_t pid, struct format_sample *sample, struct format_io *living);

#endif
