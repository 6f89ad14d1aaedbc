/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/session/watch.h"

#include <time.h>

static const uint64_t pause_ns = 100000000; /* between two calls of tell() */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool watch_tell(struct watch *watch, double done)
{
	uint64_t now;

	if (!watch || watch->cancelled)
		return !watch;
	now = now_ns();
	if (now - watch->told_ns < pause_ns)
		return true;
	watch->told_ns = now;
	watch->cancelled = !watch->tell(watch->data, done);
	return !watch->cancelled;
}
