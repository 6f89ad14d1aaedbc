/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: the founder's log is closed, finished experiments are packed. */
#ifndef HELIO_LAUNCH_FINISH_H
#define HELIO_LAUNCH_FINISH_H

#include "base/status.h"
#include "format/trace.h"
#include "launch/family.h"

/* What the last line shows. */
struct finish_summary {
	uint64_t events;	      /* as the collectors counted them; closed experiments only */
	uint64_t traced[TRACE_KINDS]; /* likewise, by kind of trace */
	uint64_t dropped;
	uint64_t bytes; /* of all packed experiments' files */
	unsigned experiments;
	unsigned running; /* descendants that go on, and are recorded on */
	bool recorded;	  /* the collector did start in the founder */
	bool counted;	  /* some experiment told its number of events */
	int error;	  /* errno by which the founder's could not be begun, or 0 */
};

/*
 * Appends the exit event (a wait status as waitpid gives it) and the closing
 * tag to the founder's log, if it is not closed; the founder must be reaped.
 */
void finish_log(const struct family *family, int wait_status, uint64_t tstamp_ns,
		struct diag_list *diags);

/* Instead of a wait status: the program was no child of ours, or goes on. */
enum { FINISH_STATUS_UNKNOWN = -1 };

/* Packs the founder and every descendant that has ended. */
void finish_pack(struct family *family, struct finish_summary *summary, struct diag_list *diags);

#endif
