/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that a signal has cut short. */
#ifndef HELIO_COLLECTOR_PARTIAL_TRANSFER_H
#define HELIO_COLLECTOR_PARTIAL_TRANSFER_H

#include <ucontext.h>

/* The thread stands behind `call`: if it is a transfer that a signal cut short, does the rest. */
void transfer_finish(ucontext_t *context, long call);

#endif
