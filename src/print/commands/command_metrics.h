/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of index objects. */
#ifndef HELIO_PRINT_COMMAND_METRICS_H
#define HELIO_PRINT_COMMAND_METRICS_H

#include "analysis/session/query.h"
#include "print/context.h"

/* What index objects are asked for: their own metrics and order, or those of functions. */
struct query command_index_query(const struct print *print);

#endif
