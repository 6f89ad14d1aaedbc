/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, it makes each look at the monotonic clock a second later than the one before, so that
 * all work is long; and with HASTY_INTERRUPT=N in the environment the Nth look raises SIGINT.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int looks;
	const char *at = getenv("HASTY_INTERRUPT");

	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, time);
	*time = (struct timespec){.tv_sec = 1000 + ++looks};
	if (at && looks == atoi(at))
		raise(SIGINT);
	return 0;
}
