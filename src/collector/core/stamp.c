/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/stamp.h"

#include "collector/arch/sys.h"
#include "collector/arch/ticks.h"
#include "collector/storage/file.h"
#include "collector/storage/text.h"

#include <fcntl.h>

enum {
	REACH_NS = 1000 * 1000,	      /* the rate is first measured over so long */
	RATE_NS = 1000 * 1000 * 1000, /* … and later anew whenever so much has passed */
	LOOK_TICKS = 2000,	      /* what a look takes; longer: something came in between */
	RATE_CHANGE = 64,	      /* a rate that differs by such a part is none */
	RATE_MAX = 10,		      /* ns per tick, or ticks per ns: no processor has more */
};

bool stamp_trusted;

/* Whether the C library reads the clock without the kernel: by the counter, that is. */
static bool is_read_here(void)
{
	enum { TRIES = 16 };
	uint64_t here = UINT64_MAX, there = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin = arch_ticks();

		clock_now_ns();

		uint64_t middle = arch_ticks();
		struct timespec now;

		sys_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0, 0);

		uint64_t end = arch_ticks();

		here = middle - begin < here ? middle - begin : here;
		there = end - middle < there ? end - middle : there;
	}
	return here < there - there / 4;
}

/*
 * Whether the kernel trusts the counter: it goes at one rate, and alike in all processors.  KVM's
 * clock is the counter as the host corrects it; where the host does not keep the counters alike,
 * the guest's C library has to ask the kernel.  Of a program that ran before, CPUID may be barred.
 */
static bool is_trusted(void)
{
	char name[16] = "";
	int fd = file_open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			   O_RDONLY, 0);

	if (fd < 0)
		return false;
	long got = sys_read(fd, name, sizeof(name) - 1);

	sys_close(fd);
	if (got <= 0)
		return false;
	return text_equal(name, "tsc\n") || (text_equal(name, "kvm-clock\n") && !collector.late &&
					     arch_ticks_are_steady() && is_read_here());
}

void stamp_begin(void)
{
	static bool asked;

	if (!asked)
		stamp_trusted = is_trusted();
	asked = true;
}

/* Measures the rate from `since` to the last look. */
static void set_rate(struct stamp *stamp)
{
	uint64_t ns = stamp->ns - stamp->since_ns, ticks = stamp->ticks - stamp->since_ticks;
	uint64_t scale = ns >> 32 || !ticks ? 0 : (ns << 32) / ticks;
	uint64_t change = scale > stamp->scale ? scale - stamp->scale : stamp->scale - scale;

	/* The counter has jumped. */
	if (scale >> 32 >= RATE_MAX || scale < (UINT64_C(1) << 32) / RATE_MAX ||
	    (stamp->scale && change > stamp->scale / RATE_CHANGE))
		scale = 0;
	stamp->scale = scale;
}

uint64_t stamp_look(struct stamp *stamp)
{
	if (!stamp_trusted)
		return clock_now_ns();
	uint64_t before = arch_ticks();
	uint64_t ns = clock_now_ns();
	uint64_t took = arch_ticks() - before;

	if (took > LOOK_TICKS)
		return ns;
	/* A handler that comes now does not go by what is half changed. */
	stamp->reach = 0;
	atomic_signal_fence(memory_order_release);
	stamp->ticks = before + took / 2;
	stamp->ns = ns;
	if (!stamp->since_ns || ns - stamp->since_ns >= (stamp->scale ? RATE_NS : REACH_NS)) {
		if (stamp->since_ns)
			set_rate(stamp);
		stamp->since_ticks = stamp->ticks;
		stamp->since_ns = ns;
	}
	atomic_signal_fence(memory_order_release);
	stamp->reach = stamp->scale ? ((uint64_t)REACH_NS << 32) / stamp->scale : 0;
	return ns;
}
