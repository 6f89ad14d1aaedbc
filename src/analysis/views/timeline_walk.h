/* SPDX-License-Identifier: Apache-2.0 */
/* The chosen events in the order of time, each with where it lies. Private to this module. */
#ifndef HELIO_ANALYSIS_TIMELINE_WALK_H
#define HELIO_ANALYSIS_TIMELINE_WALK_H

#include "analysis/kinds/mpi_clocks.h"
#include "analysis/session/scan.h"
#include "analysis/views/timeline.h"

/* An event where it lies, on the line. */
struct timed_event {
	uint64_t thread;
	enum event_kind kind;
	uint64_t begin_ns, end_ns;
	uint64_t took_ns; /* more than lies between where that was before the experiment */
	uint32_t type, node;
	const struct rows *rows; /* that it is in … */
	size_t row;
};

/* A thread that waits is on no processor; kind and type as those of timed_event. */
bool timeline_is_off_cpu(enum event_kind kind, uint32_t type);

/* Visits those of a process: kind by kind, of each thread by their ends. */
void timeline_walk(const struct tally *tally, const struct session_process *process,
		   void (*visit)(const struct timed_event *event, void *arg), void *arg);

/*
 * So many threads have a lane each; all that are met later share one more, so that files of
 * millions of threads do not take a name and cells for each.
 */
enum { LANES_MOST = 1 << 15 };

/* The threads with events, those of which all end before the range left out. */
struct lanes {
	struct hash_map known; /* process and thread → lane */
	VEC(struct timeline_lane) lanes;
	const struct mpi_clocks *clocks;
	bool has_rest;	  /* the last lane is that of all other threads: its process is 0 */
	bool is_of_cpus;  /* a lane for each processor instead, and one of what is not known */
	uint64_t last_ns; /* the end of the last event of all */
};
void lanes_find(struct lanes *lanes, const struct tally *tally, uint64_t begin_ns);
/* The same of processors. */
void lanes_find_cpus(struct lanes *lanes, const struct tally *tally);
uint32_t lanes_at_cpu(const struct lanes *lanes, const struct timed_event *event);
/* The lane of a thread, or HASH_NONE: it has none, and there is none for all others. */
uint32_t lanes_at(const struct lanes *lanes, const struct session_process *process,
		  uint64_t thread);
void lanes_fini(struct lanes *lanes);
/* The clocks of hosts that the line is made of. */
struct timeline_hosts lanes_hosts(const struct lanes *lanes, struct arena *arena);
/* The range as it is meant. */
struct timeline_range lanes_range(const struct lanes *lanes, struct timeline_range range);
/*
 * Those with events, or that were seen (by lane, or NULL), with their names; moved[lane]: where
 * each is then, or HASH_NONE.
 */
struct timeline_lane *lanes_kept(const struct lanes *lanes, const struct session *session,
				 struct arena *arena, const bool *seen, uint32_t *moved,
				 size_t *count);

#endif
