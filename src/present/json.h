/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One JSON object per result, on one line:
 *   {"command", "experiments", EXTRA…, "metrics", "rows", "warnings"}
 * docs/json-schema/helio-print.schema.json describes what each command puts in.
 * Rows are written one by one, so that a call tree of a million nodes needs no
 * memory.
 */
#ifndef HELIO_PRESENT_JSON_H
#define HELIO_PRESENT_JSON_H

#include "base/json.h"
#include "present/present.h"

void json_result(struct presenter *presenter, const struct result *result);

struct json_report {
	struct presenter *presenter;
	const struct session *session;
	size_t row_count;
};

/* Takes over metrics (an array, or NULL for none) and extra (an object, or NULL). */
void json_report_begin(struct json_report *report, struct presenter *presenter,
		       const struct session *session, const char *command, json_t *metrics,
		       json_t *extra);
/* Takes over row. */
void json_report_row(struct json_report *report, json_t *row);
void json_report_end(struct json_report *report);

/* Seconds as a real number; counts, bytes and addresses as an integer. */
json_t *json_number(enum metric_unit unit, double value);
/* {"name", "title", "unit"} */
json_t *json_metric(const struct metric *metric, enum metric_flavor flavor);

#endif
