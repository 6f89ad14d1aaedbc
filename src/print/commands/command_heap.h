/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a heap sample. */
#ifndef HELIO_PRINT_COMMAND_HEAP_H
#define HELIO_PRINT_COMMAND_HEAP_H

#include "analysis/views/heaps.h"
#include "analysis/views/result.h"
#include "print/context.h"

/* " +- 678" behind a number of bytes that is that of a sample; else NULL. The result's. */
const char *command_heap_error(struct result *result, struct heap_amount amount);
/* … as "BYTES_error", where there is one. */
void command_heap_set_error(struct result *result, struct record *record, const char *bytes,
			    struct heap_amount amount);

#endif
