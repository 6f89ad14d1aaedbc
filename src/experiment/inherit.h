/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that processes had from the ones that forked them. */
#ifndef HELIO_EXPERIMENT_INHERIT_H
#define HELIO_EXPERIMENT_INHERIT_H

#include "experiment/process.h"

/* After all processes have been read. */
void experiment_inherit(struct experiment *experiment, struct diag_list *warnings);

#endif
