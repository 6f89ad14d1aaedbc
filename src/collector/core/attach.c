/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `helio attach` calls in a program that runs already (format/attach.h).
 *
 * The functions run in a thread that is stopped somewhere in the program, on a
 * stack of the attacher's, with all signals blocked.  Nothing may wait for
 * another thread here, and no event may fire before this thread is let go: it would
 * end the system call that it is in.  So the holder opens them, later.
 *
 * The states of threads stay theirs from one recording to the next: a thread knows
 * its own by a variable of its own, which nobody else can clear.
 */
#include "collector/core/attach.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/loss.h"
#include "collector/core/profile_source.h"
#include "collector/core/signals.h"
#include "collector/core/stack.h"
#include "collector/core/start.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/attach.h"

static int32_t attacher;
static const struct attach_runtime *runtime; /* or NULL */

void attach_set_runtime(const struct attach_runtime *known)
{
	runtime = known;
}

/* False: a later call will do; but one that does not end must not keep the recording from it. */
static bool end_runtime(void)
{
	enum { TRIES = 100 };
	static unsigned tries;

	tries = runtime && !runtime->end() ? tries + 1 : 0;
	return tries % TRIES == 0;
}

/* Threads that are becoming another program, and that the recording is being ended: either waits
 * for the other, as both take the recording apart. */
static _Atomic uint32_t execs;
static _Atomic bool ending;

bool attach_is_abandoned(void)
{
	return sys_call(SYS_kill, attacher, 0, 0, 0) == -ESRCH;
}

static void announce(int tid, void *dir)
{
	thread_announce(tid, *(int *)dir);
}

static void announce_threads(void)
{
	int dir = tasks_open();

	if (!tasks_are_open(dir))
		return;
	tasks_for_each(dir, announce, &dir);
	if (dir >= 0)
		sys_close(dir);
}

/* Of a recording that has begun; a runtime's thread must not wait for another begin. */
static int64_t give_up(void)
{
	collector_terminate();
	if (runtime)
		runtime->end();
	return -ENOMEM;
}

static int64_t begin(const char *words, int64_t from)
{
	if (runtime && !runtime->ended())
		return -EBUSY;
	int result = collector_begin_late(words);

	if (result)
		return result;
	attacher = (int32_t)from;
	atomic_store(&collector.met, 0);
	if (runtime)
		runtime->begin();
	announce_threads();
	bool ready = profile_source.prepare_late();

	atomic_store(&collector.recording, true);
	return ready && profile_source.start_late(sys_gettid()) ? 0 : give_up();
}

/* The calling thread's wait, or work, up to now belongs to where it was interrupted. */
static void settle_interrupted(uint64_t pc, uint64_t sp)
{
	struct thread *thread = thread_current();

	if (!thread)
		return;
	thread_lock(thread);
	profile_source.settle_locked(thread, stack_of_blocked(thread, pc, sp));
	thread_unlock(thread);
}

static int64_t end_recording(uint64_t pc, uint64_t sp)
{
	if (atomic_load(&execs))
		return -EAGAIN;
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return -ESRCH;
	if (!end_runtime())
		return -EAGAIN;
	loss_look(); /* nobody could mend it: this thread has all signals blocked */
	settle_interrupted(pc, sp);
	collector_terminate();
	collector.tracking = false;
	return 0;
}

static int64_t end(uint64_t pc, uint64_t sp)
{
	atomic_store(&ending, true);
	int64_t result = end_recording(pc, sp);

	atomic_store(&ending, false);
	return result;
}

static int64_t release(void)
{
	if (!collector_is_ours() || atomic_load(&collector.recording))
		return -EBUSY;
	if (runtime && !runtime->ended()) /* it may be looking at stacks */
		return -EBUSY;
	signal_give_back();
	collector_drop_files(false);
	return 0;
}

/* ---- masks ---- */

static int64_t believe(int64_t tid, int64_t set)
{
	struct thread *thread = thread_find((int)tid);

	if (!tid) {
		log_warning("threads that block signals 5 and 63 have no call stacks, since the C "
			    "library's pthread_sigmask is not known: start the program with "
			    "helio collect",
			    0);
		return 0;
	}
	return thread && signal_believe(thread, (uint64_t)set) ? 0 : -ESRCH;
}

static int64_t disbelieve(int64_t tid)
{
	struct thread *thread = thread_find((int)tid);

	return thread ? (int64_t)signal_disbelieve(thread) : 0;
}

static int raw_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)-sys_call(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

/* As the C library's function does it, which blocks none of its own two signals. */
static int quiet_sigmask(int how, const uint64_t *set, uint64_t *old)
{
	const uint64_t own = FORMAT_SIGNAL_BIT(SIGNAL_MARK) | FORMAT_SIGNAL_BIT(SIGNAL_MARK - 1);
	sigset_t theirs = {{set ? *set & ~own : 0}}, before = {{0}};

	if (!collector_is_ours()) /* a child, on our memory or not: for the program that it becomes
				   */
		return raw_sigmask(how, set ? &theirs : NULL, (sigset_t *)old);
	if (!atomic_load(&collector.recording))
		signal_make_real();
	int result = signal_change_mask(how, set ? &theirs : NULL, &before, raw_sigmask);

	if (!result && old)
		*old = before.__val[0];
	return result;
}

/* ---- exec, which an event must not meet ---- */

/* Not in a child on our memory, which may never come back to count itself off. */
static bool begin_exec(void)
{
	if (!collector_is_ours())
		return false;
	atomic_fetch_add(&execs, 1);
	while (atomic_load(&ending)) {
		atomic_fetch_sub(&execs, 1);
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
		atomic_fetch_add(&execs, 1);
	}
	return true;
}

static int exec_quietly(long number, const char *name, long a, long b, long c, long d, long e)
{
	bool ours = begin_exec(), recording = ours && atomic_load(&collector.recording);
	char room[PATH_MAX_HERE];
	struct text line = TEXT_ON(room);

	if (recording) {
		thread_current(); /* knows what it believes to be blocked */
		uint64_t now_ns = collector_suspend();

		log_event_begin_at(&line, "exec", now_ns);
		text_attribute(&line, "name", name);
		log_event_end(&line);
	} else {
		signal_make_real();
	}
	long result = sys_call6(number, a, b, c, d, e, 0);

	if (recording) {
		collector_exec_failed();
		log_event_begin(&line, "exec_failed");
		text_attribute_decimal(&line, "errno", -result);
		log_event_end(&line);
	}
	if (ours)
		atomic_fetch_sub(&execs, 1);
	errno = (int)-result;
	return -1;
}

static int quiet_execve(const char *path, char *const argv[], char *const env[])
{
	return exec_quietly(SYS_execve, path, SYS_ARG(path), SYS_ARG(argv), SYS_ARG(env), 0, 0);
}

static int quiet_execveat(int dir, const char *path, char *const argv[], char *const env[],
			  int flags)
{
	return exec_quietly(SYS_execveat, path, dir, SYS_ARG(path), SYS_ARG(argv), SYS_ARG(env),
			    flags);
}

COLLECTOR_EXPORT const struct format_attach helio_collector_attach_3 = {
	.begin = begin,
	.end = end,
	.release = release,
	.believe = believe,
	.disbelieve = disbelieve,
	.recording = &collector.recording,
	.sigmask = quiet_sigmask,
	.execve = quiet_execve,
	.execveat = quiet_execveat,
	.create = thread_create_entered,
	.created = &thread_create_goes_on,
};
