/* SPDX-License-Identifier: Apache-2.0 */
/* Counters: hardware and software events of the kernel.  A row of format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_COUNTER_H
#define HELIO_FORMAT_KIND_COUNTER_H

#include "format/trace.h"

#define FORMAT_FILE_COUNTER "hwcounters"

/*
 * hwcounters: number: of the counter in log.xml; address: of the data, 0: unknown.  The types
 * after the first come once at the end of a process, with pseudo-functions for stacks.
 */
#define FORMAT_COUNTER_TYPES(X)                                                                    \
	X(OVERFLOW, "overflow")                                                                    \
	X(RECORDING, "recording")                                                                  \
	X(FINAL, "final")                                                                          \
	X(LOST, "lost")                                                                            \
	X(FROZEN, "frozen")
enum { COUNTER_NUMBER, COUNTER_VALUE, COUNTER_ADDRESS, COUNTER_FIELDS };

#define X(name, text) COUNTER_##name,
enum format_counter_type { FORMAT_COUNTER_TYPES(X) COUNTER_TYPES };
#undef X

/* Its parameter: as sources/counter.c describes. */
#define FORMAT_KIND_COUNTER                                                                        \
	{                                                                                          \
		.subject = "hardware counter", .title = "Counters", .option = "-h on",             \
		.file = FORMAT_FILE_COUNTER, .name = "counters", .key = 'h',                       \
		.fields_text = "counter value data-address", .types = COUNTER_TYPES,               \
		.fields = COUNTER_FIELDS,                                                          \
		.brief = {[COUNTER_OVERFLOW] = 2,                                                  \
			  [COUNTER_RECORDING] = 2,                                                 \
			  [COUNTER_FINAL] = 2,                                                     \
			  [COUNTER_LOST] = 2,                                                      \
			  [COUNTER_FROZEN] = 2},                                                   \
		.encoding = {FIELD_NUMBER, FIELD_NUMBER, FIELD_NEAR},                              \
		.type_names = FORMAT_TYPE_NAMES(FORMAT_COUNTER_TYPES),                             \
		.named_types = COUNTER_TYPES                                                       \
	}

#endif
