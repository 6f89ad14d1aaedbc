/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that move to another root or namespace.
 *
 * The way to the experiment is kept open before its paths change their meaning.  The kernel lets
 * only a process of one thread enter a user namespace, or one that shares its root with nobody
 * a mount namespace: a thread of ours steps aside for the call.
 */
#include "collector/core/core.h"
#include "collector/core/file.h"
#include "collector/core/rawthread.h"
#include "collector/core/sys.h"
#include "collector/sources/clock.h"
#include "collector/sources/overhead.h"
#include "collector/wrap/descriptor.h"
#include "collector/wrap/next.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

static void keep(const char *path, _Atomic int *place)
{
	if (atomic_load(place) >= 0)
		return;
	int fd = sys_open(path, O_PATH | O_DIRECTORY, 0);

	if (fd >= 0)
		descriptor_hold(fd, place);
}

void namespace_keep_place(void)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return;
	keep(collector.founder, &file_place);
	keep("/proc", &file_proc);
	monitor_engine_wait_until_looking();
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

	if (flags & CLONE_NEWNS)
		namespace_keep_place();
	bool aside = alone && namespace_step_aside();
	int result = NEXT(unshare)(flags);

	namespace_come_back(aside);
	return result;
}

COLLECTOR_EXPORT int setns(int fd, int kind)
{
	namespace_keep_place();
	bool aside = namespace_step_aside();
	int result = NEXT(setns)(fd, kind);

	namespace_come_back(aside);
	return result;
}

COLLECTOR_EXPORT int chroot(const char *path)
{
	namespace_keep_place();
	return NEXT(chroot)(path);
}
