/* SPDX-License-Identifier: Apache-2.0 */
#include "present/json_value.h"

#include "analysis/views/result.h"
#include "base/memory.h"
#include "present/layout.h"

#include <math.h>
#include <stdlib.h>

json_t *json_number(enum metric_unit unit, double value)
{
	if (!isfinite(value))
		return json_null();
	return unit == UNIT_SECONDS || unit == UNIT_RATIO ? json_real(value)
							  : json_integer((json_int_t)value);
}

json_t *json_u64(uint64_t value)
{
	if (value == UINT64_MAX)
		return json_null();
	return value > INT64_MAX ? json_real((double)value) : json_integer((json_int_t)value);
}

json_t *json_metric(const struct metric *metric, enum metric_flavor flavor)
{
	const char *prefix = layout_flavor_long(flavor);
	char *key = metric_key(metric, flavor);
	char *title = xasprintf("%s%s%s", prefix, *prefix ? " " : "", metric->title);
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", key, "title", title, "unit",
				   number_unit_name(metric->unit));

	free(title);
	free(key);
	return object;
}

json_t *json_columns(const struct table *table)
{
	json_t *metrics = json_array();

	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;

		if (!choice->metric->is_static)
			json_array_append_new(metrics, json_metric(choice->metric, choice->flavor));
	}
	return metrics;
}

void json_add_values(json_t *object, const struct table *table, const double *values)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;
		char *key;

		if (choice->metric->is_static)
			continue;
		key = metric_key(choice->metric, choice->flavor);
		json_object_set_new(object, key,
				    table->columns[i].not_recorded
					    ? json_null()
					    : json_number(choice->metric->unit, values[i]));
		free(key);
	}
}
