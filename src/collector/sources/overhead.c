/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/overhead.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/process_cpu.h"
#include "collector/core/rawthread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/core/traced_time.h"
#include "collector/sources/clock_holder_requests.h"
#include "collector/sources/clock_timer.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/params.h"

enum {
	/* A handler that took longer may have been preempted: the CPU clock tells. */
	LONG_NS = 200 * 1000,
	/* So much is summed up before the CPU clock is read, which is a system call. */
	SETTLE_NS = 100 * 1000,
	/* The debt that makes events rest, as the time that pays it: at first, so that what happens
	 * once does no harm, as the first ticks' page faults, and while it lasts, so that progress
	 * is even.  What leads to the first rest is all that a short run has beyond the bound.  It
	 * grows with the interval: a life of some ms has few ticks at 1 ms, and all are slow. */
	FIRST_REST_LEAST_NS = 3 * 1000 * 1000,
	FIRST_REST_MOST_NS = 25 * 1000 * 1000,
	FIRST_REST_INTERVALS = 25,
	FIRST_LOOKS_REST_NS = 50 * 1000 * 1000, /* of a thread of our own; it opens files first */
	FIRST_PARTS = 4, /* no one handler is more of it: a host that takes the processor away in
			  * one is counted by the CPU clock, too, and says nothing of the next */
	FIRST_COUNTER_REST_NS = 250 * 1000 * 1000, /* each of a few thousand faults may be wanted */
	LATER_REST_NS = 1000 * 1000,
	/* Likewise: what was only guessed is measured, where that takes little … */
	MEASURE_NS = 1500 * 1000,
	QUICK_WINDOW_NS = 500 * 1000, /* … and else before the first rest */
	LONGEST_REST_NS = 20 * 1000 * 1000,
	LASTS_NS = 1000 * 1000 * 1000,
	PROBE_NS = 30 * 1000, /* within a window */
	/* Delivery, until it is measured: a timer's interrupt in a virtual machine that has to ask
	 * its host, and a signal alone. */
	TICK_GUESS_NS = 50 * 1000,
	TICK_MOST_NS = 100 * 1000, /* what is measured to be more was disturbed each time */
	SIGNAL_GUESS_NS = 4 * 1000,
	HANDLER_GUESS_NS = 4 * 1000,
	WINDOWS = 3,
	NAP_NS = 100 * 1000,
	/* What takes longer was preempted: a rest of some 20 ms at most, by default. */
	SWITCH_MOST_NS = 4 * 1000 * 1000,
	/* For who switches the events; it may be preempted. */
	SWITCH_WAIT_NS = 20 * 1000 * 1000,
	SHORT_GAP_NS = 2 * 1000, /* no interrupt takes much less */
	WINDOW_MIN_NS = 100 * 1000,
	WINDOW_MAX_NS = 5 * 1000 * 1000,
	MEASURED_MOST_NS = 500 * 1000,
	HELPER_STACK = 32 * 1024,
};

static uint64_t percent = PARAMS_OVERHEAD_DEFAULT; /* 0: no bound */
static uint64_t spin_ns; /* for tests: each handler takes so much longer */

static _Atomic uint64_t tick_delivery_ns = TICK_GUESS_NS;
static _Atomic bool measured;
static _Atomic uint64_t limited_until_ns; /* CLOCK_MONOTONIC */
/* The warning: once, and not in a log that is closed. */
enum words { WORDS_NONE, WORDS_BEING_SAID, WORDS_SAID };
static _Atomic uint32_t words;

/* Rests of the whole process. */
enum phase {
	NONE,	   /* events are on */
	PREPARING, /* somebody switches them off */
	RESTING,
	KEPT,	   /* … by the holder */
	SWITCHING, /* somebody switches them on again */
};

static _Atomic uint32_t phase; /* a futex */
static _Atomic unsigned alive; /* the raw thread's stack is in use */
static _Atomic uint64_t rest_until_ns;
static _Atomic bool held, barred, ending;
static _Atomic unsigned switching; /* events are being switched on */

/* Switches all ticks and counters of the process. */
static void (*switch_events)(bool on);

/* For the log. */
static _Atomic uint64_t taken_ns, ticks, rests, rested_ns;

/* Of threads that ended: paid by those that begin. */
static _Atomic uint64_t left_behind_ns;
/* Of signals whose thread has no state: all of them together, on the wall clock. */
static struct overhead_account nobodys;
static _Atomic bool nobodys_taken;

void overhead_read_limit(const char *value)
{
	percent = text_number(value, NULL);
}

void overhead_read_test_delay(const char *value)
{
	spin_ns = text_number(value, NULL);
}

void overhead_reset(void (*switch_function)(bool on))
{
	switch_events = switch_function;
	atomic_store(&taken_ns, 0);
	atomic_store(&ticks, 0);
	atomic_store(&rests, 0);
	atomic_store(&rested_ns, 0);
	traced_time_reset();
	atomic_store(&words, WORDS_NONE);
	atomic_store(&left_behind_ns, 0);
	nobodys = (struct overhead_account){0};
	atomic_store(&nobodys_taken, false);
}

/* ---- what a signal takes ---- */

static uint64_t longest_gap_ns(uint64_t window_ns)
{
	uint64_t begin_ns = clock_now_ns(), last_ns = begin_ns, longest_ns = 0;

	while (last_ns - begin_ns < window_ns) {
		uint64_t now_ns = clock_now_ns();

		if (now_ns - last_ns > longest_ns)
			longest_ns = now_ns - last_ns;
		last_ns = now_ns;
	}
	return longest_ns;
}

static uint64_t measuring_window_ns(void)
{
	uint64_t interval_ns = collector.interval_ns;

	return interval_ns < WINDOW_MIN_NS ? WINDOW_MIN_NS : interval_ns;
}

/*
 * The cost of a timer's interrupt, by the gap that it leaves in the time of a thread that does
 * nothing but look at the clock: here, with the signal blocked.  Of several windows of an interval
 * each the shortest of their longest gaps: others are interrupted by more than that.  A timer that
 * expires once is set anew for each.
 */
static void measure_delivery(struct thread *timed)
{
	uint64_t window_ns = timed ? WINDOW_MIN_NS : measuring_window_ns(), least_ns = UINT64_MAX;

	if (atomic_exchange(&measured, true) || window_ns > WINDOW_MAX_NS)
		return;
	for (int i = 0; i < WINDOWS && least_ns > SHORT_GAP_NS; i++) {
		if (timed)
			timer_probe(timed, PROBE_NS);
		uint64_t longest_ns = longest_gap_ns(window_ns);

		if (longest_ns < least_ns)
			least_ns = longest_ns;
	}
	if (timed)
		timer_arm(timed);
	least_ns += SIGNAL_GUESS_NS;
	atomic_store(&tick_delivery_ns, least_ns < TICK_MOST_NS ? least_ns : TICK_MOST_NS);
}

uint64_t overhead_delivery_ns(void)
{
	return atomic_load_explicit(&tick_delivery_ns, memory_order_relaxed);
}

uint64_t overhead_measured_delivery_ns(void)
{
	measure_delivery(NULL);
	return overhead_delivery_ns();
}

void overhead_enter(struct overhead_mark *mark, bool exact)
{
	mark->wall_ns = clock_now_ns();
	mark->cpu_ns = exact ? clock_own_cpu_ns() : 0;
}

/* For tests: the handler takes so much longer. */
static void spin(void)
{
	for (uint64_t until_ns = clock_now_ns() + spin_ns; clock_now_ns() < until_ns;)
		;
}

static uint64_t handler_ns(const struct thread *thread, const struct overhead_mark *mark,
			   uint64_t now_ns)
{
	uint64_t wall_ns = now_ns - mark->wall_ns, cpu_ns = mark->cpu_ns;

	if (wall_ns < LONG_NS)
		return wall_ns;
	if (!cpu_ns && thread && thread->clock.last.now_ns >= mark->wall_ns)
		cpu_ns = thread->clock.last.cpu_ns;
	if (!cpu_ns)
		return LONG_NS;
	uint64_t used_ns = clock_own_cpu_ns() - cpu_ns;

	return used_ns < wall_ns ? used_ns : wall_ns;
}

static bool has_interrupt(enum overhead_kind kind)
{
	return kind == OVERHEAD_TICK || kind == OVERHEAD_TIMER;
}

/* Never more than what has passed since the thread's last handler. */
static uint64_t delivery_ns(enum overhead_kind kind, uint64_t gap_ns)
{
	uint64_t usual_ns = has_interrupt(kind)
				    ? atomic_load_explicit(&tick_delivery_ns, memory_order_relaxed)
				    : SIGNAL_GUESS_NS;

	return gap_ns < usual_ns ? gap_ns : usual_ns;
}

/* ---- accounts ---- */

uint64_t overhead_time_for(uint64_t cost_ns)
{
	return percent ? cost_ns * 100 / percent : 0;
}

uint64_t overhead_least_interval_ns(uint64_t delivery_ns)
{
	uint64_t tick_ns = delivery_ns + HANDLER_GUESS_NS;
	uint64_t bound_ns = overhead_time_for(tick_ns);

	return bound_ns > 2 * tick_ns ? bound_ns : 2 * tick_ns;
}

uint64_t overhead_longest_least_interval_ns(void)
{
	return overhead_least_interval_ns(TICK_MOST_NS);
}

uint64_t overhead_of_handlers_ns(uint64_t cpu_ns)
{
	static uint64_t last_cpu_ns, last_taken_ns;
	uint64_t all_ns = atomic_load_explicit(&taken_ns, memory_order_relaxed);
	uint64_t new_ns = all_ns - last_taken_ns;
	/* What our own begin and end took is left out of it, and may come late. */
	uint64_t most_ns = cpu_ns > last_cpu_ns ? (cpu_ns - last_cpu_ns) / 100 * percent : 0;

	last_cpu_ns = cpu_ns;
	last_taken_ns = all_ns;
	return new_ns < most_ns ? new_ns : most_ns;
}

static bool is_limited(uint64_t now_ns)
{
	return now_ns < atomic_load_explicit(&limited_until_ns, memory_order_relaxed);
}

/* Three quarters to five quarters of it: rests must not fall into step with the program. */
static uint64_t jitter(uint64_t ns, uint64_t seed)
{
	return ns - ns / 4 + (seed * 0x9e3779b97f4a7c15u >> 40) % (ns / 2 + 1);
}

static uint64_t minus_or_zero(uint64_t from_ns, uint64_t ns)
{
	return from_ns > ns ? from_ns - ns : 0;
}

static uint64_t charge(struct overhead_account *account, uint64_t clock_ns, uint64_t cost_ns,
		       uint64_t first_rest_ns)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t passed_ns = clock_ns > account->clock_ns ? clock_ns - account->clock_ns : 0;
	uint64_t most_ns = first_rest_ns / 100 * percent / FIRST_PARTS;
	bool limited = is_limited(now_ns), was_slow = account->was_slow;
	uint64_t counted_ns = limited || cost_ns < most_ns ? cost_ns : most_ns;
	/* What is not counted of a handler is not the program's either: it pays for nothing. */
	uint64_t paid_ns = minus_or_zero(passed_ns, cost_ns - counted_ns) / 100 * percent;

	account->was_slow = overhead_time_for(cost_ns) >= LONGEST_REST_NS;
	account->clock_ns = clock_ns;
	account->debt_ns = minus_or_zero(account->debt_ns, paid_ns) + counted_ns;
	uint64_t rest_ns = overhead_time_for(account->debt_ns);

	if (rest_ns <= (limited ? LATER_REST_NS : first_rest_ns))
		return 0;
	/* The next signal finds what is left of the debt.  Longer only where handlers are that
	 * slow: a single one may have been kept waiting by the host, and in a long rest nothing is
	 * seen. */
	if (rest_ns > LONGEST_REST_NS && !(was_slow && account->was_slow))
		rest_ns = LONGEST_REST_NS;
	if (!limited) { /* what has led to this is let off: no sudden long rest */
		rest_ns = LATER_REST_NS;
		account->debt_ns = rest_ns / 100 * percent;
	}
	return jitter(rest_ns, now_ns);
}

uint64_t overhead_charge(struct overhead_account *account, uint64_t clock_ns, uint64_t cost_ns)
{
	return charge(account, clock_ns, cost_ns, FIRST_LOOKS_REST_NS);
}

static uint64_t first_rest_ns(enum overhead_kind kind)
{
	uint64_t ns = FIRST_REST_INTERVALS *
		      atomic_load_explicit(&collector.interval_ns, memory_order_relaxed);

	if (kind == OVERHEAD_COUNTER)
		return FIRST_COUNTER_REST_NS;
	if (ns < FIRST_REST_LEAST_NS)
		return FIRST_REST_LEAST_NS;
	return ns < FIRST_REST_MOST_NS ? ns : FIRST_REST_MOST_NS;
}

static uint64_t settle(struct overhead_account *account, uint64_t clock_ns, enum overhead_kind kind)
{
	uint64_t cost_ns = account->unsettled_ns;

	account->unsettled_ns = 0;
	if (!account->clock_ns)
		cost_ns += atomic_exchange(&left_behind_ns, 0);
	return charge(account, clock_ns, cost_ns, first_rest_ns(kind));
}

/* Whether a bound is about to act by what was only guessed. */
static bool must_measure(const struct overhead_account *account, enum overhead_kind kind,
			 uint64_t rest_ns)
{
	return has_interrupt(kind) && !atomic_load_explicit(&measured, memory_order_relaxed) &&
	       (rest_ns || (measuring_window_ns() < QUICK_WINDOW_NS &&
			    overhead_time_for(account->debt_ns) > MEASURE_NS));
}

/* What was guessed too much is not known: only what the measuring takes is owed. */
static void measure_first(struct overhead_account *account, struct thread *thread,
			  enum overhead_kind kind)
{
	uint64_t begin_ns = clock_now_ns();

	measure_delivery(kind == OVERHEAD_TIMER ? thread : NULL);
	account->left_ns = clock_now_ns();
	account->debt_ns = 0;
	account->unsettled_ns = account->left_ns - begin_ns;
	if (account->unsettled_ns > MEASURED_MOST_NS) /* preempted */
		account->unsettled_ns = MEASURED_MOST_NS;
	atomic_fetch_add_explicit(&taken_ns, account->unsettled_ns, memory_order_relaxed);
}

static uint64_t leave(struct overhead_account *account, struct thread *thread,
		      const struct overhead_mark *mark, enum overhead_kind kind, uint64_t *rest_ns)
{
	if (spin_ns)
		spin();
	uint64_t now_ns = clock_now_ns();
	uint64_t cost_ns = handler_ns(thread, mark, now_ns) +
			   delivery_ns(kind, mark->wall_ns - account->left_ns);

	*rest_ns = 0;
	account->left_ns = now_ns;
	atomic_fetch_add_explicit(&taken_ns, cost_ns, memory_order_relaxed);
	if (has_interrupt(kind) || kind == OVERHEAD_SENT)
		atomic_fetch_add_explicit(&ticks, 1, memory_order_relaxed);
	if (kind == OVERHEAD_SWITCH || !percent)
		return cost_ns;
	account->unsettled_ns += cost_ns;
	if (account->unsettled_ns < SETTLE_NS && !is_limited(now_ns))
		return cost_ns;
	*rest_ns = settle(account, thread ? clock_own_cpu_ns() : now_ns, kind);
	if (must_measure(account, kind, *rest_ns)) {
		measure_first(account, thread, kind);
		*rest_ns = 0;
	}
	return cost_ns;
}

uint64_t overhead_leave(struct thread *thread, const struct overhead_mark *mark,
			enum overhead_kind kind, uint64_t *rest_ns)
{
	if (thread)
		return leave(&thread->overhead, thread, mark, kind, rest_ns);
	*rest_ns = 0;
	if (atomic_exchange(&nobodys_taken, true)) /* of two at once one is not counted */
		return 0;
	uint64_t cost_ns = leave(&nobodys, NULL, mark, kind, rest_ns);

	atomic_store(&nobodys_taken, false);
	return cost_ns;
}

void overhead_thread_end(struct thread *thread)
{
	struct overhead_account *account = &thread->overhead;

	if (!account->left_ns) /* there was no signal */
		return;
	settle(account, clock_own_cpu_ns(), OVERHEAD_TICK);
	atomic_fetch_add(&left_behind_ns, account->debt_ns);
}

void overhead_raised_interval(void)
{
	atomic_fetch_add_explicit(&rests, 1, memory_order_relaxed);
}

void overhead_limited(void)
{
	atomic_fetch_add_explicit(&rests, 1, memory_order_relaxed);
	atomic_store_explicit(&limited_until_ns, clock_now_ns() + LASTS_NS, memory_order_relaxed);
}

void overhead_warn(void)
{
	uint32_t expected = WORDS_NONE;

	if (!atomic_load_explicit(&rests, memory_order_relaxed) ||
	    !atomic_compare_exchange_strong(&words, &expected, WORDS_BEING_SAID))
		return;
	log_warning("measuring took more than --max-overhead allows: events come at longer "
		    "intervals where it does",
		    0);
	atomic_store(&words, WORDS_SAID);
}

void overhead_warn_before_close(void)
{
	uint32_t expected = WORDS_NONE;

	overhead_warn();
	atomic_compare_exchange_strong(&words, &expected, WORDS_SAID);
	while (atomic_load(&words) != WORDS_SAID)
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

bool overhead_is_limited(void)
{
	return is_limited(clock_now_ns());
}

bool overhead_has_rested(void)
{
	return atomic_load(&rested_ns);
}

void overhead_log(struct text *line)
{
	uint64_t traced = traced_time_ns(), cpu = traced ? collector_cpu_ns() : 0;

	text_attribute_decimal(line, "overhead_ns", (int64_t)atomic_load(&taken_ns));
	text_attribute_decimal(line, "ticks", (int64_t)atomic_load(&ticks));
	text_attribute_decimal(line, "delivery_ns", (int64_t)atomic_load(&tick_delivery_ns));
	if (traced) { /* measured by elapsed time, of some of the calls: it can come to more */
		text_attribute_decimal(line, "traced_ns", (int64_t)(traced < cpu ? traced : cpu));
		text_attribute_decimal(line, "traced_of_ns", (int64_t)cpu);
	}
	/* An interval that was raised before the first tick is no limit where none came. */
	if (!atomic_load(&rests) || !atomic_load(&taken_ns))
		return;
	text_attribute_decimal(line, "limited", (int64_t)atomic_load(&rests));
	text_attribute_decimal(line, "max_overhead", (int64_t)percent);
}

/* ---- rests of the whole process ---- */

static char helper_stack[HELPER_STACK] __attribute__((aligned(16)));

static void switch_on(void)
{
	atomic_store(&switching, 1);
	if (!atomic_load(&held))
		switch_events(true);
	atomic_store(&switching, 0);
}

/* Until the phase is another one, or for so long. */
static void wait_in(uint32_t known, uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
				      .tv_nsec = (long)(ns % 1000000000u)};

	sys_call(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, known, &time);
}

static void wake(void)
{
	sys_call(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, INT32_MAX, 0);
}

static void change(enum phase to)
{
	atomic_store(&phase, to);
	wake();
}

static void help_resting(void)
{
	uint64_t now_ns = clock_now_ns(), until_ns = atomic_load(&rest_until_ns);

	if (now_ns < until_ns && !atomic_load(&ending)) {
		wait_in(RESTING, until_ns - now_ns);
		return;
	}
	atomic_store(&phase, SWITCHING);
	switch_on();
	change(NONE);
	overhead_warn(); /* after that: the program's descriptors may all be in use */
}

/* A thread for each rest: the program may give its threads another descriptor table in between. */
static void help(void)
{
	while (atomic_load(&phase) == RESTING)
		help_resting();
	rawthread_exit(&alive);
}

static void begin_rest(uint64_t ns)
{
	uint64_t begin_ns = clock_now_ns();

	if (atomic_exchange(&alive, 1)) { /* the last one is just going */
		change(NONE);
		sys_nap(NAP_NS);
		return;
	}
	switch_events(false);
	atomic_store(&rest_until_ns, clock_now_ns() + ns);
	change(RESTING);
	int tid = rawthread_start(help, helper_stack, sizeof(helper_stack), false);
	uint64_t took_ns = clock_now_ns() - begin_ns;

	/* Switching takes its time, too, with many threads, and starting one. */
	took_ns = took_ns < SWITCH_MOST_NS ? took_ns : SWITCH_MOST_NS;
	atomic_fetch_add_explicit(&taken_ns, took_ns, memory_order_relaxed);
	atomic_fetch_add(&rest_until_ns, overhead_time_for(took_ns));

	/* Switched on at once they would leave the program no time: see overhead_end_rest. */
	if (tid < 0)
		atomic_store(&alive, 0);
	process_cpu_note(PROCESS_CPU_RESTS, tid, &alive);
	atomic_fetch_add(&rested_ns, ns);
	overhead_limited();
}

void overhead_end_rest(void)
{
	uint32_t before = RESTING;

	if (atomic_load_explicit(&phase, memory_order_relaxed) != RESTING || atomic_load(&alive) ||
	    clock_now_ns() < atomic_load(&rest_until_ns) ||
	    !atomic_compare_exchange_strong(&phase, &before, SWITCHING))
		return;
	switch_on();
	change(NONE);
}

void overhead_rest(uint64_t ns)
{
	uint32_t before = NONE;

	if (atomic_load(&barred) || !atomic_compare_exchange_strong(&phase, &before, PREPARING))
		return;
	if (!holder_holds()) {
		begin_rest(ns);
		return;
	}
	atomic_store(&phase, KEPT); /* before the holder can be done with it */
	if (!holder_rest(ns)) {
		overhead_rested();
		return;
	}
	atomic_fetch_add(&rested_ns, ns);
	overhead_limited();
}

bool overhead_rests(void)
{
	uint32_t now = atomic_load_explicit(&phase, memory_order_relaxed);

	/* Who switches may have no processor: ours would take ticks instead, and get nowhere, for
	 * as long as its own lasts. */
	if (now == PREPARING || now == SWITCHING)
		wait_in(now, SWITCH_WAIT_NS);
	return now != NONE;
}

bool overhead_is_resting(void)
{
	return atomic_load(&phase) == RESTING;
}

void overhead_rested(void)
{
	uint32_t expected = KEPT;

	atomic_compare_exchange_strong(&phase, &expected, NONE);
}

void overhead_hold(void)
{
	atomic_store(&held, true);
	while (atomic_load(&switching) || atomic_load(&phase) == PREPARING)
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

void overhead_release(void)
{
	atomic_store(&held, false);
}

void overhead_stop(void)
{
	uint32_t without_thread = RESTING;

	atomic_store(&barred, true);
	atomic_store(&ending, true);
	while (atomic_load(&alive)) {
		wake();
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	atomic_compare_exchange_strong(&phase, &without_thread, NONE);
	process_cpu_note(PROCESS_CPU_RESTS, 0, &alive);
	atomic_store(&ending, false);
}

void overhead_allow(void)
{
	atomic_store(&barred, false);
}

void overhead_forget(void)
{
	atomic_store(&phase, NONE);
	atomic_store(&alive, 0);
	process_cpu_note(PROCESS_CPU_RESTS, 0, &alive);
	atomic_store(&switching, 0);
	atomic_store(&held, false);
	atomic_store(&barred, false);
	atomic_store(&ending, false);
}
