/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of an experiment, recorded or not, as the logs tell of them.  A *life* is a process
 * from its begin to its end, whatever programs it executed.
 */
#ifndef HELIO_EXPERIMENT_LIVES_H
#define HELIO_EXPERIMENT_LIVES_H

#include "base/hash.h"
#include "experiment/process.h"

#define NO_LIFE HASH_NONE

struct life {
	int64_t pid;
	uint32_t awaiter;  /* whose children's time has its time; index, or NO_LIFE */
	uint32_t same_pid; /* the next life with this process id, or NO_LIFE */
	/* the earliest last moment of a child's log whose end no log tells; UINT64_MAX: none */
	uint64_t unended_ns;
	const struct process *first;   /* its images, the first and the last; NULL: none was */
	const struct process *last;    /* … recorded */
	const struct process *earlier; /* the image before the last, or NULL */
	const struct process *teller;  /* in whose log its name stands */
	const struct log_event *named; /* what says the name of what was not recorded, or NULL */
	bool leaves;		       /* its last image became one that was not recorded */
	bool was_awaited;	       /* a log says so */
	bool has_end, has_usage;
	uint64_t begin_ns, end_ns;
	uint64_t user_us, system_us; /* with the children that it awaited */
	uint64_t below_us;	     /* of these children, as far as each is known; the reader's */
	bool tells_children; /* it knows what those used which nothing else tells of; the reader's
			      */
	int status, number;
};

struct lives {
	struct experiment *experiment;
	VEC(struct life) items;
	struct hash_map by_pid; /* → the first life with it */
	VEC(uint32_t) by_own; /* those of namespaces, by what they call themselves, then by index */
	struct string_table lineages; /* of the images that were recorded */
	VEC(uint32_t) life_of;	      /* by number in `lineages` */
	struct string_table names;    /* that processes which were not recorded were given */
	VEC(uint32_t) named_life;     /* by number in `names` */
};

/* What the events of an image tell. */
struct image_use {
	uint64_t events, cpu_us;
	uint64_t last_ns; /* the latest */
	size_t threads;
};

struct image_use lives_read_use(const struct process *process);
/* The lineage that an image was given, which others may have had taken; to be freed. */
char *lives_given_name(const struct process *process);
/* CPU time that the images before the last account for. */
uint64_t lives_earlier_us(const struct life *life);
/* Whether all was recorded: with a window or pauses others' time is left out too, and nobody knows
 * how much of theirs. */
bool lives_are_whole(const struct experiment *experiment);
/*
 * What a process that ended without a word of its own has used beside its events, beside children
 * that are known, and before its recording; 0 where nobody knows.  *most_us: so much its threads
 * can have used since their last events.
 */
uint64_t lives_rest_us(const struct lives *lives, const struct life *life, uint64_t *most_us);
/*
 * The processes and their ends, from the logs.  They point to the processes of the experiment, none
 * of which may move.
 */
struct lives *lives_new(struct experiment *experiment);
/* Whose children's time has whose. */
void lives_find_awaiters(struct lives *lives);
void lives_free(struct lives *lives); /* or NULL */

#endif
