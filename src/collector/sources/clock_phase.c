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
 *   each tick stands for the time up to the next one wherever in a life it comes, and each thread's
 *   sum is its CPU clock all the same.
 *
 * Processes can't hand a stack on.  So the young life of a process's first thread is divided into
 * steps that grow with its age, and each tick, which can come anywhere in its step, gets that step
 * (clock_steps.c).  What the last step has without a tick is nobody's.  What a process leaves of a
 * first step the next one begins with (clock_line.c); where nothing is the first tick is random.
 *
 * Threads that run when another one ends the process, or makes it another program, have no next one
 * either: see phase_collect_unsampled.
 */
#include "collector/sources/clock_phase.h"
#include "collector/core/clock_look.h"

#include "collector/arch/sys.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/sources/clock_interval.h"
#include "collector/sources/clock_jitter.h"
#include "collector/sources/clock_line.h"
#include "collector/sources/clock_reading.h"
#include "collector/sources/clock_record.h"
#include "collector/sources/clock_state.h"
#include "collector/sources/clock_steps.h"
#include "collector/sources/clock_timer.h"
#include "collector/storage/family.h"
#include "collector/storage/recording.h"
#include "collector/unwind/unwind.h"

#include <time.h>

enum { YOUNG_NS = 8 * 1000 * 1000, YOUNG_INTERVALS = 4, SLOTS = 64 };

/* Ticks that share the time of a thread whose recording pauses. */
enum { RECENT = PHASE_RECENT };

/* After a life that has waited oftener than this, so many have no timer of the wall clock. */
enum { WAITS_FEW = 2, LIVES_WITHOUT_WALL = 16 };

/* Last ticks that stand for all at the end; so many of them share what one thread has left. */
enum { LAST_TICKS = 64, LAST_PARTS = 4 };

/* So much too early is in time; so much later comes what found the thread's state in use. */
enum { EARLY_NS = 20 * 1000, MISSED_NS = 500 * 1000 };

/* What a thread that has ended left to the next one of its start routine. */
struct slot {
	_Atomic uint32_t state;
	void *(*_Atomic routine)(void *);
	int64_t due_ns; /* to the next tick; below 0: it is late */
	uint64_t overpaid_ns;
	uint32_t stack, stack_state, without_wall;
	struct runtime_context context; /* of that stack */
};

enum { SLOT_FREE, SLOT_BUSY, SLOT_FULL };

static struct slot slots[SLOTS];
static _Atomic uint64_t phases;
static _Atomic int ending_tid; /* the thread that ends the recording */
static uint64_t kernel_tick_ns = 4 * 1000 * 1000;

/* ---- lengths ---- */

static uint64_t young_ns(void)
{
	uint64_t intervals_ns = YOUNG_INTERVALS * collector.interval_ns;

	return intervals_ns > YOUNG_NS ? intervals_ns : YOUNG_NS;
}

/* Timers of CPU clocks expire by the kernel's tick at most, and young threads may get one. */
static uint64_t timer_interval_ns(const struct thread *thread)
{
	bool fine = !phase_is_young(thread) && thread->clock.phase.wall;

	return fine || collector.interval_ns > TIMER_INTERVAL_NS ? collector.interval_ns
								 : TIMER_INTERVAL_NS;
}

/*
 * A random phase, but those of lives at the same time lie as far apart as they can, by the golden
 * section: of several that live for a part of an interval some have a tick.
 */
static uint64_t next_phase(uint64_t below_ns)
{
	const uint64_t golden = 0x9e3779b97f4a7c15u; /* a whole interval is 2^64 */
	uint64_t phase = atomic_fetch_add_explicit(&phases, golden, memory_order_relaxed);

	return (phase >> 32) * (below_ns >> 8) >> 24;
}

/*
 * From the begin of a life to its timer's first tick, where no life before it says.  A timer
 * expires with the first tick of the kernel after its time: so that each of these is met with the
 * same probability, the time is a multiple of theirs.
 */
static uint64_t first_delay_ns(const struct thread *thread)
{
	uint64_t delay_ns = next_phase(timer_interval_ns(thread));

	return 1 + delay_ns - delay_ns % kernel_tick_ns;
}

/* A young thread's ticks are its timer's, and not a perf event's. */
static bool is_timed(const struct thread *thread)
{
	return collector.engine == ENGINE_MONITOR || thread->start_routine;
}

static uint64_t whole_ns(const struct thread *thread)
{
	return is_timed(thread) ? timer_interval_ns(thread) : collector.interval_ns;
}

/* Of ticks in steps: a timer of the CPU clock expires with the kernel's ticks. */
static uint64_t grain_ns(const struct thread *thread)
{
	return is_timed(thread) && !thread->clock.phase.wall ? kernel_tick_ns : 0;
}

/* What an interval of which only `part_ns` were lacks to be whole. */
static uint64_t missing_ns(const struct thread *thread, uint64_t part_ns)
{
	return part_ns < whole_ns(thread) ? whole_ns(thread) - part_ns : 0;
}

/* ---- what threads and processes hand on ---- */

/* It begins with what a life like its own has left, which tells how that one was, too. */
static void set_without_wall(struct clock_phase *phase, uint32_t without_wall)
{
	phase->wall = !without_wall;
	phase->without_wall = without_wall ? without_wall - 1 : 0;
}

static uint32_t without_wall_of(const struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;
	uint64_t waits = thread->clock.last.voluntary_switches - phase->begin_waits;

	return waits > WAITS_FEW ? LIVES_WITHOUT_WALL : phase->without_wall;
}

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
		phase->context = slot->context;
		set_without_wall(phase, slot->without_wall);
	}
	atomic_store(&slot->state, mine ? SLOT_FREE : SLOT_FULL);
	return mine;
}

/* Into a free slot, or else any one: what is lost is one thread's first phase. */
static void fill_slot(const struct thread *thread, uint64_t end_cpu_ns)
{
	const struct clock_phase *phase = &thread->clock.phase;
	uint32_t start = (uint32_t)jitter_bits();

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
		slot->context = phase->context;
		slot->without_wall = without_wall_of(thread);
		atomic_store(&slot->state, SLOT_FULL);
		return;
	}
}

/* Several threads exchange their events. */
static void fill_line(const struct thread *thread, uint64_t end_cpu_ns)
{
	const struct clock_phase *phase = &thread->clock.phase;
	uint64_t age_ns = end_cpu_ns - phase->begin_cpu_ns, grain = grain_ns(thread);

	if (phase->mode != PHASE_STEPS || !phase->step_end_ns ||
	    atomic_load(&collector.threads) != 1)
		return;
	line_give(family_page(), line_word(steps_left_ns(phase, age_ns, grain),
					   steps_length_ns(0, grain), without_wall_of(thread)));
}

static void hand_on(const struct thread *thread, uint64_t end_cpu_ns)
{
	if (thread->start_routine)
		fill_slot(thread, end_cpu_ns);
	else
		fill_line(thread, end_cpu_ns);
}

void phase_forget(void)
{
	atomic_store(&ending_tid, 0);
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
	phase->due_cpu_ns = first_delay_ns(thread);
}

void phase_prepare(void)
{
	struct timespec tick = {0};

	if (!sys_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick, 0, 0) && tick.tv_nsec)
		kernel_tick_ns = (uint64_t)tick.tv_nsec;
	jitter_seed(clock_now_ns() << 20 ^ (uint64_t)sys_gettid());
	atomic_store(&phases, jitter_bits());
}

void phase_begin_process(struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;

	phase_prepare();
	*phase = (struct clock_phase){.mode = PHASE_STEPS};
	phase->begin_cpu_ns = thread->clock.last.cpu_ns;
	phase->begin_waits = phase->early_waits = thread->clock.last.voluntary_switches;
}

uint64_t phase_process_first_ns(struct thread *thread, uint64_t least_ns)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t left_ns = jitter_random(steps_length_ns(0, 0));
	uint32_t without_wall = 0;

	line_read(line_take(family_page()), steps_length_ns(0, 0), &left_ns, &without_wall);
	/* A call that a program which ran before waits in would not go on behind our signal. */
	set_without_wall(phase, collector.late ? LIVES_WITHOUT_WALL : without_wall);
	uint64_t grain = grain_ns(thread);

	if (grain) /* its first tick of the kernel, which comes anywhere */
		left_ns = 1;
	phase->timer_first = left_ns < least_ns && phase->wall;
	if (left_ns < least_ns && !phase->wall)
		left_ns = least_ns;
	steps_begin(phase, left_ns, grain);
	phase->due_cpu_ns = clock_other_cpu_ns(thread->tid) + left_ns;
	return left_ns;
}

void phase_leave_process(void)
{
	const struct thread *thread = thread_current_if_known();

	if (thread && phase_is_young(thread) && collector.engine != ENGINE_NONE)
		hand_on(thread, thread->clock.last.cpu_ns);
}

/* ---- charging ---- */

static bool is_collected(const struct thread *thread)
{
	int tid = atomic_load_explicit(&ending_tid, memory_order_relaxed);

	return tid && thread->start_routine && tid == sys_gettid();
}

/* So much of what is pending; what is below a microsecond stays. */
static void charge(struct thread *thread, uint64_t ns, uint32_t state, uint32_t stack,
		   const struct runtime_context *then)
{
	int64_t part = (int64_t)ns;

	thread->clock.cpu_pending_ns -= part;
	clock_record(thread, state, &part, stack, then);
	thread->clock.cpu_pending_ns += part;
}

/* Nobody's; or at the end of a recording of who has ticks: see phase_collect_unsampled. */
static inline __attribute__((always_inline)) void charge_nobody(struct thread *thread, uint64_t ns,
								uint32_t state)
{
	if (!is_collected(thread)) {
		charge(thread, ns, state, FORMAT_NO_STACK, NULL);
		return;
	}
	thread->clock.cpu_pending_ns -= (int64_t)ns;
	thread->clock.phase.rest_ns += ns;
	thread->clock.phase.rest_state = state;
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
	charge(thread, ns - owed, phase->state, phase->stack, &phase->context);
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
		charge(thread, given, phase->state, phase->stack, &phase->context);
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
	uint64_t end_cpu_ns = phase->begin_cpu_ns + young_ns();

	charge_last(thread, all > since_ns ? all - since_ns : 0);
	uint64_t held = phase->held_ns;

	/* All of it to a tick: in a life of many intervals a part of one too much is no matter. */
	phase->held_ns = 0;
	thread->clock.cpu_pending_ns += (int64_t)held;
	if (phase->ticked) {
		uint64_t missing = missing_ns(thread, end_cpu_ns - phase->tick_cpu_ns);

		charge(thread, held, phase->state, phase->stack, &phase->context);
		phase->overpaid_ns += held < missing ? held : missing;
	}
	hand_on(thread, end_cpu_ns);
}

static void set_wall(struct thread *thread, bool wall)
{
	if (thread->clock.phase.wall == wall)
		return;
	thread->clock.phase.wall = wall;
	timer_disarm(thread);
}

/*
 * An interval shorter than the kernel's tick is kept by a timer of the wall clock, while the thread
 * does not wait: not if it has since it was last asked, and not in the next ticks after one that
 * met it so.
 */
static void choose_clock(struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t waits = thread->clock.last.voluntary_switches;
	bool waited = waits != phase->early_waits;

	phase->early_waits = waits;
	phase->without_wall -= phase->without_wall && !waited;
	set_wall(thread, collector.engine == ENGINE_MONITOR &&
				 collector.interval_ns < TIMER_INTERVAL_NS && !waited &&
				 !phase->without_wall);
}

static void be_old(struct thread *thread)
{
	thread->clock.phase.mode = PHASE_OLD;
	choose_clock(thread);
	timer_arm(thread);
}

/*
 * Between two pauses there may be less than an interval, and ticks come in pauses, too.  What leads
 * to a tick is shorter the shorter the time between them is, and where no tick falls the time would
 * always be the longer neighbour's.  So each recorded tick counts the same: what is pending goes to
 * one of the last few, whichever.
 */
void phase_pause(struct thread *thread)
{
	if (!phase_is_young(thread))
		thread->clock.phase.pauses = true;
}

static void charge_recent(struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t known = phase->recents < RECENT ? phase->recents : RECENT;
	uint64_t chosen = jitter_random(known);

	charge(thread, pending(thread), phase->recent[chosen].state, phase->recent[chosen].stack,
	       &phase->recent[chosen].context);
}

static bool tick_of_old(struct thread *thread, enum format_state state, uint32_t stack)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint32_t next = phase->recents % RECENT;

	if (!phase->pauses)
		return false;
	phase->recent[next].stack = stack;
	phase->recent[next].state = state;
	context_keep(&phase->recent[next].context, &thread->context);
	phase->recents++;
	charge_recent(thread);
	return true;
}

bool phase_rest_of_old(struct thread *thread)
{
	if (!thread->clock.phase.recents)
		return false;
	charge_recent(thread);
	return true;
}

static uint64_t age_ns_of(const struct thread *thread)
{
	return thread->clock.last.cpu_ns - thread->clock.phase.begin_cpu_ns;
}

/* What is pending up to the end of its step goes to the last tick. */
static void charge_step(struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;
	uint64_t all = pending(thread), from_ns = age_ns_of(thread) - all;
	int64_t part = (int64_t)(phase->paid_until_ns - from_ns);

	if (!phase->ticked || part <= 0)
		return;
	charge(thread, (uint64_t)part < all ? (uint64_t)part : all, phase->state, phase->stack,
	       &phase->context);
}

static void keep_tick(struct thread *thread, enum format_state state, uint32_t stack)
{
	struct clock_phase *phase = &thread->clock.phase;

	phase->stack = stack;
	phase->state = state;
	context_keep(&phase->context, &thread->context);
	phase->ticked = true;
	phase->tick_cpu_ns = thread->clock.last.cpu_ns;
}

static void tick_of_process(struct thread *thread, enum format_state state, uint32_t stack)
{
	charge_step(thread);
	keep_tick(thread, state, stack);
	if (age_ns_of(thread) < young_ns()) {
		steps_tick(&thread->clock.phase, age_ns_of(thread), grain_ns(thread));
		return;
	}
	hand_on(thread, thread->clock.phase.begin_cpu_ns + young_ns());
	be_old(thread);
}

static bool tick_of_young(struct thread *thread, enum format_state state, uint32_t stack)
{
	uint64_t age_ns = age_ns_of(thread);

	if (thread->clock.phase.mode == PHASE_STEPS) {
		tick_of_process(thread, state, stack);
		return false;
	}
	if (age_ns >= young_ns()) {
		grow_old(thread, age_ns);
		be_old(thread);
		return false;
	}
	charge_last(thread, pending(thread));
	keep_tick(thread, state, stack);
	return true;
}

bool phase_tick(struct thread *thread, enum format_state state, uint32_t stack)
{
	return phase_is_young(thread) ? tick_of_young(thread, state, stack)
				      : tick_of_old(thread, state, stack);
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
		charge_step(thread);
		charge_nobody(thread, pending(thread), state);
	}
}

static void charge_rest(struct thread *thread, uint64_t ns, uint32_t state, uint32_t stack,
			const struct runtime_context *then)
{
	thread->clock.phase.rest_ns -= ns;
	thread->clock.cpu_pending_ns += (int64_t)ns;
	charge(thread, ns, state, stack, then);
}

static void drop_rest(struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;

	charge_rest(thread, phase->rest_ns, phase->rest_state, FORMAT_NO_STACK, NULL);
}

void phase_leave(struct thread *thread)
{
	drop_rest(thread); /* if another thread just ends the recording */
	if (phase_is_young(thread))
		hand_on(thread, thread->clock.last.cpu_ns);
	thread->clock.phase.mode = PHASE_OLD;
}

/*
 * ---- the end of a recording ----
 *
 * The interval that it cuts has no next thread to make it whole, and what a thread has used before
 * its first tick, or without any, has no tick before it.  So the lives of threads that have not
 * ended are laid end to end now: what one has left goes to the last ticks of those with the same
 * start routine, first where the end has cut the interval, until it is whole, then to all alike.
 */

struct last_tick {
	void *(*routine)(void *);
	uint64_t missing_ns; /* until its interval is whole */
	uint32_t stack, state;
	struct runtime_context context;
};

/* Of the thread that ends the recording alone. */
static struct last_tick last_ticks[LAST_TICKS];
static uint32_t last_count;

void phase_collect_unsampled(void)
{
	int nobody = 0;

	atomic_compare_exchange_strong(&ending_tid, &nobody, sys_gettid());
}

static bool lock(struct thread *thread)
{
	if (thread != thread_current_if_known())
		return thread_lock_other(thread);
	thread_lock(thread);
	return true;
}

static struct last_tick last_tick_of(const struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;
	uint64_t paid_ns = thread->clock.last.cpu_ns - phase->tick_cpu_ns + phase->overpaid_ns;

	return (struct last_tick){
		.routine = thread->start_routine,
		.missing_ns = phase_is_young(thread) ? missing_ns(thread, paid_ns) : 0,
		.stack = phase->stack,
		.state = phase->state,
		.context = phase->context,
	};
}

/* Of more than there is room for, each stays with the same probability. */
static void note_last_tick(struct thread *thread, void *unused)
{
	(void)unused;
	if (!thread->start_routine || !lock(thread))
		return;
	if (thread->clock.phase.ticked) {
		uint64_t place = last_count < LAST_TICKS ? last_count : jitter_random(last_count);

		last_count++;
		if (place < LAST_TICKS)
			last_ticks[place] = last_tick_of(thread);
	}
	thread_unlock(thread);
}

/* The thread's next tick behind number `*at`, of all from `start` on, so that none is always first.
 */
static struct last_tick *next_tick(const struct thread *thread, uint32_t start, uint32_t *at)
{
	uint32_t known = last_count < LAST_TICKS ? last_count : LAST_TICKS;

	while (*at < known) {
		struct last_tick *tick = &last_ticks[(start + (*at)++) % known];

		if (tick->routine == thread->start_routine)
			return tick;
	}
	return NULL;
}

static void charge_tick(struct thread *thread, uint64_t ns, const struct last_tick *tick)
{
	charge_rest(thread, ns, tick->state, tick->stack, &tick->context);
}

static void make_whole(struct thread *thread, uint32_t start)
{
	const struct clock_phase *phase = &thread->clock.phase;
	struct last_tick *tick;
	uint32_t at = 0;

	while (phase->rest_ns && (tick = next_tick(thread, start, &at))) {
		uint64_t ns = tick->missing_ns < phase->rest_ns ? tick->missing_ns : phase->rest_ns;

		tick->missing_ns -= ns;
		charge_tick(thread, ns, tick);
	}
}

static void share(struct thread *thread, uint32_t start)
{
	const struct last_tick *tick;
	uint32_t parts = 0, at = 0;

	while (parts < LAST_PARTS && next_tick(thread, start, &at))
		parts++;
	at = 0;
	while (parts && (tick = next_tick(thread, start, &at)))
		charge_tick(thread, thread->clock.phase.rest_ns / parts--, tick);
}

static void distribute_rest(struct thread *thread, void *unused)
{
	(void)unused;
	if (!thread->clock.phase.rest_ns || !lock(thread))
		return;
	uint32_t start = (uint32_t)jitter_random(LAST_TICKS);

	thread->lane.elsewhere = thread != thread_current_if_known();
	make_whole(thread, start);
	share(thread, start);
	drop_rest(thread);
	thread->lane.elsewhere = false;
	thread_unlock(thread);
}

void phase_distribute_unsampled(void)
{
	if (atomic_load(&ending_tid) != sys_gettid())
		return;
	last_count = 0;
	thread_for_each(note_last_tick, NULL);
	thread_for_each(distribute_rest, NULL);
	atomic_store(&ending_tid, 0);
}

/* ---- ticks ---- */

bool phase_step_is_early(const struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;

	return phase->mode == PHASE_STEPS && clock_own_cpu_ns() + EARLY_NS < phase->due_cpu_ns;
}

uint64_t phase_step_delay_ns(const struct thread *thread)
{
	enum { LEAST_NS = 100 * 1000 };
	int64_t left_ns = (int64_t)(thread->clock.phase.due_cpu_ns - clock_own_cpu_ns());

	if (thread->clock.phase.mode != PHASE_STEPS)
		return 0;
	if (atomic_load_explicit(&thread->own_work, memory_order_relaxed))
		return collector.interval_ns > MISSED_NS ? collector.interval_ns : MISSED_NS;
	return left_ns > LEAST_NS ? (uint64_t)left_ns : LEAST_NS;
}

bool phase_has_timer(const struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;

	return phase_is_young(thread) && thread->timer &&
	       clock_own_cpu_ns() - phase->begin_cpu_ns < young_ns();
}

static uint64_t timer_delay_ns(struct thread *thread)
{
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t cpu_ns = clock_other_cpu_ns(thread->tid);

	if (!phase->due_cpu_ns)
		phase_process_first_ns(thread, 0);
	/* A timer that has to make up for more than an interval does not. */
	if (phase->due_cpu_ns + timer_interval_ns(thread) < cpu_ns)
		phase->due_cpu_ns = cpu_ns;
	return phase->due_cpu_ns > cpu_ns ? phase->due_cpu_ns - cpu_ns : 1;
}

bool phase_timer_was_early(struct thread *thread, const struct unwind_regs *regs)
{
	struct clock_phase *phase = &thread->clock.phase;

	if (!phase->wall || clock_own_cpu_ns() + EARLY_NS >= phase->due_cpu_ns)
		return false;
	uint64_t waits = clock_own_waits();
	bool waited = waits != phase->early_waits;

	phase->early_waits = waits;
	if (waited && clock_is_in_call(regs)) { /* once, and the next lives not at all */
		phase->without_wall = LIVES_WITHOUT_WALL;
		set_wall(thread, false);
	}
	timer_arm(thread);
	return true;
}

/* The signal has met our own work: the next one, if it came at once, would meet it there again. */
static void let_work_end(struct clock_phase *phase)
{
	uint64_t least_ns = clock_own_cpu_ns() + MISSED_NS;

	phase->due_cpu_ns = phase->due_cpu_ns > least_ns ? phase->due_cpu_ns : least_ns;
}

void phase_timer_expired(struct thread *thread, bool taken)
{
	if (thread->clock.phase.timer_first) { /* the perf event goes on */
		thread->clock.phase.timer_first = false;
		timer_disarm(thread);
		return;
	}
	if (!phase_is_young(thread))
		choose_clock(thread);
	if (thread->clock.phase.mode != PHASE_STEPS)
		thread->clock.phase.due_cpu_ns += jitter_ns(timer_interval_ns(thread));
	else if (!taken)
		thread->clock.phase.due_cpu_ns += steps_length_ns(0, grain_ns(thread));
	if (!taken)
		let_work_end(&thread->clock.phase);
	timer_arm(thread);
}

const struct timer_plan timer_plan = {.delay_ns = timer_delay_ns};
