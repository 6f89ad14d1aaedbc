/* SPDX-License-Identifier: Apache-2.0 */
/* log.xml: what was recorded, where, and what happened. */
#ifndef HELIO_EXPERIMENT_LOG_H
#define HELIO_EXPERIMENT_LOG_H

#include "base/arena.h"
#include "base/memory.h"
#include "experiment/block.h"
#include "format/kinds.h"
#include "format/own_use.h"

struct attribute {
	const char *name;
	const char *value;
};

struct log_event {
	uint64_t time_ns;
	const char *kind;
	struct attribute *attributes;
	size_t attribute_count;
};

/* A counter of -h. */
struct log_counter {
	uint64_t number; /* in hwcounters */
	const char *name, *title, *unit;
	uint64_t interval;
	bool has_address;
};

/* A NUMA node of the machine. */
struct log_node {
	uint64_t number;
	const char *cpus; /* as the kernel lists them: "0-3,8"; or NULL */
};

/* What the collector counted about itself; see docs/format.md. */
struct log_counters {
	bool present;
	bool has_events, has_cpu, has_recorded;
	uint64_t events, dropped, unwind_failed, truncated, cpu_ns, cpu_recorded_ns;
	uint64_t traced[TRACE_KINDS]; /* of the events */
	uint64_t ends_cpu_ns; /* cpu_ns less cpu_recorded_ns, where that is what ends of threads
				 took */
	bool has_process_cpu, has_children;
	uint64_t process_cpu_ns; /* of the process, from its begin on */
	uint64_t children_user_us, children_system_us;
	bool has_ppid;
	int64_t ppid; /* whose child it was then */
	bool has_before;
	uint64_t before_user_us, before_system_us; /* of process_cpu_ns, before the recording */
	uint64_t before_own_us;			   /* … of these the collector's */
};

/* Whether the CPU times add up, or there are not all of them. */
bool log_counters_agree(const struct log_counters *counters);

/* What a process that has written no counters had left in memory: see docs/format.md. */
struct log_left {
	bool present;
#define X(name) uint64_t name;
	FORMAT_LEFT_FIELDS(X)
#undef X
};

struct experiment_log {
	bool present;
	bool closed; /* the closing tag is there */
	bool damaged;
	bool is_gprofng; /* read by gprofng.h from an experiment of that tool */
	/* strings are NULL and numbers 0 where the log does not say */
	const char *version, *producer;
	uint64_t mono_ns, wall_ns;
	const char *hostname, *os, *arch;
	const char *clock; /* the name of the CLOCK_MONOTONIC that its times are of */
	uint64_t page_size, pages, cpus, clock_mhz;
	bool has_process; /* the process element is there */
	int64_t pid, ppid, pgrp, sid;
	int64_t own_pid; /* as the process knows it: in a namespace it may be another */
	const char *cwd, *executable, *lineage;
	const char *executed_name; /* the one that its exec was given; NULL: not known, or a fork */
	uint64_t names_taken;	   /* of those that it was given by its parent, before `lineage` */
	uint64_t start_ns;
	const char *engine, *engine_reason;
	bool own_calls; /* it makes system calls of its own, and may end by one */
	VEC(struct attribute) settings;
	VEC(struct log_node) nodes;
	VEC(struct log_counter) hwcounters;
	VEC(char *) arguments; /* with a NULL after the last, unless empty */
	VEC(struct log_event) events;
	/* from the events */
	bool ended; /* by exit, or by becoming another program */
	bool has_status;
	int exit_status, exit_signal;
	uint64_t last_ns; /* the latest time in the log */
	struct log_counters counters;
	struct log_left left;
};

/* Whose format a log.xml is. */
enum log_origin { LOG_OURS, LOG_NEWER, LOG_GPROFNG, LOG_FOREIGN, LOG_UNKNOWN };

/* Reads log.xml; a missing file leaves `present` false and is not reported. Strings lie in the
 * arena. */
void experiment_log_read(struct experiment_log *log, struct arena *arena,
			 const struct read_context *context);
void experiment_log_fini(struct experiment_log *log);
enum log_origin experiment_log_origin(const struct experiment_log *log);
/* The value of a setting, or NULL. */
const char *experiment_log_setting(const struct experiment_log *log, const char *name);

/* The setting `clock`, or `clock_first`: an interval in µs, 0: off.  NULL: nobody has said. */
bool log_clock_is_off(const char *clock);
uint64_t log_clock_us(const char *clock);

/* What an event's attribute says, or NULL. */
const char *log_event_attribute(const struct log_event *event, const char *name);
/* The number that it says; false: none. */
bool log_event_number(const struct log_event *event, const char *name, uint64_t *value);
bool log_event_is(const struct log_event *event, const char *kind);

#endif
