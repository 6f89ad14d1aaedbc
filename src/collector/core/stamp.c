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

struct stamp stamp;

/* Whether the kernel trusts the counter: it goes at one rate, and alike in all processors. */
static bool is_trusted(void)
{
	char name[8] = "";
	int fd = file_open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			   O_RDONLY, 0);

	if (fd < 0)
		return false;
	long got = sys_read(fd, name, sizeof(name) - 1);

	sys_close(fd);
	return got > 0 && text_equal(name, "tsc\n");
}

void stamp_begin(void)
{
	static bool asked;

	if (!asked)
		stamp.trusted = is_trusted();
	asked = true;
	stamp.reach = stamp.scale = stamp.since_ns = 0;
}

/* Measures the rate from `since` to the last look. */
static void set_rate(void)
{
	uint64_t ns = stamp.ns - stamp.since_ns, ticks = stamp.ticks - stamp.since_ticks;
	uint64_t scale = ns >> 32 || !ticks ? 0 : (ns << 32) / ticks;
	uint64_t change = scale > stamp.scale ? scale - stamp.scale : stamp.scale - scale;

	/* The counter has jumped. */
	if (scale >> 32 >= RATE_MAX || scale < (UINT64_C(1) << 32) / RATE_MAX ||
	    (stamp.scale && change > stamp.scale / RATE_CHANGE))
		scale = 0;
	stamp.scale = scale;
	stamp.reach = scale ? ((uint64_t)REACH_NS << 32) / scale : 0;
}

uint64_t stamp_look(void)
{
	uint64_t before = arch_ticks();
	uint64_t ns = clock_now_ns();
	uint64_t took = arch_ticks() - before;

	if (took > LOOK_TICKS)
		return ns;
	stamp.ticks = before + took / 2;
	stamp.ns = ns;
	if (stamp.since_ns && ns - stamp.since_ns < (stamp.reach ? RATE_NS : REACH_NS))
		return ns;
	if (stamp.since_ns)
		set_rate();
	stamp.since_ticks = stamp.ticks;
	stamp.since_ns = ns;
	return ns;
}
