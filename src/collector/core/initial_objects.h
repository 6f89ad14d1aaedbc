/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that the program was started with. */
#ifndef HELIO_COLLECTOR_INITIAL_OBJECTS_H
#define HELIO_COLLECTOR_INITIAL_OBJECTS_H

#include <stdint.h>

/* Calls visit with the bias of each object that the program was started with, or most of them. */
void startup_for_each_object(void (*visit)(uint64_t bias));

#endif
