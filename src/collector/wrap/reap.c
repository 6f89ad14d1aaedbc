/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that the program has awaited: when and how they ended, and what CPU time they and
 * those that they awaited used, stands in the log, for those that could not say so themselves.
 * May be called in a handler of the program.
 *
 * A tracer awaits each thread that it traces, too, and is told what that thread's whole process has
 * used.  Only what children of its own have used is added to what the kernel says of its children.
 */
#include "collector/arch/sys.h"
#include "collector/core/child_io.h"
#include "collector/core/lineage.h"
#include "collector/core/log.h"
#include "collector/core/next_functions.h"
#include "collector/core/wrappers.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

/* usage NULL: not known. */
static void log_end(pid_t pid, int64_t status, int64_t signal, const struct rusage *usage)
{
	char room[256];
	struct text line = TEXT_ON(room);
	uint64_t now_ns = lineage_following() && collector_is_ours() ? lineage_log_time_ns() : 0;
	int error = errno;

	if (!now_ns)
		return;
	log_event_begin_at(&line, "reaped", now_ns);
	text_attribute_decimal(&line, "pid", pid);
	text_attribute_decimal(&line, "status", status);
	text_attribute_decimal(&line, "signal", signal);
	if (usage)
		lineage_put_usage(&line, "", usage);
	log_event_end(&line);
	errno = error;
}

/* Calls that await children: how many have begun, and have ended. */
static _Atomic uint32_t begun, ended;

/* Of a tracer: what its own children have used that it has awaited. */
static void read_children(struct rusage *usage)
{
	*usage = (struct rusage){0};
	if (tracer_is_one())
		sys_call(SYS_getrusage, RUSAGE_CHILDREN, usage, 0, 0);
}

static bool has_time(const struct timeval *user, const struct timeval *system)
{
	return timerisset(user) || timerisset(system);
}

/* Whether it was no child of the program's, but traced by it. */
static bool is_anothers(const struct rusage *before, const struct rusage *used)
{
	struct rusage now;

	if (!tracer_is_one() || !has_time(&used->ru_utime, &used->ru_stime))
		return false;
	read_children(&now);
	timersub(&now.ru_utime, &before->ru_utime, &now.ru_utime);
	timersub(&now.ru_stime, &before->ru_stime, &now.ru_stime);
	return !has_time(&now.ru_utime, &now.ru_stime);
}

/* wait4 tells the same as the others and what the child has used. */
static pid_t reap(pid_t which, int *status, int options, struct rusage *usage)
{
	struct rusage own_usage, before;
	int own_status;
	int *result = status ? status : &own_status;
	struct rusage *used = usage ? usage : &own_usage;

	child_io_before_wait();
	read_children(&before);
	atomic_fetch_add(&begun, 1);
	pid_t pid = NEXT(wait4)(which, result, options, used);

	atomic_fetch_add(&ended, 1);
	if (pid <= 0 || is_anothers(&before, used))
		return pid;
	if (WIFEXITED(*result))
		log_end(pid, WEXITSTATUS(*result), 0, used);
	else if (WIFSIGNALED(*result))
		log_end(pid, 0, WTERMSIG(*result), used);
	return pid;
}

COLLECTOR_EXPORT pid_t wait(int *status)
{
	return reap(-1, status, 0, NULL);
}

COLLECTOR_EXPORT pid_t waitpid(pid_t which, int *status, int options)
{
	return reap(which, status, options, NULL);
}

COLLECTOR_EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	return reap(-1, status, options, usage);
}

COLLECTOR_EXPORT pid_t wait4(pid_t which, int *status, int options, struct rusage *usage)
{
	return reap(which, status, options, usage);
}

/*
 * libc's waitid does not tell what the child has used; what all children have used, before and
 * after, does, where no other call awaits one at the same time.
 */
COLLECTOR_EXPORT int waitid(idtype_t kind, id_t which, siginfo_t *info, int options)
{
	struct rusage before, used;

	child_io_before_wait();
	uint32_t call = atomic_fetch_add(&begun, 1) + 1;
	bool alone = atomic_load(&ended) == call - 1;

	sys_call(SYS_getrusage, RUSAGE_CHILDREN, &before, 0, 0);
	int result = NEXT(waitid)(kind, which, info, options);

	atomic_fetch_add(&ended, 1);
	sys_call(SYS_getrusage, RUSAGE_CHILDREN, &used, 0, 0);
	alone &= atomic_load(&begun) == call;
	if (result || !info || !info->si_pid || options & WNOWAIT)
		return result;
	timersub(&used.ru_utime, &before.ru_utime, &used.ru_utime);
	timersub(&used.ru_stime, &before.ru_stime, &used.ru_stime);
	if (info->si_code == CLD_EXITED)
		log_end(info->si_pid, info->si_status, 0, alone ? &used : NULL);
	else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
		log_end(info->si_pid, 0, info->si_status, alone ? &used : NULL);
	return result;
}
