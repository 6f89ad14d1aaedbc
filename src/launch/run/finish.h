/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: the founder's log is closed, finished experiments are packed. */
#ifndef HELIO_LAUNCH_FINISH_H
#define HELIO_LAUNCH_FINISH_H

#include "base/status.h"
#include "format/kinds.h"
#include "launch/run/family.h"
#include "launch/run/run.h"

/* What the last line shows. */
struct finish_summary {
	uint64_t events;	      /* as the collectors counted them; closed experiments only */
	uint64_t traced[TRACE_KINDS]; /* likewise, by kind of trace */
	uint64_t dropped;
	uint64_t limited;	      /* for how many rests the bound on overhead was in force */
	uint64_t overhead_ns, cpu_ns; /* measuring took, the monitor too, of that CPU time */
	uint64_t before_ns; /* CPU time before the recording, where all was to be recorded */
	uint64_t ticks;
	uint64_t traced_ns, traced_of_ns; /* recording traced calls took, of that CPU time */
	uint64_t leak_search_ns;	  /* of all processes */
	uint64_t first_interval_us;	  /* of the clock, where that grows; else 0 */
	bool widened;			  /* it grew, at first in a process at */
	uint64_t widened_ns;		  /* … since the start */
	uint64_t bytes;			  /* of all packed experiments' files */
	unsigned processes;
	unsigned running; /* descendants that go on, and are recorded on */
	unsigned unbegun; /* … whose experiments have no log: there was no room for one */
	bool recorded;	  /* the collector did start in the founder */
	bool counted;	  /* some experiment told its number of events */
	int error;	  /* errno by which the founder's could not be begun, or 0 */
};

/* Says so where the path of an experiment does not lead to it any more. */
void finish_find_again(const struct family *family, const char *path, const char *name,
		       struct diag_list *diags);
/*
 * Appends the exit event and the closing tag to the founder's log, if it is not closed; the
 * founder must be reaped.  `result` NULL: the program was no child of ours, or goes on.
 */
void finish_log(const struct family *family, const struct run_result *result, uint64_t tstamp_ns,
		struct diag_list *diags);

/* Packs the founder and every descendant that has ended. */
void finish_pack(struct family *family, struct finish_summary *summary, struct diag_list *diags);

#endif
