/* SPDX-License-Identifier: Apache-2.0 */
/* Which metrics the views of I/O tracing have. Private to this module. */
#ifndef HELIO_ANALYSIS_IO_METRICS_H
#define HELIO_ANALYSIS_IO_METRICS_H

#include "analysis/session/query.h"
#include "analysis/session/session_state.h"

struct metric;

/* Whether they show it unless they are told otherwise: few programs use io_uring. */
bool io_metric(const struct session *session, const struct metric *metric);

/*
 * The query with its metrics of I/O only, or, where it has none or nobody has chosen any, all of
 * them; sorted by one.
 * The caller frees its list of metrics.
 */
struct query io_query(const struct session *session, const struct query *query);

#endif
