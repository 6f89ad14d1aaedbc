/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronization tracing: the properties of its events. */
#include "analysis/filter/filter_property.h"
#include "analysis/kinds/lock_rows.h"

/* Of OpenMP's waits for what has an address, too. */
static void load_object(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *types;

	if (rows->run->kind == EVENTS_TRACE + TRACE_SYNC) {
		filter_load_field(rows, slot, SYNC_OBJECT);
		return;
	}
	types = event_column(rows->run, ROW_TYPE);
	filter_load_field(rows, slot, OMP_OBJECT);
	EACH_ROW if (types[i] < OMP_CRITICAL || types[i] > OMP_ORDERED) slot->value[i] = 0;
	filter_forget(slot, rows->run->count, 0);
}

static void prepare_names(struct session *session)
{
	lock_rows_of(session);
}

static void load_name(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct lock_rows *names = rows->session->lock_rows;
	const uint32_t *of = rows->run->kind == EVENTS_TRACE + TRACE_SYNC
				     ? names->of_sync[rows->process->id - 1]
				     : names->of_omp[rows->process->id - 1];

	EACH_ROW slot->value[i] = of[rows->run->first + i];
	filter_forget(slot, rows->run->count, LOCK_ROW_NONE);
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
			"sync", FILTER_SYNC | FILTER_OMP, load_object),
	FILTER_PROPERTY(
		"SLOCK",
		"number of the lock's name, which LOCKNAME has, OpenMP's too; of those that "
		"are only addresses 1",
		"sync", FILTER_SYNC | FILTER_OMP, load_name, .prepare = prepare_names),
	FILTER_PROPERTY("SOWNER", "kernel's id of the thread that had it then", "sync", FILTER_SYNC,
			load_owner),
	FILTER_PROPERTY("SRQST", "when it was asked for, ns", "sync", FILTER_SYNC,
			filter_load_begin),
	FILTER_PROPERTY("RESULT", "errno of a call that failed, or 0", "sync, io",
			FILTER_SYNC | FILTER_IO, load_result),
};

const struct filter_properties sync_properties = FILTER_PROPERTIES(properties);
