/* SPDX-License-Identifier: Apache-2.0 */
/* The demo kind: what a call is worth, its metrics, and the property of its events. */
#include "analysis/filter/filter_property.h"
#include "analysis/kinds/kinds.h"

static void measure_demo(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);
	const uint64_t *amounts = event_field(run, DEMO_AMOUNT);

	for (size_t row = 0; row < run->count; row++) {
		if (!measure_is_chosen(measuring, row))
			continue;
		measure_add(measuring->sums, MEASURE_DEMO_CALLS, nodes[row], 1);
		measure_add(measuring->sums, MEASURE_DEMO_AMOUNT, nodes[row], amounts[row]);
	}
}

static const struct metric metrics[] = {
	{.command = "democalls",
	 .title = "Demo Calls",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_DEMO_CALLS,
	 .description = "calls of demo_call",
	 .if_data = true},
	{.command = "demoamount",
	 .title = "Demo Amount",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_DEMO_AMOUNT,
	 .description = "the sum of what demo_call was given",
	 .if_data = true},
};

const struct kind demo_kind = {
	.measure = measure_demo, .metrics = metrics, .metric_count = COUNT(metrics)};

static void load_amount(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, DEMO_AMOUNT);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY("DEMOAMOUNT", "what demo_call was given", "demo", FILTER_DEMO, load_amount),
};

const struct filter_properties demo_properties = FILTER_PROPERTIES(properties);
