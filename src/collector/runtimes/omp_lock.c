/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has which lock is in a table of words, by a hash of the lock's address: the thread's id, how
 * deep (nested locks), how often it was taken, and some bits more of the hash.  Only who has the
 * lock writes its word, so plain stores do, except when a release is told too late.  Two
 * locks that share a word overwrite each other's: then it is not known who has them.
 *
 * A call that found the lock free, and that nobody else had in the meantime, was not a wait,
 * however long it took: then the clock is read once only, which is most of what a free lock costs.
 */
#include "collector/runtimes/omp_lock.h"

enum { WORD_BITS = 10, WORDS = 1 << WORD_BITS };
enum { ID_BITS = 22, DEPTH_BITS = 6, COUNT_BITS = 18 };
enum { DEPTH_AT = ID_BITS, COUNT_AT = DEPTH_AT + DEPTH_BITS, MARK_AT = COUNT_AT + COUNT_BITS };
enum { SHORTEST_PER_MS = 1000 }; /* 1 us: what is less cannot be told from no wait */

#define ID_MASK	   ((UINT64_C(1) << ID_BITS) - 1)
#define DEPTH_MASK ((UINT64_C(1) << DEPTH_BITS) - 1)
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)

static _Atomic uint64_t words[WORDS];

static uint64_t hash(const void *lock)
{
	return (uint64_t)lock * 0x9e3779b97f4a7c15u;
}

static _Atomic uint64_t *word_of(const void *lock)
{
	return &words[hash(lock) >> (64 - WORD_BITS)];
}

/* What was noted of the lock; 0: nothing. */
static uint64_t noted(const void *lock)
{
	uint64_t word = atomic_load_explicit(word_of(lock), memory_order_relaxed);

	/* the bits below those that chose the word */
	return (word ^ hash(lock) << WORD_BITS) >> MARK_AT ? 0 : word;
}

static uint64_t depth_of(uint64_t word)
{
	return word >> DEPTH_AT & DEPTH_MASK;
}

static uint64_t count_of(uint64_t word)
{
	return word >> COUNT_AT & COUNT_MASK;
}

static uint64_t word_for(const void *lock, uint64_t id, uint64_t depth, uint64_t count)
{
	uint64_t mark = hash(lock) << WORD_BITS >> MARK_AT << MARK_AT;

	return mark | (count & COUNT_MASK) << COUNT_AT | depth << DEPTH_AT | (id & ID_MASK);
}

static void note(const void *lock, uint64_t id, uint64_t depth, uint64_t count)
{
	atomic_store_explicit(word_of(lock), word_for(lock, id, depth, count),
			      memory_order_relaxed);
}

static uint64_t id_of(const struct thread *thread)
{
	return (uint64_t)atomic_load_explicit(&thread->tid, memory_order_relaxed);
}

static void take(const struct thread *thread, const void *lock)
{
	uint64_t word = noted(lock), id = id_of(thread), depth = depth_of(word);

	if (depth && (word & ID_MASK) == id)
		note(lock, id, depth < DEPTH_MASK ? depth + 1 : depth, count_of(word));
	else
		note(lock, id, 1, count_of(word) + 1);
}

void omp_lock_taken(const void *lock)
{
	const struct thread *thread = omp_thread();

	if (thread)
		take(thread, lock);
}

void omp_lock_release(const void *lock)
{
	uint64_t word = omp_thread() ? noted(lock) : 0;

	if (depth_of(word))
		note(lock, word & ID_MASK, depth_of(word) - 1, count_of(word));
}

void omp_lock_released(const void *lock)
{
	const struct thread *thread = omp_thread();
	uint64_t word = thread ? noted(lock) : 0, id = word & ID_MASK, depth = depth_of(word);

	if (depth && id == id_of(thread))
		atomic_compare_exchange_strong_explicit(
			word_of(lock), &word, word_for(lock, id, depth - 1, count_of(word)),
			memory_order_relaxed, memory_order_relaxed);
}

/* ---- waits ---- */

/* The clock's reading at a moment that has been. */
static uint64_t ns_at(uint64_t ticks)
{
	return clock_now_ns() - omp_ns(omp_ticks() - ticks);
}

static void write_sums(struct thread *thread, struct omp_lock_sums *sums)
{
	const uint64_t fields[OMP_FIELDS] = {[OMP_OBJECT] = sums->object,
					     [OMP_DURATION] = omp_ns(sums->waited),
					     [OMP_CALLS] = sums->calls,
					     [OMP_OWNER] = sums->owner,
					     [OMP_LONGEST_WAIT] = omp_ns(sums->longest)};

	if (sums->calls && sums->generation == trace_generation())
		trace_event_kept(thread, TRACE_OMP, sums->type, ns_at(sums->until), sums->stack,
				 &sums->context, fields);
	sums->calls = 0;
}

void omp_lock_write_all(struct thread *thread)
{
	for (unsigned i = 0; i < OMP_LOCK_SUMS; i++)
		write_sums(thread, &thread->omp.locks[i]);
}

static bool is_like(const struct omp_lock_sums *a, const struct omp_lock_sums *b)
{
	bool same = a->object == b->object && a->type == b->type && a->owner == b->owner &&
		    a->stack == b->stack && a->generation == b->generation;

	for (unsigned i = 0; same && i < CONTEXT_FIELDS_MAX; i++)
		same = a->context.field[RUNTIME_OPENMP][i] == b->context.field[RUNTIME_OPENMP][i];
	return same;
}

/*
 * Where to add a wait: to what it is like, else to what is free.  What has been kept for a
 * while is written, and where there is no room the oldest one.
 */
static struct omp_lock_sums *place_for(struct thread *thread, const struct omp_lock_sums *one,
				       uint64_t most_ticks)
{
	struct omp_lock_sums *found = NULL, *oldest = NULL;

	for (unsigned i = 0; i < OMP_LOCK_SUMS; i++) {
		struct omp_lock_sums *sums = &thread->omp.locks[i];

		if (sums->calls && one->until - sums->since >= most_ticks)
			write_sums(thread, sums);
		if (sums->calls && is_like(sums, one))
			return sums;
		if (!sums->calls)
			found = sums;
		else if (!oldest || sums->since < oldest->since)
			oldest = sums;
	}
	if (found)
		return found;
	write_sums(thread, oldest);
	return oldest;
}

static void add(struct thread *thread, const struct omp_lock_sums *one)
{
	uint64_t most_ticks = omp_sum_ticks();
	struct omp_lock_sums *sums = place_for(thread, one, most_ticks);

	if (!sums->calls) {
		*sums = *one;
	} else {
		sums->calls++;
		sums->waited += one->waited;
		sums->until = one->until;
		if (one->longest > sums->longest)
			sums->longest = one->longest;
	}
	/* A long one stands for itself: then its begin is known, too. */
	if (sums->waited >= most_ticks)
		write_sums(thread, sums);
}

static void record(const struct omp_lock_wait *wait, uint64_t owner, const void *frame,
		   uint64_t now)
{
	struct thread *thread = trace_enter(TRACE_OMP);
	struct omp_lock_sums one = {.object = wait->object,
				    .type = wait->type,
				    .owner = (uint32_t)owner,
				    .calls = 1,
				    .generation = wait->before.generation,
				    .waited = now - wait->before.since,
				    .longest = now - wait->before.since,
				    .since = wait->before.since,
				    .until = now};

	if (!thread)
		return;
	one.stack = trace_stack_above(thread, frame);
	if (trace_lock(thread)) {
		context_keep(&one.context, &thread->context);
		add(thread, &one);
		trace_unlock(thread);
	}
	trace_leave(thread);
}

void omp_lock_request(struct omp_lock_wait *wait, enum format_omp_type type, const void *lock,
		      const void *object)
{
	static const enum format_omp_state states[OMP_TYPES] = {
		[OMP_CRITICAL] = OMP_STATE_CRITICAL_WAIT,
		[OMP_LOCK] = OMP_STATE_LOCK_WAIT,
		[OMP_ATOMIC] = OMP_STATE_ATOMIC_WAIT,
		[OMP_ORDERED] = OMP_STATE_ORDERED_WAIT,
	};

	wait->type = type;
	wait->lock = lock;
	wait->object = (uint64_t)object;
	wait->holder = noted(lock);
	omp_wait_begin(&wait->before, states[type]);
}

/* Nobody had it at the request, nor since.  An ordered section is waited for in its turn, whoever
 * has it: an iteration before may have none. */
static bool was_free(const struct omp_lock_wait *wait)
{
	uint64_t now = noted(wait->lock);

	return wait->type != OMP_ORDERED && now && now == wait->holder && !depth_of(now);
}

/* Who had it at the request, else who had it since; 0: not known.  False: it was free. */
static bool find_owner(const struct omp_lock_wait *wait, uint64_t *owner)
{
	uint64_t now = noted(wait->lock);

	*owner = (depth_of(wait->holder) ? wait->holder : now) & ID_MASK;
	if (depth_of(wait->holder))
		return true;
	if (now && wait->holder)
		return count_of(now) != count_of(wait->holder);
	/* where the word is another lock's it is not known */
	return atomic_load_explicit(word_of(wait->lock), memory_order_relaxed) != 0;
}

void omp_lock_grant(const struct omp_lock_wait *wait, const void *frame)
{
	struct thread *thread = wait->before.thread;
	uint64_t now, ms_ticks, owner;

	if (!omp_is_same_recording(&wait->before))
		return;
	if (was_free(wait)) {
		take(thread, wait->lock);
		omp_leave_unwaited(&wait->before);
		return;
	}
	now = omp_ticks();
	ms_ticks = omp_ms_ticks();
	if (ms_ticks && now - wait->before.since >= ms_ticks / SHORTEST_PER_MS &&
	    find_owner(wait, &owner) && owner != id_of(thread))
		record(wait, owner, frame, now);
	take(thread, wait->lock);
	omp_leave_at(&wait->before, now);
}
