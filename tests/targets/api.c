/* SPDX-License-Identifier: Apache-2.0 */
/* Speaks to the collector: 0.25 s seen, 0.25 s while paused, 0.15 s seen, 0.15 s after the end. */
#include "target.h"

#ifdef API_WEAK
#include <heliometer/libcollector.h>
#else
#include <heliometer/collectorAPI.h>
#endif

static volatile unsigned long sink;

static NOINLINE void seen(double seconds)
{
	for (double end = cpu_now() + seconds; cpu_now() < end;)
		for (int i = 0; i < 100000; i++)
			sink = sink * 3 + 1;
}

static NOINLINE void hidden(double seconds)
{
	for (double end = cpu_now() + seconds; cpu_now() < end;)
		for (int i = 0; i < 100000; i++)
			sink = sink * 5 + 1;
}

int main(void)
{
	seen(0.25);
	collector_sample("middle");
	collector_pause();
	hidden(0.25);
	collector_resume();
	seen(0.15);
	collector_terminate_expt();
	collector_sample("too late");
	hidden(0.15);
	printf("cpu %.6f\n", cpu_now());
	return 0;
}
