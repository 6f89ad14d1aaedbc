/* SPDX-License-Identifier: Apache-2.0 */
/* The inside view of the module snapshot. */
#ifndef HELIO_COLLECTOR_UNWIND_MODULES_H
#define HELIO_COLLECTOR_UNWIND_MODULES_H

#include "collector/unwind/unwind.h"

#include <stdatomic.h>

/* The snapshot in force, or NULL; it stays as it is until the unwinding is over. */
const struct unwind_modules *modules_get(void);

/* The segment of a snapshot that holds `pc`, or NULL. */
const struct unwind_module *modules_find(const struct unwind_modules *modules, uint64_t pc);

/* Before reading memory of a module; false: someone is about to unmap, only what stays may be read
 * (and there is nothing to leave). */
bool modules_enter(void);
void modules_leave(void);

#endif
