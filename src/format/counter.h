/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters as the launcher passes them on in the parameter `h` (format/params.h): comma-separated,
 * each one decimal numbers separated by dots, in the order of struct format_counter.
 */
#ifndef HELIO_FORMAT_COUNTER_H
#define HELIO_FORMAT_COUNTER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum { COUNTERS_MAX = 8 };

/* What the kernel is asked for; names as in struct perf_event_attr. */
struct format_counter {
	uint64_t type, config;
	uint64_t config1, config2; /* of a watch point: address and length */
	uint64_t bp_type;
	uint64_t period;
	uint64_t flags; /* enum format_counter_flag */
	/* inode of the program whose load address is to be added to a watch point's; 0: none */
	uint64_t program;
};

enum { COUNTER_NUMBERS = sizeof(struct format_counter) / sizeof(uint64_t) };

/* `unit` in log.xml: what the values are. */
#define FORMAT_COUNTER_EVENTS "events"
#define FORMAT_COUNTER_CYCLES "cycles" /* of the processor: time at its clock rate */
#define FORMAT_COUNTER_NS     "ns"

enum format_counter_flag {
	COUNTER_PRECISE = 3, /* precise_ip, 0 to 3 */
	COUNTER_EXCLUDE_USER = 4,
	COUNTER_EXCLUDE_KERNEL = 8,
	COUNTER_EXCLUDE_HV = 16,
	COUNTER_HAS_ADDRESS = 32, /* the address of the data is recorded */
};

/*
 * The event, as the launcher tries it and the collector opens it: inherited by threads, ended
 * by exec, a SIGTRAP each `period`.
 */
static inline struct perf_event_attr format_counter_attr(const struct format_counter *counter)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = (uint32_t)counter->type,
		.config = counter->config,
		.config1 = counter->config1,
		.config2 = counter->config2,
		.bp_type = (uint32_t)counter->bp_type,
		.sample_period = counter->period,
		.sample_type = PERF_SAMPLE_ADDR,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.precise_ip = counter->flags & COUNTER_PRECISE,
		.exclude_user = !!(counter->flags & COUNTER_EXCLUDE_USER),
		.exclude_kernel = !!(counter->flags & COUNTER_EXCLUDE_KERNEL),
		.exclude_hv = !!(counter->flags & COUNTER_EXCLUDE_HV),
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
	};
}

/* What the kernel tells of such an event, with all that inherited it. */
struct format_counter_reading {
	uint64_t value;
	uint64_t enabled_ns, running_ns; /* less: others had the register */
};

/* A counter that stood still for one part of so many is no matter. */
enum { COUNTER_STANDSTILL = 1000 };

static inline bool counter_stood_still(const struct format_counter_reading *reading)
{
	return reading->running_ns < reading->enabled_ns &&
	       reading->enabled_ns - reading->running_ns > reading->enabled_ns / COUNTER_STANDSTILL;
}

/* What an event would have counted besides if it had not stood still, at the rate of `counted`. */
static inline uint64_t counter_missed(const struct format_counter_reading *reading,
				      uint64_t counted)
{
	uint64_t running = reading->running_ns, still = reading->enabled_ns - running;

	if (!counter_stood_still(reading) || !running)
		return 0;
	while ((running | still) > UINT32_MAX) { /* what is left of a product fits then */
		running >>= 1;
		still >>= 1;
	}
	running += !running;
	return counted / running * still + counted % running * still / running;
}

/*
 * A recorded data address has the NUMA node of its page, + 1, in its upper byte, where the machine
 * has several nodes.  0: not known; 255: it is a kernel's address, all of it.
 */
enum { COUNTER_NODE_SHIFT = 56, COUNTER_NODES_MAX = 0xfe };

static inline unsigned counter_node(uint64_t recorded)
{
	unsigned node = (unsigned)(recorded >> COUNTER_NODE_SHIFT);

	return node > COUNTER_NODES_MAX ? 0 : node;
}

static inline uint64_t counter_address(uint64_t recorded)
{
	return recorded - ((uint64_t)counter_node(recorded) << COUNTER_NODE_SHIFT);
}

#endif
