/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronization tracing: the properties of its events. */
#include "analysis/filter/filter_property.h"

static void load_object(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, SYNC_OBJECT);
}

static void load_owner(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, SYNC_OWNER);
	filter_forget(slot, rows->run->count, 0);
}

static void load_result(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot,
			  rows->run->kind == EVENTS_TRACE + TRACE_SYNC ? SYNC_RESULT : IO_RESULT);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY(
		"STYPE",
		"0 mutex, 1 condition, 2 read lock, 3 write lock, 4 semaphore, 5 barrier, 6 join, "
		"7 spin lock, 8 futex, 9 monitor, 10 monitor wait",
		"sync", FILTER_SYNC, filter_load_type),
	FILTER_PROPERTY("SOBJ", "address of what was waited for; of monitors the number of a class",
			"sync", FILTER_SYNC, load_object),
	FILTER_PROPERTY("SOWNER", "kernel's id of the thread that had it then", "sync", FILTER_SYNC,
			load_owner),
	FILTER_PROPERTY("SRQST", "when it was asked for, ns", "sync", FILTER_SYNC,
			filter_load_begin),
	FILTER_PROPERTY("RESULT", "errno of a call that failed, or 0", "sync, io",
			FILTER_SYNC | FILTER_IO, load_result),
};

const struct filter_properties sync_properties = FILTER_PROPERTIES(properties);
