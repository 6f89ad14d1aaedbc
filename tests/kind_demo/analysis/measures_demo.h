/* SPDX-License-Identifier: Apache-2.0 */
/* The demo kind: its measures, MEASURE_DEMO_…: a row of analysis/kinds/kinds.h. */
#ifndef HELIO_ANALYSIS_MEASURES_DEMO_H
#define HELIO_ANALYSIS_MEASURES_DEMO_H

#define MEASURES_DEMO(X)                                                                           \
	X(DEMO_CALLS)                                                                              \
	X(DEMO_AMOUNT)

#endif
