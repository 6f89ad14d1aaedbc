/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How `helio collect` tells the collector what to do: environment variables,
 * because they reach every descendant through exec.
 *
 * HELIO_COLLECTOR_PARAMS is a data descriptor in the seeds' manner, KEY:VALUE;…, with a letter of
 * enum params_key, or of a kind of traced data (format/kinds.h), as the key.
 */
#ifndef HELIO_FORMAT_PARAMS_H
#define HELIO_FORMAT_PARAMS_H

enum params_key {
	PARAMS_CLOCK = 'p',   /* interval, µs; 0: no clock profiling; FIRST-LAST: short at first */
	PARAMS_ENGINE = 'e',  /* "perf" or "monitor" */
	PARAMS_START = 's',   /* of the experiment, CLOCK_MONOTONIC ns */
	PARAMS_MACHINE = 'b', /* WALL,CLOCK of ranks: CLOCK_REALTIME ns at that start, and which
				 CLOCK_MONOTONIC it is of (docs/format.md: clock) */
	PARAMS_FOLLOW = 'F',  /* descendants: "on" or "off" */
	PARAMS_WINDOW = 't',  /* START-END, ms from the start; END 0: no end */
	PARAMS_SAMPLE_SIGNAL = 'g', /* number of the signal that takes a sample point */
	PARAMS_PAUSE_SIGNAL = 'd',  /* … that pauses and resumes; p: it begins paused */
	PARAMS_SIZE_LIMIT = 'L',    /* on the data of one process, MB (2^20 bytes) */
	PARAMS_DEPTH = 'n',	    /* deepest call stack to keep, frames; 0: the default */
	/* what handlers may take of a thread's time, percent; 0: no bound; absent:
	 * PARAMS_OVERHEAD_DEFAULT */
	PARAMS_OVERHEAD = 'o',
	/* device and inode of the founder's directory, and PARAMS_PLACE_EXPOSED where somebody else
	 * could exchange one on the way to it */
	PARAMS_PLACE = 'D',
	PARAMS_JAVA = 'j',	 /* "off": nothing of what a Java machine tells */
	PARAMS_LAUNCHER = 'k',	 /* two numbers: the recording's to its launcher (broker.h) */
	PARAMS_RANKS = 'M',	 /* on: only the ranks that a launcher of MPI starts are recorded */
	PARAMS_TEST_DELAY = 'w', /* ns by which each handler is slower (PARAMS_ENV_TEST_HANDLER) */
};

#define PARAMS_OVERHEAD_DEFAULT 20
#define PARAMS_PLACE_EXPOSED	",x"
#define PARAMS_ENV_TEST_HANDLER "HELIO_TEST_HANDLER_NS"

#define PARAMS_ENV	      "HELIO_COLLECTOR_PARAMS"
#define PARAMS_ENV_EXPERIMENT "HELIO_COLLECTOR_EXPERIMENT" /* absolute path of the founder */
#define PARAMS_ENV_LINEAGE    "HELIO_COLLECTOR_LINEAGE" /* this process image: "" or "_f1_x1" … */
/*
 * The value of PARAMS_ENV_LINEAGE is padded with blanks to this length: the
 * collector writes the name of the next combination child (system, popen) over
 * it in place, since the C library hands the environment on out of its sight.
 */
#define PARAMS_LINEAGE_ROOM 512
#define PARAMS_ENV_FOLLOW                                                                          \
	"HELIO_COLLECTOR_FOLLOW" /* -F =REGEX: an ERE with its anchors, else unset */
#define PARAMS_ENV_LIBRARY "HELIO_COLLECTOR_LIBRARY" /* absolute path of the collector */

/* Where launchers of MPI tell a process its rank, the first one that is there. */
#define PARAMS_RANK_VARIABLES                                                                      \
	"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"

#define PARAMS_LIBRARY_NAME "libhelio-collector.so"
/* The same with wrapped functions for heap, synchronization and I/O tracing. */
#define PARAMS_LIBRARY_NAME_TRACE "libhelio-collector-trace.so"

/*
 * Limits (RLIMIT_DATA, RLIMIT_AS, RLIMIT_STACK) below which a program is left alone: one that runs
 * without the collector might not load with it.  Bytes.
 */
#define PARAMS_LEAST_DATA  ((uint64_t)32 << 20)
#define PARAMS_LEAST_SPACE ((uint64_t)96 << 20)
#define PARAMS_LEAST_STACK ((uint64_t)40 << 10)

#endif
