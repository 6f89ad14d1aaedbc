/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that the program has awaited: when and how they ended stands in the log, for those
 * that could not say so themselves.  May be called in a handler of the program.
 */
#include "collector/core/core.h"
#include "collector/core/text.h"
#include "collector/wrap/lineage.h"
#include "collector/wrap/next.h"

#include <errno.h>
#include <sys/wait.h>

static void log_end(pid_t pid, int64_t status, int64_t signal)
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
	log_event_end(&line);
	errno = error;
}

/* A call that returned `pid`, with its status, as far as the caller wants one. */
static pid_t reaped(pid_t pid, const int *status)
{
	if (pid > 0 && WIFEXITED(*status))
		log_end(pid, WEXITSTATUS(*status), 0);
	else if (pid > 0 && WIFSIGNALED(*status))
		log_end(pid, 0, WTERMSIG(*status));
	return pid;
}

COLLECTOR_EXPORT pid_t wait(int *status)
{
	int own;
	int *to = status ? status : &own;

	return reaped(NEXT(wait)(to), to);
}

COLLECTOR_EXPORT pid_t waitpid(pid_t which, int *status, int options)
{
	int own;
	int *to = status ? status : &own;

	return reaped(NEXT(waitpid)(which, to, options), to);
}

COLLECTOR_EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	int own;
	int *to = status ? status : &own;

	return reaped(NEXT(wait3)(to, options, usage), to);
}

COLLECTOR_EXPORT pid_t wait4(pid_t which, int *status, int options, struct rusage *usage)
{
	int own;
	int *to = status ? status : &own;

	return reaped(NEXT(wait4)(which, to, options, usage), to);
}

COLLECTOR_EXPORT int waitid(idtype_t kind, id_t which, siginfo_t *info, int options)
{
	int result = NEXT(waitid)(kind, which, info, options);

	if (result || !info || !info->si_pid || options & WNOWAIT)
		return result;
	if (info->si_code == CLD_EXITED)
		log_end(info->si_pid, info->si_status, 0);
	else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
		log_end(info->si_pid, 0, info->si_status);
	return result;
}
