/* SPDX-License-Identifier: Apache-2.0 */
/* What logs say of CPU time is believed only as far as it can be so. */
#ifndef HELIO_EXPERIMENT_POSSIBLE_H
#define HELIO_EXPERIMENT_POSSIBLE_H

#include "experiment/process.h"

/*
 * Once the lives are known: what is more than processors can have worked, or than the process
 * itself is known to have used, is taken out of the logs and lives, as if nobody had said it.  So
 * no one who reads them later has to ask.
 */
void possible_check(struct experiment *experiment, struct diag_list *warnings);

#endif
