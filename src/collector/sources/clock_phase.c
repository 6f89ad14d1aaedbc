/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose call stack gets the CPU time of threads and processes that live shortly.
 *
 * In the long run a tick's stack gets the interval that it ends.  In a life of a few intervals
 * that counts the first places too little, and what is left after the last tick belongs to no
 * tick.  So a thread is young for its first intervals of CPU time (young_ns), and there:
 *
 * - Ticks come by a timer of the thread's own, whose first one can be set.  What a thread leaves of
 *   its interval the next one of the same start routine begins with, so that their lives, laid end
 *   to end, are sampled evenly.  An inherited perf event always begins with a whole interval.
 * - A tick's stack gets the interval that it begins.  What passes until a thread's first tick
 *   is the rest of an interval that a thread before it began, and goes to that tick's stack.  So
 * each tick stands for the time up to the next one wherever in a life it comes, and each thread's
 *   sum is its CPU clock all the same.
 *
 * Processes can't hand a stack on.  The first phase is random, and a coin decides whether a process
 * charges the tick that begins an interval or the one that ends it; the two parts of an interval
 * at the ends of the life make one whole for one tick, and what they are more is nobody's.
 */
#include "collector/core/sys.h"
#include "collector/sources/clock.h"

#include <time.h>

enum { YOUNG_NS = 8 * 1000 * 1000, YOUNG_INTERVALS = 4, SLOTS = 64 };

/* What a thread that has ended left to the next one of its start routine. */
struct slot {
	_Atomic uint32_t state;
	void *(*_Atomic routine)(void *);
	int64_t due_ns; /* to the next tick; below 0: it is late */
	uint64_t overpaid_ns;
	uint32_t stack, stack_state;
};

enum { SLOT_FREE, SLOT_BUSY, SLOT_FULL };

static struct slot slots[SLOTS];
static _Atomic uint64_t random_state;
static uint64_t kernel_tick_ns = 4 * 1000 * 1000;

/* ---- random numbers ---- */

static uint64_t random_bits(void)
{
	uint64_t bits =
		atomic_fetch_add_explicit(&random_state, 0x9e3779b97f4a7c15u, memory_order_relaxed);

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
	return bits ^ bits >> 31;
}

uint64_t phase_random(uint64_t below_ns)
{
	return below_ns ? random_bits() % below_ns : 0;
}

uint64_t phase_jitter(uint64_t interval_ns)
{
	enum { SHORT_NS = 1000 * 1000 };

	/* A tick may cost nearly as much as a short interval, which must not become shorter. */
	if (interval_ns < SHORT_NS)
		return interval_ns + phase_random(interval_ns / 16 + 1);
	return interval_ns - interval_ns / 4 + phase_random(interval_ns / 2 + 1);
}

/* ---- lengths ---- */

static uint64_t young_ns(void)
{
	uint64_t intervals_ns = YOUNG_INTERVALS * collector.interval_ns;

	return intervals_ns > YOUNG_NS ? intervals_ns : YOUNG_NS;
}

/* Timers expire by the kernel's tick at most. */
static uint64_t timer_interval_ns(void)
{
	return collector.interval_ns > TIMER_INTERVAL_NS ? collector.interval_ns
							 : TIMER_INTERVAL_NS;
}

/*
 * From the begin of a life to its timer's first tick, where no life before it says.  A timer
 * expires with the first tick of the kernel after its time: so that each of these is met with the
 * same probability, the time is a multiple of theirs.
 */
static uint64_t first_delay_ns(void)
{
	uint64_t delay_ns = phase_random(timer_interval_ns());

	return 1 + delay_ns - delay_ns % kernel_tick_ns;
}

/* What an interval of which only `part_ns` were lacks to be whole. */
static uint64_t missing_ns(const struct thread *thread, uint64_t part_ns)
{
	uint64_t whole_ns = thread->timer ? timer_interval_ns() : collector.interval_ns;

	return part_ns < whole_ns ? whole_ns - part_ns : 0;
}

/* ---- what threads hand on ---- */

static bool take_slot(struct slot *slot, struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint32_t full = SLOT_FULL;

	if (atomic_load_explicit(&slot->routine, memory_order_relaxed) != thread->start_routine ||
	    !atomic_compare_exchange_strong(&slot->state, &full, SLOT_BUSY))
		return false;
	bool mine = atomic_load(&slot->routine) == thread->start_routine;

	if (mine) {
		phase->due_cpu_ns = slot->due_ns > 0 ? (uint64_t)slot->due_ns : 1;
		phase->overpaid_ns = slot->overpaid_ns;
		phase->stack = slot->stack;
		phase->state = slot->stack_state;
	}
	atomic_store(&slot->state, mine ? SLOT_FREE : SLOT_FULL);
	return mine;
}

/* Into a free slot, or else any one: what is lost is one thread's first phase. */
static void fill_slot(const struct thread *thread, uint64_t end_cpu_ns)
{
	const struct clock_phase *phase = &thread->clock.phase;
	uint32_t start = (uint32_t)random_bits();

	for (uint32_t i = 0; i < 2 * SLOTS; i++) {
		struct slot *slot = &slots[(start + i) % SLOTS];
		uint32_t expected = i < SLOTS ? SLOT_FREE : SLOT_FULL;

		if (!atomic_compare_exchange_strong(&slot->state, &expected, SLOT_BUSY))
			continue;
		atomic_store(&slot->routine, thread->start_routine);
		slot->due_ns = (int64_t)(phase->due_cpu_ns - end_cpu_ns);
		slot->overpaid_ns = phase->overpaid_ns;
		slot->stack = phase->stack;
		slot->stack_state = phase->state;
		atomic_store(&slot->state, SLOT_FULL);
		return;
	}
}

void phase_forget(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].state) !=
		    SLOT_FREE) /* a page is not copied for nothing */
			atomic_store(&slots[i].state, SLOT_FREE);
}

void phase_begin(struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;

	*phase = (struct clock_phase){.mode = PHASE_LAST};
	for (int i = 0; i < SLOTS; i++)
		if (take_slot(&slots[i], thread))
			return;
	phase->due_cpu_ns = first_delay_ns();
}

void phase_begin_process(struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;

	struct timespec tick = {0};

	if (!sys_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick, 0, 0) && tick.tv_nsec)
		kernel_tick_ns = (uint64_t)tick.tv_nsec;
	atomic_fetch_xor(&random_state, clock_now_ns() << 20 ^ (uint64_t)atomic_load(&thread->tid));
	*phase = (struct clock_phase){.mode = random_bits() >> 63 ? PHASE_LAST : PHASE_NEXT};
	phase->birth_cpu_ns = thread->clock.last.cpu_ns;
}

/* ---- charging ---- */

/* So much of what is pending; what is below a microsecond stays. */
static void charge(struct thread *thread, uint64_t ns, uint32_t state, uint32_t stack)
{
	int64_t part = (int64_t)ns;

	thread->clock.cpu_pending_ns -= part;
	clock_charge(thread, state, &part, stack);
	thread->clock.cpu_pending_ns += part;
}

static void charge_nobody(struct thread *thread, uint64_t ns, uint32_t state)
{
	charge(thread, ns, state, FORMAT_NO_STACK);
}

/* `ns` of what is pending go to the tick that began the interval. */
static void charge_last(struct thread *thread, uint64_t ns)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t owed = phase->overpaid_ns < ns ? phase->overpaid_ns : ns;

	if (!phase->stack) {
		phase->held_ns += ns;
		thread->clock.cpu_pending_ns -= (int64_t)ns;
		return;
	}
	phase->overpaid_ns -= owed;
	charge_nobody(thread, owed, phase->state);
	charge(thread, ns - owed, phase->state, phase->stack);
}

/*
 * The last interval has been cut `cut_ns` after its tick.  What passed before the first tick makes
 * it whole; what it is more is nobody's.  The next thread, which was to make it whole, owes that.
 */
static void charge_held(struct thread *thread, uint64_t cut_ns, uint32_t state)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t held = phase->held_ns;
	uint64_t missing = phase->ticked ? missing_ns(thread, cut_ns) : 0;
	uint64_t given = held < missing ? held : missing;

	if (!held)
		return;
	phase->held_ns = 0;
	thread->clock.cpu_pending_ns += (int64_t)held;
	if (given)
		charge(thread, given, phase->state, phase->stack);
	phase->overpaid_ns += given;
	charge_nobody(thread, held - given, state);
}

static uint64_t pending(const struct thread *thread)
{
	int64_t ns = thread->clock.cpu_pending_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

static void grow_old(struct thread *thread, uint64_t age_ns)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t since_ns = age_ns - young_ns(), all = pending(thread);
	uint64_t end_cpu_ns = phase->birth_cpu_ns + young_ns();

	charge_last(thread, all > since_ns ? all - since_ns : 0);
	uint64_t held = phase->held_ns;

	/* All of it to a tick: in a life of many intervals a part of one too much is no matter. */
	phase->held_ns = 0;
	thread->clock.cpu_pending_ns += (int64_t)held;
	if (phase->ticked) {
		uint64_t missing = missing_ns(thread, end_cpu_ns - phase->tick_cpu_ns);

		charge(thread, held, phase->state, phase->stack);
		phase->overpaid_ns += held < missing ? held : missing;
	}
	if (thread->start_routine)
		fill_slot(thread, end_cpu_ns);
	phase->mode = PHASE_OLD;
}

bool phase_tick(struct thread *thread, enum format_state state, uint32_t stack)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t age_ns = thread->clock.last.cpu_ns - phase->birth_cpu_ns;
	bool old = age_ns >= young_ns();

	if (phase->mode == PHASE_NEXT) {
		if (old) {
			phase->mode = PHASE_OLD;
			timer_arm(thread);
		}
		if (phase->ticked)
			return false;
		phase->held_ns = pending(thread);
	} else if (old) {
		grow_old(thread, age_ns);
		timer_arm(thread);
		return false;
	} else {
		charge_last(thread, pending(thread));
	}
	phase->stack = stack;
	phase->state = state;
	phase->ticked = true;
	phase->tick_cpu_ns = thread->clock.last.cpu_ns;
	return phase->mode == PHASE_LAST;
}

void phase_settle(struct thread *thread, enum format_state state)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t left = pending(thread);

	if (phase->mode == PHASE_LAST && phase->stack) {
		uint64_t cut_ns = thread->clock.last.cpu_ns - phase->tick_cpu_ns;

		charge_last(thread, left);
		charge_held(thread, cut_ns, state);
	} else if (phase->mode == PHASE_LAST) {
		charge_nobody(thread, left, state);
		charge_held(thread, 0, state);
	} else {
		uint64_t missing = missing_ns(thread, phase->held_ns);
		uint64_t given = left < missing ? left : missing;

		if (phase->ticked)
			charge(thread, given, phase->state, phase->stack);
		charge_nobody(thread, pending(thread), state);
		phase->held_ns = UINT64_MAX; /* it is whole */
	}
}

void phase_leave(struct thread *thread)
{
	if (thread->clock.phase.mode == PHASE_LAST && thread->start_routine)
		fill_slot(thread, thread->clock.last.cpu_ns);
	thread->clock.phase.mode = PHASE_OLD;
}

/* ---- ticks ---- */

bool phase_has_timer(const struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;

	return phase_is_young(thread) && thread->timer &&
	       clock_own_cpu_ns() - phase->birth_cpu_ns < young_ns();
}

uint64_t phase_timer_delay_ns(struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t cpu_ns = clock_other_cpu_ns(thread->tid);

	if (!phase->due_cpu_ns)
		phase->due_cpu_ns = cpu_ns + first_delay_ns();
	/* A timer that has to make up for more than an interval does not. */
	if (phase->due_cpu_ns + timer_interval_ns() < cpu_ns)
		phase->due_cpu_ns = cpu_ns;
	return phase->due_cpu_ns > cpu_ns ? phase->due_cpu_ns - cpu_ns : 1;
}

void phase_timer_expired(struct thread *thread)
{
	thread->clock.phase.due_cpu_ns += phase_jitter(timer_interval_ns());
	timer_arm(thread);
}
