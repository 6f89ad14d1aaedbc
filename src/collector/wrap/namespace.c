/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that move to another root or namespace.
 *
 * Before its paths change their meaning a socket to the launcher is opened, which then opens files
 * for us: a descriptor of a directory would lead out of a jail.  None is held from there on, by our
 * threads neither; they end for the call.  The kernel asks for that too: only a process of one
 * thread enters a user namespace, or one that shares its root with nobody a mount namespace.
 */
#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/next_functions.h"
#include "collector/core/rawthread.h"
#include "collector/core/time.h"
#include "collector/core/wrappers.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/hold_signals.h"
#include "collector/sources/overhead.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

void namespace_prepare_to_move(void)
{
	if (file_has_moved())
		return;
	int result = file_reach_launcher();

	if (result < 0)
		log_warning("the program is about to move its root, from where helio cannot be "
			    "asked for files: what it and its children do there is not recorded",
			    -result);
	file_moves();
}

bool namespace_before_move(void)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return false;
	namespace_prepare_to_move();
	return namespace_step_aside();
}

/* Whose turn it is to send our threads away: its number, or 0. */
static _Atomic int32_t aside_by;
static bool monitor_is_aside;

/* False: a handler has interrupted the call that has the turn, or whoever has it does not end. */
static bool take_turn(void)
{
	enum { PATIENCE_NS = 1000 * 1000 * 1000 };
	int32_t own = sys_gettid(), found = 0;
	uint64_t since_ns = 0;

	while (!atomic_compare_exchange_strong(&aside_by, &found, own)) {
		uint64_t now_ns = clock_now_ns();

		since_ns = since_ns ? since_ns : now_ns;
		if (found == own || now_ns - since_ns > PATIENCE_NS)
			return false;
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
		found = 0;
	}
	return true;
}

bool namespace_step_aside(void)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours() || !take_turn())
		return false;
	rawthread_forbid(true); /* the waiting below may be too many switches */
	hold_signals_begin();
	overhead_stop();
	if (collector.engine == ENGINE_PERF)
		perf_engine_wait_for_thread();
	monitor_is_aside = collector.engine == ENGINE_MONITOR;
	if (monitor_is_aside)
		monitor_engine_stop();
	rawthread_wait_gone();
	return true;
}

void namespace_come_back(bool aside)
{
	int error = errno;

	if (!aside)
		return;
	rawthread_forbid(false);
	overhead_allow();
	if (monitor_is_aside && !monitor_engine_take_over())
		collector.engine = ENGINE_NONE;
	hold_signals_end();
	atomic_store(&aside_by, 0);
	errno = error;
}

void namespace_forget(void)
{
	atomic_store(&aside_by, 0);
}

COLLECTOR_EXPORT int unshare(int flags)
{
	/* A thread of ours would keep the table of before, which holds open what the program
	 * closes, and in which it does not find what is moved later. */
	bool alone =
		flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_FILES);
	bool aside = false;

	if (flags & CLONE_NEWNS)
		aside = namespace_before_move();
	else if (alone)
		aside = namespace_step_aside();
	int result = NEXT(unshare)(flags);

	namespace_come_back(aside);
	return result;
}

COLLECTOR_EXPORT int setns(int fd, int kind)
{
	bool aside = namespace_before_move();
	int result = NEXT(setns)(fd, kind);

	namespace_come_back(aside);
	return result;
}

COLLECTOR_EXPORT int chroot(const char *path)
{
	bool aside = namespace_before_move();
	int result = NEXT(chroot)(path);

	namespace_come_back(aside);
	return result;
}
