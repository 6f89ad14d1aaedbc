/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronization tracing: its measures, MEASURE_SYNC_…: a row of analysis/kinds/kinds.h.  Private
 * to this module. */
#ifndef HELIO_ANALYSIS_MEASURES_SYNC_H
#define HELIO_ANALYSIS_MEASURES_SYNC_H

#define MEASURES_SYNC(X)                                                                           \
	X(SYNC_NS)                                                                                 \
	X(SYNC_COUNT)

#endif
