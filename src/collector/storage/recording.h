/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording of this process: what all parts of the collector share beside the threads.
 *
 * Signal-safety: code that a handler can reach takes no lock and allocates nothing but by mmap.
 * What it may call of libc, and how much of the stack it may use, tools/handler-symbols.txt says.
 * Loss is counted, never silent.
 */
#ifndef HELIO_COLLECTOR_RECORDING_H
#define HELIO_COLLECTOR_RECORDING_H

#include "collector/storage/blockfile_state.h"
#include "format/format.h"
#include "format/params.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define COLLECTOR_EXPORT __attribute__((visibility("default")))

enum { PATH_MAX_HERE = 4096 };

enum engine { ENGINE_NONE, ENGINE_PERF, ENGINE_MONITOR };

/* The recording of this process. */
struct collector {
	_Atomic bool recording;
	bool partial;  /* not all of the time was to be recorded */
	bool tracking; /* descendants get their names, also where this process is not recorded */
	_Atomic bool finished;
	_Atomic bool settled; /* no thread's time counts any more: sources do their last work */
	_Atomic bool silent;  /* no system call of ours any more */
	_Atomic int32_t pid;  /* whose recording this is; another: a child that shares our memory */
	int32_t proc_pid; /* its number in /proc: another in a pid namespace below that of /proc */
	enum engine engine;
	int monitor_signal;
	bool follow;
	bool java_off;	      /* Java machines are recorded as native code */
	bool ranks_only;      /* what a launcher of MPI starts is recorded, not itself */
	uint64_t faults_here; /* SIGBUS as a set, where it is not handled on the alternate stack */
	bool late;	      /* the program ran already: our wrappers stand in for nothing */
	bool other_machine; /* than the launcher's: its directory has another device number here */
	uint64_t start_ns;  /* CLOCK_MONOTONIC at time 0 of the family */
	uint64_t begin_ns;  /* … at the begin of this process image's recording */
	uint64_t window_start_ns, window_end_ns; /* CLOCK_MONOTONIC; end 0: none */
	_Atomic uint64_t interval_ns; /* of the clock, in force; 0: there is no clock profile */
	uint64_t first_interval_ns, last_interval_ns; /* equal: it stays (clock_interval.c) */
	uint32_t depth;
	char founder[PATH_MAX_HERE];   /* the founder's directory */
	uint64_t launcher_key[2];      /* what the launcher knows us by, see format/broker.h */
	char directory[PATH_MAX_HERE]; /* this process image's */
	char lineage[PARAMS_LINEAGE_ROOM];
	int32_t names_taken; /* by others that were given the same name, so that `lineage` has a
				number as much higher */
	char library[PATH_MAX_HERE];
	char *lineage_slot; /* in the environment: the name for the next combination child */
	size_t lineage_slot_size;
	uint64_t text_low, text_high; /* our own code */
	_Atomic uint64_t stopped_ns;  /* monitor engine: SIGSTOP and its kin, all in all */
	uint64_t main_stack_low, main_stack_high;
	uint64_t default_stack_size;

	_Atomic uint32_t forks, execs, combos;
	_Atomic uint32_t threads;	   /* numbers given out */
	_Atomic uint32_t threads_to_begin; /* created, and have not begun */
	_Atomic uint32_t met;		   /* threads that were first seen by an event */
	_Atomic uint64_t events, dropped, unwind_failed, truncated;
	_Atomic uint64_t cpu_recorded_ns;
	/* process CPU time that is not recorded: before, and our own */
	_Atomic uint64_t cpu_before_ns;
	atomic_bool raw_calls; /* the program makes system calls of its own, as Go does */

	struct blockfile profile, stacks;
};

extern struct collector collector;

/* What passed from time 0 of the family to a moment of CLOCK_MONOTONIC; before it: 0. */
static inline uint64_t recording_since_start(uint64_t time_ns)
{
	return time_ns > collector.start_ns ? time_ns - collector.start_ns : 0;
}

/* True in the process whose recording this is, false in a child of vfork. */
bool collector_is_ours(void);

#endif
