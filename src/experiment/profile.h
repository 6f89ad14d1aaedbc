/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile: clock profile events as columns.
 *
 * Rows lie in the order of the file; those of one thread, side by side, are a segment.
 */
#ifndef HELIO_EXPERIMENT_PROFILE_H
#define HELIO_EXPERIMENT_PROFILE_H

#include "base/hash.h"
#include "base/memory.h"
#include "experiment/block.h"
#include "experiment/collections.h"
#include "experiment/rows.h"

struct stack_tree;

#define PROFILE_NO_CPU UINT16_MAX

/* Beyond the states of our own files: on a processor, in whichever mode. */
enum { PROFILE_STATE_CPU = FORMAT_STATE_COUNT, PROFILE_STATES };

/* ROW_FIELD + … of events */
enum { PROFILE_WEIGHT /* µs */, PROFILE_FIELDS };

/* Rows in a run that are of one thread. */
struct profile_segment {
	size_t first;
	uint32_t count;
	uint32_t thread; /* index into threads */
};

/* A thread takes some 12 bytes of the file, and there may be millions: each byte here counts. */
struct profile_thread {
	uint64_t number; /* as recorded, from 1; 0: events without a thread */
	uint64_t begin_us;
	uint64_t end_us : 60; /* the latest time seen while it has not ended */
	bool began : 1, ended : 1, paused : 1, has_events : 1;
	uint64_t recorded_us; /* the weights of its events */
	uint32_t tid;	      /* UINT32_MAX: more than that, which no kernel gives */
	uint32_t more;	      /* 1 + its place in the profile's list of these; 0: it has none */
};

/* What few threads of many have: names, pauses. */
struct profile_more {
	uint64_t paused_us, pause_begin_us;
	/* What it is called: 1 + places in the profile's texts; 0: not at all. */
	uint32_t name;
	uint32_t group, parent; /* of threads of Java: its group and the one around */
};

struct experiment_profile {
	bool present;
	/*
	 * ROW_TIME: µs since the founder's start; ROW_STACK: node of the stack tree, an id of the
	 * file until profile_bind; ROW_CPU: or PROFILE_NO_CPU; ROW_TYPE: enum format_state, or
	 * PROFILE_STATE_CPU; ROW_CONTEXT: number in the process's contexts
	 */
	struct rows rows;
	VEC(struct profile_segment) segments;
	VEC(struct profile_thread) threads;
	VEC(struct profile_more) more;
	VEC(char) texts;	    /* names of threads and groups, each with the byte 0 */
	struct pair_set thread_ids; /* number → index into threads */
	struct collections collections;
	uint64_t class_count; /* that a Java machine has linked */
	uint64_t event_count;
	uint64_t state_us[PROFILE_STATES]; /* the weights of all threads' events */
	uint64_t dropped;
	uint64_t stackless; /* events whose call stack is missing, after profile_bind */
	uint64_t last_us;   /* the latest time of an event */
	uint64_t ends_us;   /* CPU time added by experiment_profile_add_thread_ends */
	uint64_t before_us; /* … by experiment_profile_add_before */
	bool damaged;
	struct block_counts counts;
};

/* Reads profile; a missing file leaves `present` false and is not reported. */
void experiment_profile_read(struct experiment_profile *profile,
			     const struct read_context *context);
void experiment_profile_fini(struct experiment_profile *profile);

/* The thread of that number, or NULL. */
const struct profile_thread *profile_find_thread(const struct experiment_profile *profile,
						 uint64_t number);

static inline const struct profile_more *profile_more(const struct experiment_profile *profile,
						      const struct profile_thread *thread)
{
	static const struct profile_more none;

	return thread->more ? &profile->more.items[thread->more - 1] : &none;
}

/* The text of one of its names, "": there is none. */
static inline const char *profile_name(const struct experiment_profile *profile, uint32_t name)
{
	return name ? &profile->texts.items[name - 1] : "";
}

/* What the thread is called, "": it has no name of its own. */
static inline const char *profile_thread_name(const struct experiment_profile *profile,
					      const struct profile_thread *thread)
{
	return profile_name(profile, profile_more(profile, thread)->name);
}

/* An event of another source than our own files. */
struct profile_event {
	uint64_t thread; /* its number */
	uint64_t time_us, weight_us;
	uint32_t stack; /* node of the stack tree */
	uint16_t cpu;
	uint8_t state;
};

/* A thread is known, whether it has events or not. */
void experiment_profile_add_thread(struct experiment_profile *profile, uint64_t number,
				   uint64_t tid);
/* Fills an empty profile; the events lie thread by thread, those of one by time. */
void experiment_profile_fill(struct experiment_profile *profile, const struct profile_event *events,
			     size_t count);

/*
 * Turns the stack ids of all rows into nodes.  Separate from reading, because in a
 * growing experiment the stacks have to be read after the events that refer to them.
 */
void experiment_profile_bind(struct experiment_profile *profile, struct stack_tree *stacks,
			     const struct read_context *context);

/*
 * Before its recording the first thread used so much CPU time, at `node`.  That is in no state_us
 * and not in its life.  Nothing where there is no thread.
 */
void experiment_profile_add_before(struct experiment_profile *profile, uint64_t user_us,
				   uint64_t system_us, uint32_t node);

/* How much of `us` of CPU time was user time, where it came in these parts. */
uint64_t profile_user_part(uint64_t us, uint64_t user_us, uint64_t system_us);

/* CPU time after the threads' last events. */
struct profile_rest {
	bool whole; /* the process was recorded all the time */
	uint64_t user_us, system_us;
};
/*
 * Threads that have not ended did until `end_us`: since their last event they waited at `node`, but
 * for `rest`, which is divided among them.
 */
void experiment_profile_add_tails(struct experiment_profile *profile, uint64_t end_us,
				  uint32_t node, struct profile_rest rest);

/*
 * Threads that have ended used `cpu_us` of CPU time between them after their last events: in
 * equal parts, as the kernel's work at the call stack of that event.
 */
void experiment_profile_add_thread_ends(struct experiment_profile *profile, uint64_t cpu_us);

#endif
