/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP: what the runtime says of events of every kind (format/context.h). */
#include "analysis/filter/filter_property.h"
#include "analysis/session/omp_names.h"

/* Constructs that differ in their way there only are one, in all processes. */
static void name_constructs(const struct filter_rows *rows, struct filter_slot *slot)
{
	EACH_ROW slot->value[i] = omp_number(rows->session, rows->process, slot->value[i]);
}

/* Executions are of their construct, whatever the thread was in when it wrote their record. */
static void load_executions(const struct filter_rows *rows, struct filter_slot *slot,
			    unsigned field)
{
	const uint64_t *types, *numbers;

	if (rows->run->kind != EVENTS_TRACE + TRACE_OMP || field == OMP_CONTEXT_STATE)
		return;
	types = event_column(rows->run, ROW_TYPE);
	numbers = event_field(rows->run, OMP_NUMBER);
	EACH_ROW if (types[i] == OMP_REGION || types[i] == OMP_TASKS) slot->value[i] =
		omp_nearest(rows->process, numbers[i], field == OMP_CONTEXT_TASK);
}

/* What does not fit into 32 bits no runtime has said: it is as unknown as what is not there. */
static void load_context(const struct filter_rows *rows, struct filter_slot *slot, unsigned field,
			 uint64_t none)
{
	const struct context_table *contexts = &rows->process->process->contexts;
	const uint64_t *numbers = event_column(rows->run, ROW_CONTEXT);

	EACH_ROW
	{
		const uint64_t *value = NULL;

		if (contexts->said[RUNTIME_OPENMP])
			value = context_table_field(contexts, numbers[i], RUNTIME_OPENMP, field);
		slot->value[i] = !contexts->said[RUNTIME_OPENMP] ? none : value ? *value : 0;
		if (slot->value[i] > UINT32_MAX)
			slot->value[i] = none;
	}
	load_executions(rows, slot, field);
	filter_forget(slot, rows->run->count, none);
}

static void load_state(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_context(rows, slot, OMP_CONTEXT_STATE, UINT64_MAX);
}

static void load_region(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_context(rows, slot, OMP_CONTEXT_REGION, UINT64_MAX);
	name_constructs(rows, slot);
}

static void load_task(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_context(rows, slot, OMP_CONTEXT_TASK, UINT64_MAX);
	name_constructs(rows, slot);
}

/* Of the construct in a field, the one that it is in, if that is of the kind. */
static void load_parent(const struct filter_rows *rows, struct filter_slot *slot, unsigned field,
			enum format_omp_construct kind)
{
	const struct session_process *process = rows->process;

	load_context(rows, slot, field, UINT64_MAX);
	EACH_ROW
	{
		uint64_t number = slot->value[i];
		uint32_t parent = number < process->omp_construct_count
					  ? process->omp_constructs[number].parent
					  : 0;

		if (number)
			slot->value[i] =
				parent < process->omp_construct_count &&
						process->omp_constructs[parent].kind == kind
					? parent
					: 0;
	}
	name_constructs(rows, slot);
}

static void load_outer_region(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_parent(rows, slot, OMP_CONTEXT_REGION, OMP_PARALLEL);
}

static void load_outer_task(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_parent(rows, slot, OMP_CONTEXT_TASK, OMP_TASK);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY(
		"OMPSTATE",
		"OpenMP state of the thread: 0 none, 1 serial, 2 work, 3 reduction, 4 "
		"overhead, 5 idle, 6 implicit barrier, 7 explicit barrier, 8 barrier at the "
		"end of a region, 9 lock, 10 critical section, 11 ordered section, 12 "
		"atomic, 13 task wait",
		"openmp", FILTER_ALL, load_state, .needs_openmp = true),
	FILTER_PROPERTY("CPRID", "number of the parallel region that the thread was in; 0: none",
			"openmp", FILTER_ALL, load_region, .needs_openmp = true),
	FILTER_PROPERTY("TSKID", "number of the explicit task that it executed; 0: none", "openmp",
			FILTER_ALL, load_task, .needs_openmp = true),
	FILTER_PROPERTY("PPRID", "number of the parallel region around that one; 0: none", "openmp",
			FILTER_ALL, load_outer_region, .needs_openmp = true),
	FILTER_PROPERTY("PTSKID", "number of the explicit task that created that one; 0: none",
			"openmp", FILTER_ALL, load_outer_task, .needs_openmp = true),
};

const struct filter_properties omp_properties = FILTER_PROPERTIES(properties);
