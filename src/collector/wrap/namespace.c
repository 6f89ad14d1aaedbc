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
#include "collector/core/sys.h"
#include "collector/sources/clock.h"
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

bool namespace_step_aside(void)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return false;
	if (collector.engine == ENGINE_PERF)
		perf_engine_wait_for_thread();
	if (collector.engine != ENGINE_MONITOR)
		return false;
	monitor_engine_stop();
	return true;
}

void namespace_come_back(bool aside)
{
	int error = errno;

	if (aside && !monitor_engine_take_over())
		collector.engine = ENGINE_NONE;
	errno = error;
}

COLLECTOR_EXPORT int unshare(int flags)
{
	bool alone = flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM);

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
