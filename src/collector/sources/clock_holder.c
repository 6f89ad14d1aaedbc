/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holder: a raw thread in a program that was attached to.
 *
 * Threads that ran before need perf events of their own, two descriptors each.
 * The holder opens and holds them in a descriptor table of its own, where the program neither
 * sees them nor misses the numbers.  What must be done to all of them (nothing may
 * fire during exec; too many switches) others ask of it by a word in memory.
 *
 * It begins when nobody traces the thread any more that was made to start it:
 * an event there would end the system call that the thread was interrupted in.  It
 * also sees to what nobody else does: threads that have ended without a
 * word, and an attacher that was killed.
 */
#include "collector/sources/clock_holder.h"

#include "collector/arch/sys.h"
#include "collector/core/attach.h"
#include "collector/core/log.h"
#include "collector/core/rawthread.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/sources/clock_engine.h"
#include "collector/sources/clock_event.h"
#include "collector/sources/clock_holder_requests.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/clock_phase.h"
#include "collector/sources/clock_signals.h"
#include "collector/sources/clock_watch.h"
#include "collector/sources/overhead.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <linux/futex.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <time.h>

enum {
	STACK = 32 * 1024,
	HELD_MAX = 1 << 15,
	ROUNDS = 8,		    /* of looking for threads that began meanwhile */
	UNTRACED_TRIES = 10 * 1000, /* of a millisecond */
	WATCH_NS = 200 * 1000 * 1000,
	ENDS_ALONE = 2, /* so many times in a row no other thread was left */
};

/* The events of one thread. */
struct held {
	int tid;
	int tick, change;
};

static int tracee;
static uint32_t alone;
static const char *harm;  /* of perf events in this program */
static struct held *held; /* HELD_MAX, mapped */
static uint32_t held_count;
static char stack[STACK] __attribute__((aligned(16)));

/* ---- events ---- */

/* tick: else those of switches. */
static void switch_some(bool tick, unsigned long request)
{
	for (uint32_t i = 0; i < held_count; i++)
		sys_ioctl(tick ? held[i].tick : held[i].change, request, 0);
}

static void drop_all(void)
{
	atomic_store(&holding.held, false);
	overhead_rested();
	for (uint32_t i = 0; i < held_count; i++) {
		sys_close(held[i].change);
		sys_close(held[i].tick);
	}
	held_count = 0;
}

static bool is_held(int tid)
{
	for (uint32_t i = 0; i < held_count; i++)
		if (held[i].tid == tid)
			return true;
	return false;
}

struct round {
	uint32_t fresh;
	int error; /* 0, or a negative errno: these events cannot be had */
};

static int open_event(int tid, uint64_t event)
{
	return clock_event_open(tid, event, collector.interval_ns);
}

/* A thread that began after one that holds events has them already; two sets only cost more. */
static void hold(int tid, void *arg)
{
	struct round *round = arg;

	if (round->error || tid == sys_gettid() || is_held(tid))
		return;
	if (held_count == HELD_MAX) {
		round->error = -EMFILE;
		return;
	}
	struct held fresh = {.tid = tid, .change = open_event(tid, PERF_EVENT_SWITCH)};

	fresh.tick = fresh.change < 0 ? fresh.change : open_event(tid, PERF_EVENT_TICK);
	if (fresh.tick >= 0) {
		held[held_count++] = fresh;
		round->fresh++;
		return;
	}
	if (fresh.change >= 0)
		sys_close(fresh.change);
	if (fresh.tick != -ESRCH)
		round->error = fresh.tick;
}

/* Every thread there is, until no new one comes. 0, or a negative errno. */
static int hold_all(int dir)
{
	struct round round = {.fresh = 1};

	if (!held)
		held = sys_mmap(HELD_MAX * sizeof(*held), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!held)
		return -ENOMEM;
	held_count = 0;
	for (int i = 0; i < ROUNDS && round.fresh && !round.error; i++) {
		round.fresh = 0;
		tasks_for_each(dir, hold, &round);
	}
	return round.error;
}

/* ---- the thread ---- */

static bool is_off(void)
{
	return atomic_load(&holding.fulfilled) & 1;
}

static void fulfil_switch(void)
{
	uint32_t request = atomic_load(&holding.requested);
	unsigned long change = request & 1 ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;

	if (request == atomic_load(&holding.fulfilled))
		return;
	switch_some(false, change);
	switch_some(true, change);
	atomic_store(&holding.fulfilled, request);
	holding_wake(&holding.fulfilled);
}

/*
 * Until nobody traces the thread, and none is in an exec, which takes its events into the new
 * program. False: the recording is over before it has begun.
 */
static bool await_begin(void)
{
	for (int i = 0; is_off() || (i < UNTRACED_TRIES && task_is_traced(tracee)); i++) {
		uint32_t wished = atomic_fetch_and(&holding.wishes, ~(uint32_t)HOLDING_SWITCH);

		if (wished & HOLDING_END)
			return false;
		fulfil_switch();
		holding_wait(&holding.wishes, 0, 1000 * 1000);
	}
	return true;
}

static void start_events(int dir)
{
	char room[128] = "";
	struct text reason = TEXT_ON(room);
	enum engine asked = collector.engine;
	int error = 0;

	if (!await_begin())
		return;
	if (asked == ENGINE_PERF && !harm)
		error = hold_all(dir);
	if (harm) {
		text_puts(&reason, harm);
	} else if (error) {
		drop_all();
		text_puts(&reason, "perf_event_open: errno ");
		text_decimal(&reason, -error);
	}
	if (asked == ENGINE_PERF && !harm && !error)
		atomic_store(&holding.held, true);
	else if (asked != ENGINE_NONE && !monitor_engine_take_over())
		collector.engine = ENGINE_NONE;
	engine_log(asked, room);
	atomic_store(&holding.starting, false);
	watch_waits(); /* those that had begun */
}

static void bury_if_gone(struct thread *thread, void *unused)
{
	int tid = atomic_load(&thread->tid);

	(void)unused;
	if (sys_call(SYS_tgkill, atomic_load(&collector.pid), tid, 0, 0) == -ESRCH)
		thread_drop_ended(thread, tid);
}

/* False: nobody wants the recording any more, or there is nothing to record. */
static bool watch(int dir)
{
	thread_for_each(bury_if_gone, NULL);
	alone = rawthread_only_ours_are_left(dir) ? alone + 1 : 0;
	if (alone == ENDS_ALONE) {
		monitor_engine_stop();
		return false;
	}
	if (!attach_is_abandoned())
		return true;
	log_warning("helio attach was killed: the recording ends here", 0);
	atomic_store(&collector.recording, false);
	collector.tracking = false;
	monitor_engine_stop();
	return false;
}

/* Moments at which something ends; 0: it is not under way. */
struct ends {
	uint64_t switch_pause_ns, rest_ns;
};

static bool is_over(uint64_t *end_ns, uint64_t now_ns)
{
	if (!*end_ns || now_ns < *end_ns)
		return false;
	*end_ns = 0;
	return true;
}

static void fulfil(uint32_t wished, struct ends *ends, uint64_t now_ns)
{
	fulfil_switch();
	if (wished & HOLDING_SWITCH_PAUSE) {
		switch_some(false, PERF_EVENT_IOC_DISABLE);
		ends->switch_pause_ns = now_ns + HOLDING_SWITCH_PAUSE_NS;
	}
	if (wished & HOLDING_REST) {
		switch_some(true, PERF_EVENT_IOC_DISABLE);
		ends->rest_ns = clock_now_ns() + atomic_load(&holding.rest_ns);
		overhead_warn();
	}
	if (is_over(&ends->switch_pause_ns, now_ns)) {
		if (!is_off())
			switch_some(false, PERF_EVENT_IOC_ENABLE);
		perf_engine_switches_resumed();
		watch_waits();
	}
	if (is_over(&ends->rest_ns, now_ns)) {
		if (!is_off())
			switch_some(true, PERF_EVENT_IOC_ENABLE);
		overhead_rested();
	}
	if (wished & HOLDING_DROP)
		drop_all();
}

/* How long to wait for wishes. */
static uint64_t patience(const struct ends *ends)
{
	uint64_t now_ns = clock_now_ns(),
		 wait_ns = ends->switch_pause_ns ? HOLDING_SWITCH_PAUSE_NS : WATCH_NS;

	if (!ends->rest_ns || ends->rest_ns >= now_ns + wait_ns)
		return wait_ns;
	return ends->rest_ns > now_ns ? ends->rest_ns - now_ns : 1;
}

static void keep(int dir)
{
	struct ends ends = {0};
	uint64_t watched_ns = clock_now_ns();

	for (;;) {
		uint64_t now_ns = clock_now_ns();
		uint32_t wished = atomic_exchange(&holding.wishes, 0);

		fulfil(wished, &ends, now_ns);
		if (wished & HOLDING_END)
			return;
		if (now_ns - watched_ns >= WATCH_NS) {
			if (!watch(dir))
				return;
			watched_ns = now_ns;
		}
		rawthread_note_use();
		holding_wait(&holding.wishes, 0, patience(&ends));
	}
}

static void holder(void)
{
	int dir = tasks_open_alone();

	atomic_store(&holding.tid, sys_gettid());
	if (tasks_are_open(dir)) {
		start_events(dir);
		keep(dir);
		drop_all();
	}
	rawthread_exit(&holding.running);
}

bool holder_prepare(void)
{
	phase_forget(); /* call stacks of another experiment */
	phase_prepare();
	return perf_engine_prepare() && monitor_engine_prepare();
}

bool holder_start(int tid)
{
	tracee = tid;
	alone = 0;
	harm = engine_signals_harm();
	atomic_store(&holding.wishes, 0);
	atomic_store(&holding.requested, 0);
	atomic_store(&holding.fulfilled, 0);
	atomic_store(&holding.held, false);
	atomic_store(&holding.starting, true);
	atomic_store(&holding.home, sys_getpid());
	atomic_store(&holding.running, 1);
	int result = rawthread_start(holder, stack, sizeof(stack), true);

	atomic_store(&holding.tid, result);
	if (result < 0)
		atomic_store(&holding.running, 0);
	return result > 0;
}

void holder_forget(void)
{
	atomic_store(&holding.running, 0);
	atomic_store(&holding.held, false);
	held_count = 0;
}
