/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP: what the runtime says of events of every kind (format/context.h). */
#include "analysis/filter/filter_property.h"

static void load_context(const struct filter_rows *rows, struct filter_slot *slot, unsigned field,
			 uint64_t none)
{
	const struct context_table *contexts = &rows->process->process->contexts;
	const uint64_t *numbers = event_column(rows->run, ROW_CONTEXT);

	EACH_ROW slot->value[i] =
		contexts->said[RUNTIME_OPENMP]
			? contexts->items.items[numbers[i]].field[RUNTIME_OPENMP][field]
			: none;
	filter_forget(slot, rows->run->count, none);
}

static void load_state(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_context(rows, slot, OMP_CONTEXT_STATE, UINT64_MAX);
}

static void load_region(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_context(rows, slot, OMP_CONTEXT_REGION, UINT64_MAX);
}

static void load_task(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_context(rows, slot, OMP_CONTEXT_TASK, UINT64_MAX);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY(
		"OMPSTATE",
		"OpenMP state of the thread: 0 none, 1 serial, 2 work, 3 reduction, 4 "
		"overhead, 5 idle, 6 implicit barrier, 7 explicit barrier, 8 barrier at the "
		"end of a region, 9 lock, 10 critical section, 11 ordered section, 12 "
		"atomic, 13 task wait",
		"all, of OpenMP programs", FILTER_ALL, load_state),
	FILTER_PROPERTY("CPRID", "number of the parallel region that the thread was in; 0: none",
			"all, of OpenMP programs", FILTER_ALL, load_region),
	FILTER_PROPERTY("TSKID", "number of the explicit task that it executed; 0: none",
			"all, of OpenMP programs", FILTER_ALL, load_task),
};

const struct filter_properties omp_properties = FILTER_PROPERTIES(properties);
