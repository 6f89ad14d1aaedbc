/* SPDX-License-Identifier: Apache-2.0 */
/* The Java heap: its measures, MEASURE_JHEAP_…: a row of analysis/kinds/kinds.h.  Private to this
 * module. */
#ifndef HELIO_ANALYSIS_MEASURES_JHEAP_H
#define HELIO_ANALYSIS_MEASURES_JHEAP_H

#define MEASURES_JHEAP(X)                                                                          \
	X(JHEAP_ALLOCS)                                                                            \
	X(JHEAP_BYTES)                                                                             \
	X(JHEAP_LIVE)                                                                              \
	X(JHEAP_LIVE_BYTES)                                                                        \
	X(JHEAP_KEPT)                                                                              \
	X(JHEAP_KEPT_BYTES)

#endif
