/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that began when the program ran already (`helio attach`). */
#ifndef HELIO_COLLECTOR_ATTACH_H
#define HELIO_COLLECTOR_ATTACH_H

#include <stdbool.h>

/* The process that attached to this one is gone without having ended the recording. */
bool attach_is_abandoned(void);

#endif
