/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One JSON object per command, on one line:
 *   {"command", "experiments", EXTRA…, "metrics", "rows", "warnings"}
 * docs/json-schema/helio-print.schema.json describes what each command puts in.
 * Rows are written one by one, so that a call tree of a million nodes needs no
 * memory.
 */
#ifndef HELIO_PRINT_JSON_H
#define HELIO_PRINT_JSON_H

#include "base/json.h"
#include "print/context.h"

struct json_report {
	struct print *print;
	size_t row_count;
};

/* Takes over metrics (an array, or NULL for none) and extra (an object, or NULL). */
void json_report_begin(struct json_report *report, struct print *print, const char *command,
		       json_t *metrics, json_t *extra);
/* Takes over row. */
void json_report_row(struct json_report *report, json_t *row);
void json_report_end(struct json_report *report);

/* Seconds as a real number; counts, bytes and addresses as an integer. */
json_t *json_number(enum metric_unit unit, double value);
/* "e.totalcpu", the key of a metric in rows: no visibility. The caller's to free. */
char *json_metric_key(const struct metric *metric, enum metric_flavor flavor);
/* {"name", "title", "unit"} */
json_t *json_metric(const struct metric *metric, enum metric_flavor flavor);

#endif
