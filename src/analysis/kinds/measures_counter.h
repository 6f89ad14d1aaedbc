/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters: their measures are MEASURE_COUNTER and those behind it.  A row of
 * analysis/kinds/kinds.h. Private to this module.
 */
#ifndef HELIO_ANALYSIS_MEASURES_COUNTER_H
#define HELIO_ANALYSIS_MEASURES_COUNTER_H

#define MEASURES_COUNTER(X)

#endif
