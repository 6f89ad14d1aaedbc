/* SPDX-License-Identifier: Apache-2.0 */
/* Counters: the properties of its events. */
#include "analysis/data/data_map.h"
#include "analysis/filter/filter_property.h"
#include "analysis/kinds/counter.h"

/* The session's number: counters of one name are one in all experiments. */
static void load_counter(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *numbers = event_field(rows->run, COUNTER_NUMBER);

	EACH_ROW
	{
		uint64_t number = numbers[i];

		slot->value[i] =
			number < COUNTERS_MAX ? rows->process->counters[number] : COUNTER_NONE;
	}
	filter_forget(slot, rows->run->count, COUNTER_NONE);
}

static void load_counter_value(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, COUNTER_VALUE);
}

static void load_data_address(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, COUNTER_ADDRESS);
	filter_forget(slot, rows->run->count, 0);
}

/* Where there is but one node, the data is there. */
static void load_data_node(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct process_info *info = &rows->session->processes.items[rows->process->id - 1];
	const uint64_t *node = event_field(rows->run, COUNTER_NODE);
	const uint64_t *address = event_field(rows->run, COUNTER_ADDRESS);
	uint64_t only = info->node_count == 1 ? info->nodes[0].number + 1 : 0;

	EACH_ROW slot->value[i] = (node[i] ? node[i] : address[i] ? only : 0) - UINT64_C(1);
	filter_forget(slot, rows->run->count, UINT64_MAX);
}

static void prepare_data(struct session *session)
{
	data_map_of(session);
}

/* Objects with all that they lie in: data_place's numbers. */
static void load_data_object(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint32_t *places = rows->session->data->processes.items[rows->process->id - 1];

	EACH_ROW slot->value[i] = places[rows->run->first + i];
	filter_forget(slot, rows->run->count, DATA_NONE);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY("HWCTAG", "number of the counter", "counters", FILTER_COUNTER,
			load_counter),
	FILTER_PROPERTY("HWCINT", "events counted", "counters", FILTER_COUNTER, load_counter_value),
	FILTER_PROPERTY("VADDR", "data address", "counters", FILTER_COUNTER, load_data_address,
			.needs_addresses = true),
	FILTER_PROPERTY("EA_LGRP", "NUMA node of the data", "counters", FILTER_COUNTER,
			load_data_node, .needs_addresses = true),
	FILTER_PROPERTY("DOBJ", "number of the data object: DOBJ IN DNAME(...)", "counters",
			FILTER_COUNTER, load_data_object, .prepare = prepare_data),
};

const struct filter_properties counter_properties = FILTER_PROPERTIES(properties);
