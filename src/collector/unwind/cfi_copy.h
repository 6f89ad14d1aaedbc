/* SPDX-License-Identifier: Apache-2.0 */
/* CFI of a module that may be unmapped at any moment. */
#ifndef HELIO_COLLECTOR_UNWIND_CFI_COPY_H
#define HELIO_COLLECTOR_UNWIND_CFI_COPY_H

#include "collector/unwind/cfi.h"

/*
 * As cfi_find, through copies made by stack->read_slow.  The result refers to those, in the
 * memory, until the next call.  CFI_NONE also if it cannot be read, or is too long for a copy.
 */
enum cfi_answer cfi_copy_find(struct unwind_memory *memory, const struct unwind_stack *stack,
			      const struct unwind_module *module, uint64_t pc,
			      struct cfi_row *states, struct cfi_result *result);

#endif
