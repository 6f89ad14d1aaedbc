/* SPDX-License-Identifier: Apache-2.0 */
/* What all of JSON's writers make of numbers and metrics. */
#ifndef HELIO_PRESENT_JSON_VALUE_H
#define HELIO_PRESENT_JSON_VALUE_H

#include "analysis/metric/metric.h"
#include "base/json.h"

struct table;

/* Seconds as a real number; counts, bytes and addresses as an integer. */
json_t *json_number(enum metric_unit unit, double value);
/* Up to 2^63 exactly, which whole numbers of JSON readers end at; UINT64_MAX: null. */
json_t *json_u64(uint64_t value);
/* {"name", "title", "unit"} */
json_t *json_metric(const struct metric *metric, enum metric_flavor flavor);
/* The metrics of a table's columns that are numbers. */
json_t *json_columns(const struct table *table);
/* Adds a member for each of these columns; values: one for each column of the table. */
void json_add_values(json_t *object, const struct table *table, const double *values);

#endif
