/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads did over time: all of it at a resolution, or the events themselves, a page at a
 * time.  A clock event lasts from the end of the one before to its own; events that end at one
 * moment lie one after the other, in the order of the file.  What is traced lasts as long as it
 * took; allocations and counts are moments.  Times are ns since the start of the experiment; of
 * experiments that were recorded at once they are those of one line (kinds/mpi_clocks.h), which
 * begins with the first of them.
 */
#ifndef HELIO_ANALYSIS_TIMELINE_H
#define HELIO_ANALYSIS_TIMELINE_H

#include "analysis/views/mpi_report.h"
#include "analysis/views/table.h"
#include "analysis/views/view_stacks.h"
#include "experiment/profile.h"

struct query;
struct session;

/* The kinds of events: the clock's, then those of a trace: TIMELINE_TRACE + enum trace_kind. */
enum { TIMELINE_CLOCK, TIMELINE_TRACE, TIMELINE_KINDS = TIMELINE_TRACE + TRACE_KINDS };
/* "clock", "heap", "sync", "io", "counter". */
extern const char *const timeline_kinds[TIMELINE_KINDS];
/* "user", "lock", …, "cpu": the states of clock events, by their numbers. */
extern const char *const timeline_states[PROFILE_STATES];

struct timeline_range {
	uint64_t begin_ns, end_ns; /* the end is behind it; 0: that of all */
};

/* A thread with events; of tens of thousands the last lane is that of all others.  Or a processor.
 */
struct timeline_lane {
	uint32_t process; /* id of its process_info; 0: of all others, which has … */
	uint64_t thread;  /* its number; … 0 here; of a processor that one's */
	const char *name; /* as in the list of threads, or of processors */
	uint32_t events[TIMELINE_KINDS]; /* damaged files may have millions of threads */
	/* what its times are on the line: so much later, and so much faster */
	double shift_s, drift_ppm;
};

/* The clocks of hosts, where a group of experiments has several. */
struct timeline_hosts {
	struct mpi_clock_info *items;
	size_t count;
};

/* What a thread did in a piece of the range. */
struct timeline_cell {
	uint64_t state_us[PROFILE_STATES]; /* of clock events, as far as they lie in it */
	uint32_t events[TIMELINE_KINDS];   /* that end in it */
	uint32_t function; /* with the most of the time itself, of the timeline's; or CODE_NONE */
};
struct timeline_function {
	uint32_t function;
	const char *name, *object; /* path of the load object, or NULL */
};

/*
 * A garbage collection of Java, which stopped the threads that run it; where a process has more of
 * them in the range than there are cells, all that begin in one cell.
 */
struct timeline_collection {
	uint32_t process;	      /* id of its process_info */
	uint64_t thread;	      /* the number of the one that did it */
	size_t number;		      /* of the first: GCEVENT */
	size_t count;		      /* 1: it is one */
	uint64_t begin_ns, end_ns;    /* of the first, and of the last */
	uint64_t took_ns, longest_ns; /* together, and the longest */
	uint64_t before, after; /* as in struct collection_more: the first's, and the last's */
	const char *cause, *collector; /* of all of them; "": of several, or not known */
};

struct timeline {
	struct timeline_range range;
	uint64_t cell_ns;  /* each; the last one may end before */
	size_t cell_count; /* of a thread */
	struct timeline_lane
		*lanes; /* by process and thread; events: those that end in the range */
	size_t lane_count;
	struct timeline_cell *cells;	     /* lane by lane */
	struct timeline_function *functions; /* of the cells */
	size_t function_count;
	struct timeline_collection *collections; /* by process and begin, of all threads */
	size_t collection_count;
	bool has_collections; /* somewhere, in this range or not */
	bool is_of_cpus;      /* the lanes are processors */
	struct timeline_hosts hosts;
	struct arena arena; /* owns all of the above */
};
/* At most so many cells a thread, and 2^18 in all. */
void view_timeline(struct session *session, const struct query *query, struct timeline_range range,
		   size_t cells, struct timeline *timeline);
/*
 * What processors did: the time that threads were on them, by the processor that each event of the
 * clock was recorded on, and other events where they ended.
 */
void view_timeline_cpus(struct session *session, const struct query *query,
			struct timeline_range range, size_t cells, struct timeline *timeline);
void timeline_fini(struct timeline *timeline);

struct timeline_event {
	uint32_t lane;
	uint32_t kind;	  /* TIMELINE_CLOCK, … */
	const char *type; /* the state, or what was called: "read" */
	uint64_t begin_ns, end_ns;
	uint32_t stack; /* of the page's frames */
};

/*
 * Events that overlap the range or end in it: thread by thread, of each kind by kind in the order
 * of their ends.
 */
struct timeline_page {
	struct timeline_range range;
	struct timeline_lane *lanes; /* events: those of the range, whether on this page or not */
	size_t lane_count;
	struct timeline_hosts hosts;
	uint64_t total; /* events of the range */
	uint64_t first; /* the number of the first one on this page, from 0 */
	struct timeline_event *events;
	struct table table; /* of them: a row for each, by the name of its leaf; owns all */
	struct frame_list frames;
};
/* At most 65,536. */
void view_timeline_events(struct session *session, const struct query *query,
			  struct timeline_range range, uint64_t first, size_t most,
			  struct timeline_page *page);
void timeline_page_fini(struct timeline_page *page);

#endif
