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

#include "analysis/views/result.h"
#include "present/presenter.h"

void json_result(struct presenter *presenter, const struct result *result);
/* The same with arrays: slab.h. */
void json_result_slab(struct presenter *presenter, const struct result *result);

#endif
