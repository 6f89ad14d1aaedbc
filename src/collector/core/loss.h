/* SPDX-License-Identifier: Apache-2.0 */
/* What data files have lost: they could not grow, or somebody has cut them while they are mapped.
 */
#ifndef HELIO_COLLECTOR_LOSS_H
#define HELIO_COLLECTOR_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/* In the handler of SIGBUS: whether the address is in a file of ours; the access can go on. */
bool loss_mend(uint64_t address);
/* Looks at all files, so that no access here need raise a signal. Before the end of a recording. */
void loss_look(void);
/* Says in the log what has been lost. */
void loss_log(void);

#endif
