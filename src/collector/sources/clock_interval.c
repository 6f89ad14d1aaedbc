/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default interval: short at first, so that a run of a fraction of a second has some
 * hundreds of events, and longer for good once that has cost enough.
 *
 * How much is enough counts for the whole family, in the page that its processes share: many short
 * ones are one long run.  Some hundreds of short intervals there are in any case.  Then it
 * depends on the machine: where a tick costs less than a two hundredth of the interval
 * they go on for some seconds; where a timer's interrupt alone takes ten times that, as in many
 * virtual machines, they end.
 */
#include "collector/sources/clock_interval.h"

#include "collector/arch/sys.h"
#include "collector/core/time.h"
#include "collector/sources/overhead.h"
#include "collector/storage/family.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

enum { TICKS_LEAST = 300, TICKS_MOST = 2000, CHEAP_PART = 200 };

static _Atomic uint64_t widened_ns; /* CLOCK_MONOTONIC; 0: not in this process */
static uint64_t began_ns;	    /* the interval that it began with */
static void (*when_widened)(void);

void interval_read_param(const char *value)
{
	const char *end;

	collector.first_interval_ns = collector.last_interval_ns = text_number(value, &end) * 1000u;
	if (*end == '-')
		collector.last_interval_ns = text_number(end + 1, NULL) * 1000u;
	atomic_store(&collector.interval_ns, collector.first_interval_ns);
}

void interval_begin(void)
{
	bool widened = __atomic_load_n(&family_page()->widened_ns, __ATOMIC_RELAXED);

	began_ns = widened ? collector.last_interval_ns : collector.first_interval_ns;
	atomic_store(&collector.interval_ns, began_ns);
	atomic_store(&widened_ns, 0);
}

void interval_call_when_widened(void (*function)(void))
{
	when_widened = function;
}

bool interval_looks_are_cheap(void)
{
	return collector.last_interval_ns >= TIMER_INTERVAL_NS;
}

uint64_t interval_look_ns(void)
{
	uint64_t interval_ns = collector.interval_ns;

	return interval_looks_are_cheap() && interval_ns < TIMER_INTERVAL_NS ? TIMER_INTERVAL_NS
									     : interval_ns;
}

bool interval_widen(void)
{
	uint64_t before_ns = atomic_load(&collector.interval_ns);

	if (before_ns >= collector.last_interval_ns ||
	    !atomic_compare_exchange_strong(&collector.interval_ns, &before_ns,
					    collector.last_interval_ns))
		return false;
	atomic_store(&widened_ns, clock_now_ns());
	if (collector.engine == ENGINE_PERF && when_widened)
		when_widened();
	return true;
}

/* What a signal takes before it comes to the handler, measured once for the family. */
static uint64_t delivery_ns(struct format_family *family)
{
	uint64_t known_ns = __atomic_load_n(&family->delivery_ns, __ATOMIC_RELAXED);

	if (!known_ns) {
		known_ns = overhead_measured_delivery_ns();
		__atomic_store_n(&family->delivery_ns, known_ns, __ATOMIC_RELAXED);
	}
	return known_ns;
}

bool interval_knows_delivery(void)
{
	return __atomic_load_n(&family_page()->delivery_ns, __ATOMIC_RELAXED);
}

void interval_raise(void)
{
	uint64_t least_ns = overhead_least_interval_ns(delivery_ns(family_page()));

	if (atomic_load(&collector.interval_ns) >= least_ns)
		return;
	atomic_store(&collector.interval_ns, least_ns);
	overhead_raised_interval();
}

static bool is_enough(struct format_family *family, uint64_t ticks, uint64_t cost_ns)
{
	if (ticks < TICKS_LEAST || ticks >= TICKS_MOST)
		return ticks >= TICKS_MOST;
	/* What the interrupts of the monitor's timers take is not known. */
	return collector.engine == ENGINE_MONITOR ||
	       (cost_ns / ticks + delivery_ns(family)) * CHEAP_PART >
		       atomic_load_explicit(&collector.interval_ns, memory_order_relaxed);
}

void interval_spent(uint64_t cost_ns)
{
	struct format_family *family = family_page();
	uint64_t expected = 0;

	if (atomic_load_explicit(&collector.interval_ns, memory_order_relaxed) >=
	    collector.last_interval_ns)
		return;
	cost_ns = __atomic_add_fetch(&family->first_cost_ns, cost_ns, __ATOMIC_RELAXED);
	uint64_t ticks = __atomic_add_fetch(&family->first_ticks, 1, __ATOMIC_RELAXED);
	bool enough = __atomic_load_n(&family->widened_ns, __ATOMIC_RELAXED);

	if (!enough && is_enough(family, ticks, cost_ns)) {
		__atomic_compare_exchange_n(&family->widened_ns, &expected,
					    clock_now_ns() - collector.start_ns, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		enough = true;
	}
	if (enough)
		interval_widen();
}

void interval_log(struct text *line)
{
	uint64_t when_ns = atomic_load(&widened_ns);

	if (collector.engine == ENGINE_NONE ||
	    collector.first_interval_ns == collector.last_interval_ns)
		return;
	text_attribute_decimal(line, "first_interval_us", (int64_t)(began_ns / 1000));
	if (when_ns)
		text_attribute_decimal(line, "widened_ns", (int64_t)(when_ns - collector.start_ns));
}
