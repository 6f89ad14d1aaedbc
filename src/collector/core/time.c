/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/time.h"

#include "collector/arch/sys.h"

#include <time.h>

uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* the vDSO: no system call */
	return time_spec_ns(&now);
}

uint64_t clock_own_cpu_ns(void)
{
	struct timespec cpu = {0};

	sys_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu, 0, 0);
	return time_spec_ns(&cpu);
}
