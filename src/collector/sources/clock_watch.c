/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf engine's waits that raise no switch event: those that began before the event was
 * opened (attach), or while it was off because there had been too many.  Without more, their
 * time would go to the wait that the thread is signalled for next.
 *
 * So whenever switch events come on, a raw thread looks at all threads from outside, as the
 * monitor does: what is blocked in a call gets its time so far with its stack.  It looks again,
 * less and less often, until each of these waits has ended; what passes between the last look
 * and the end is the error that remains.
 */
#include "collector/sources/clock_watch.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/rawthread.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/sources/clock.h"
#include "collector/storage/recording.h"

#include <linux/futex.h>
#include <time.h>

enum {
	WATCH_STACK = 32 * 1024,
	FIRST_NS = 10 * 1000 * 1000,
	LAST_NS = 200 * 1000 * 1000, /* pauses grow by a sixteenth up to this */
	SPARE = 50,		     /* looks take at most one part in so many of the time */
};

static _Atomic unsigned running;
static _Atomic int watcher;	/* its thread id */
static _Atomic uint32_t wishes; /* a futex */
enum { WISH_LOOK = 1, WISH_END = 2 };

static uint64_t rest_until_ns; /* the thread's, and the next one's */

static char watch_stack[WATCH_STACK] __attribute__((aligned(16)));

struct look {
	int dir; /* /proc/self/task */
	bool all;
	uint32_t watched;
};

static void look_at(struct thread *thread, void *arg)
{
	struct look *look = arg;
	struct clock_files files;
	struct clock_remote remote;
	int tid = atomic_load(&thread->tid);

	if (!tid || !(look->all || thread->watched))
		return;
	clock_files_open(&files, look->dir, thread);
	bool seen = clock_look(&files, &remote);

	if (!look->all && remote.slices != thread->clock.remote_slices)
		seen = false; /* it has run */
	seen = seen && (remote.blocked || remote.hidden);
	thread->watched = false;
	if (seen)
		clock_look_status(&files, look->dir, thread, &remote);
	if (seen && thread_try_lock(thread)) {
		if (atomic_load(&thread->tid) == tid &&
		    remote.cpu_ns >= thread->clock.last.cpu_ns) {
			clock_remote_wait(thread, &remote, clock_now_ns());
			thread->watched = thread->clock.remote_stack;
		}
		thread_unlock(thread);
	}
	look->watched += thread->watched;
	clock_files_close(&files);
}

/* Until there is a wish, or for so long. */
static uint32_t wait_for_wish(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
				      .tv_nsec = (long)(ns % 1000000000u)};

	sys_call(SYS_futex, &wishes, FUTEX_WAIT_PRIVATE, 0, &time);
	return atomic_exchange(&wishes, 0);
}

static void look(struct look *look)
{
	uint64_t begin_ns = clock_now_ns();

	look->watched = 0;
	thread_for_each(look_at, look);
	rest_until_ns = begin_ns + SPARE * (clock_now_ns() - begin_ns);
}

static void watch(void)
{
	struct look at = {0};
	uint64_t pause_ns = FIRST_NS;
	uint32_t wished = atomic_exchange(&wishes, 0);

	at.dir = tasks_open_alone();
	while (tasks_are_open(at.dir) && !(wished & WISH_END) && collector.engine == ENGINE_PERF &&
	       atomic_load(&collector.recording)) {
		uint64_t now_ns = clock_now_ns();

		at.all |= wished & WISH_LOOK;
		if (now_ns < rest_until_ns) {
			wished = wait_for_wish(rest_until_ns - now_ns);
			continue;
		}
		pause_ns = at.all ? FIRST_NS : pause_ns;
		look(&at);
		clock_warn_hidden();
		rawthread_note_use();
		at.all = false;
		if (!at.watched)
			break;
		wished = wait_for_wish(pause_ns);
		pause_ns += pause_ns < LAST_NS ? pause_ns / 16 : 0;
	}
	rawthread_exit(&running);
}

static void wish(uint32_t what)
{
	atomic_fetch_or(&wishes, what);
	sys_call(SYS_futex, &wishes, FUTEX_WAKE_PRIVATE, 1, 0);
}

void watch_waits(void)
{
	unsigned expected = 0;

	wish(WISH_LOOK);
	if (!rawthread_may_stay() || !atomic_compare_exchange_strong(&running, &expected, 1))
		return;
	int tid = rawthread_start(watch, watch_stack, sizeof(watch_stack), true);

	atomic_store(&watcher, tid);
	if (tid < 0)
		atomic_store(&running, 0);
}

void watch_stop(void)
{
	while (atomic_load(&running)) {
		wish(WISH_END);
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	atomic_store(&wishes, 0);
	while (atomic_load(&watcher) > 0 &&
	       !sys_call(SYS_tgkill, sys_getpid(), atomic_load(&watcher), 0, 0))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	atomic_store(&watcher, 0);
}

void watch_forget(void)
{
	clock_forget_hidden();
	atomic_store(&watcher, 0);
	atomic_store(&running, 0);
	atomic_store(&wishes, 0);
}
