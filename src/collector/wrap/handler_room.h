/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_HANDLER_ROOM_H
#define HELIO_COLLECTOR_HANDLER_ROOM_H

#include <stdbool.h>
#include <ucontext.h>

/* Whether there is room for a signal of ours on the alternate stack, if that is where we are. */
bool handler_has_room(const ucontext_t *context);

#endif
