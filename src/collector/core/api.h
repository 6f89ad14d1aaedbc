/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around the functions of dynamic.h.  False: the recording is not active, or in a handler that has
 * interrupted who is in there.
 */
#ifndef HELIO_COLLECTOR_API_H
#define HELIO_COLLECTOR_API_H

#include <stdbool.h>

bool api_enter(void);
void api_leave(void);

#endif
