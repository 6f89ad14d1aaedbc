/* SPDX-License-Identifier: Apache-2.0 */
/* Heap tracing: its measures, MEASURE_HEAP_…: a row of analysis/kinds/kinds.h.  Private to this
 * module.
 */
#ifndef HELIO_ANALYSIS_MEASURES_HEAP_H
#define HELIO_ANALYSIS_MEASURES_HEAP_H

#define MEASURES_HEAP(X)                                                                           \
	X(HEAP_ALLOCS)                                                                             \
	X(HEAP_BYTES)                                                                              \
	X(HEAP_LEAKS)                                                                              \
	X(HEAP_LEAK_BYTES)

#endif
