/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program takes its signals by hand.
 *
 * One that waits for it is blocked in the threads that it came to (signal.c), and ours of the same
 * number then wait, too.  They are not shown and not handed out; afterwards the signal is open
 * again.
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/core/time.h"
#include "collector/sources/clock_signals.h"
#include "collector/storage/recording.h"

#include <errno.h>
#include <time.h>

static bool names_ours(const sigset_t *set)
{
	return (sigismember(set, CLOCK_SIGNAL_PERF) == 1 && signal_is_taken(CLOCK_SIGNAL_PERF)) ||
	       (sigismember(set, collector.monitor_signal) == 1 &&
		signal_is_taken(collector.monitor_signal)) ||
	       (sigismember(set, SIGBUS) == 1 && signal_is_taken(SIGBUS));
}

static struct timespec time_until(uint64_t end_ns)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t ns = now_ns < end_ns ? end_ns - now_ns : 0;

	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

/* As `next`, but without ours. */
static int wait_for_theirs(const sigset_t *set, siginfo_t *info, const struct timespec *timeout,
			   signal_wait *next)
{
	uint64_t begin_ns = clock_now_ns();
	struct timespec rest;
	siginfo_t room;
	int number;

	info = info ? info : &room;
	while ((number = next(set, info, timeout)) > 0 && signal_is_our_own(info)) {
		if (!timeout || timeout->tv_sec > INT32_MAX)
			continue;
		if (timeout != &rest)
			begin_ns += (uint64_t)timeout->tv_sec * 1000000000u +
				    (uint64_t)timeout->tv_nsec;
		rest = time_until(begin_ns);
		timeout = &rest;
	}
	signal_open_again();
	return number;
}

int signal_wait_by(const sigset_t *set, siginfo_t *info, const struct timespec *timeout,
		   signal_wait *next)
{
	if (!names_ours(set))
		return next(set, info, timeout);
	return wait_for_theirs(set, info, timeout, next);
}

COLLECTOR_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info,
				  const struct timespec *timeout)
{
	return signal_wait_by(set, info, timeout, NEXT(sigtimedwait));
}

COLLECTOR_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	if (!names_ours(set))
		return NEXT(sigwaitinfo)(set, info);
	return wait_for_theirs(set, info, NULL, NEXT(sigtimedwait));
}

COLLECTOR_EXPORT int sigwait(const sigset_t *set, int *number)
{
	int saved = errno, result;

	if (!names_ours(set))
		return NEXT(sigwait)(set, number);
	do
		result = wait_for_theirs(set, NULL, NULL, NEXT(sigtimedwait));
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	errno = saved;
	*number = result;
	return 0;
}

/* Open for a moment, ours come in, and the program's come back to wait. */
COLLECTOR_EXPORT int sigpending(sigset_t *set)
{
	signal_open_again();
	return NEXT(sigpending)(set);
}
