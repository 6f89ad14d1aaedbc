/* SPDX-License-Identifier: Apache-2.0 */
/* Waits by what was waited for. Private to this module. */
#ifndef HELIO_ANALYSIS_LOCK_SCAN_H
#define HELIO_ANALYSIS_LOCK_SCAN_H

#include "analysis/data/block_index.h"
#include "analysis/tree/tally.h"
#include "base/key_numbers.h"

#include <pthread.h>

/* Kinds of waits: those of synchronization tracing, OpenMP's, and conditions by which Java parks.
 */
enum {
	LOCK_CRITICAL = SYNC_TYPES,
	LOCK_OPENMP,
	LOCK_ATOMIC,
	LOCK_ORDERED,
	LOCK_PARKING,
	LOCK_TYPES
};

/* OpenMP's, as bits. */
enum { LOCK_TYPES_OPENMP = (1 << LOCK_PARKING) - (1 << LOCK_CRITICAL) };

/* A wait, or several of one thread that followed each other. */
struct lock_event {
	unsigned type;
	uint64_t object, owner;
	uint64_t waited_ns, longest_ns, count;
	uint64_t result; /* 0 or an errno */
};

struct lock_sums {
	uint64_t count, failed, waited_ns, longest_ns;
};

/* A call stack. */
struct lock_place {
	const struct experiment *experiment;
	const struct process *process; /* NULL: not known */
	uint32_t node;
};

/* Different ones. */
struct lock_threads {
	uint32_t count, first, last;
};

struct lock {
	const char *name;	 /* lives as long as the scan */
	const char *object;	 /* path of its load object, or NULL */
	struct lock_place maker; /* who allocated the block of memory that it is in */
	uint32_t image;		 /* the processes that share addresses in which it was first met */
	unsigned family;	 /* of kinds of waits that are one lock's: the first of them */
	unsigned types;		 /* bits of kinds of waits */
	bool is_sought;
	bool is_kept;	 /* a caller that visits it wants it */
	uint64_t number; /* other than all others' of the scan */
	struct lock_sums sums;
	struct lock_threads waiters, holders;
};

/* What tells the locks in hand, by their numbers: those of `locks` or of `plain`. */
struct lock_list {
	VEC(struct lock) items;
	struct hash_map waiters,
		holders; /* lock << 32 | thread: those seen, but the first of each */
};

/*
 * Locks that are variables, or known by a name, stay in `named` throughout.  Those that are only
 * addresses, or bytes of blocks, may be as many as events; where they are very many, the events are
 * gone through several times, each time for a part of these, and only what is wanted of it is kept.
 */
struct lock_scan {
	/* the caller's, or NULL: called for each event of the lock that is the same as `sought`, or
	 * of any lock; `visited` is that lock, for so long */
	void (*visit)(struct lock_scan *scan, const struct lock_event *event,
		      const struct event_run *run, size_t row);
	const struct lock *sought;
	bool visits_all;
	/* the caller's, of lock_scan_names(): called for each wait, chosen or not */
	void (*place)(struct lock_scan *scan, const char *name, const struct event_run *run,
		      size_t row);
	void *data;
	size_t most;	   /* so many locks are wanted, those most waited for; 0: all … */
	const char *which; /* … and those of this name or title, or NULL, and those `is_kept` */
	unsigned types;	   /* bits of the kinds of waits that count; 0: all */
	size_t parts;	   /* those that another scan took; 0: as needed */
	/* what is in hand */
	struct tally *tally;
	struct session *session; /* its */
	const struct experiment *experiment;
	const struct process *process;
	uint32_t process_number; /* of the session, from 0 */
	uint32_t image;		 /* of the processes that share addresses */
	struct lock *visited;
	uint32_t thread; /* of the events: its number among `threads`, from 1 */
	/* the result */
	VEC(struct lock) locks; /* that are wanted */
	struct lock total;
	/* its own */
	pthread_mutex_t mutex;
	size_t rows, part;
	bool is_over;		       /* too many for one part */
	struct lock_list named, plain; /* plain: of the part in hand */
	struct arena plain_names;
	struct found_lock *found;	       /* by a hash of family and address */
	struct hash_map addresses[LOCK_TYPES]; /* by family, → as lock_at(); of the part */
	struct key_numbers plain_addresses;    /* of these; in an image each */
	struct hash_map variables[LOCK_TYPES]; /* by family, → number among the named */
	struct key_numbers variable_addresses; /* in a load object each */
	struct block_index blocks;	       /* of the process in hand */
	struct key_numbers block_makers, block_offsets; /* of locks in blocks, in the part */
	struct hash_map block_locks[LOCK_TYPES]; /* by family, numbers of both → among the plain */
	struct string_table classes, places;
	struct hash_map parkings;	  /* process << 32 | node → lock_parking_class() */
	struct key_numbers threads;	  /* process << 32 | number */
	struct hash_map waiters, holders; /* of all locks */
};

void lock_scan_run(struct lock_scan *scan, struct tally *tally);
/*
 * Only which lock each wait was for: place() is told its name for a short time, or NULL where an
 * address is all that is known of it.
 */
void lock_scan_names(struct lock_scan *scan, struct session *session);
void lock_scan_fini(struct lock_scan *scan);
/* lock_parking.c: of a wait for a condition, in which of scan->classes the thread is parked. */
#define LOCK_NOT_PARKED (HASH_NONE - 1)
uint32_t lock_parking_class(struct lock_scan *scan, uint32_t stack);
/* Reads a row of events of any kind.  False: it is no wait. */
bool lock_event_read(const struct event_run *run, size_t row, struct lock_event *event);
void lock_sums_add(struct lock_sums *sums, const struct lock_event *event);
void lock_sums_merge(struct lock_sums *sums, const struct lock_sums *other);
/* Descending by time waited; for qsort's comparisons. */
int lock_sums_compare(const struct lock_sums *a, const struct lock_sums *b);
/* The locks, most waited for first; the caller frees the array. */
const struct lock **lock_scan_order(const struct lock_scan *scan);
/* "the_lock (read lock, write lock)" */
const char *lock_title(const struct lock *lock, struct arena *arena);
/* Of a kind of waits. */
const char *lock_type_name(unsigned type);

#endif
