/* SPDX-License-Identifier: Apache-2.0 */
/* I/O tracing: its measures, MEASURE_IO_…: a row of analysis/kinds/kinds.h.  Private to this
 * module. */
#ifndef HELIO_ANALYSIS_MEASURES_IO_H
#define HELIO_ANALYSIS_MEASURES_IO_H

#define MEASURES_IO(X)                                                                             \
	X(IO_READS)                                                                                \
	X(IO_READ_BYTES)                                                                           \
	X(IO_READ_NS)                                                                              \
	X(IO_WRITES)                                                                               \
	X(IO_WRITE_BYTES)                                                                          \
	X(IO_WRITE_NS)                                                                             \
	X(IO_WAITS)                                                                                \
	X(IO_WAIT_NS)                                                                              \
	X(IO_REQUESTS)                                                                             \
	X(IO_OTHERS)                                                                               \
	X(IO_OTHER_NS)                                                                             \
	X(IO_ERRORS)                                                                               \
	X(IO_ERROR_NS)

#endif
