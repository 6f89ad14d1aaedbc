/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_LAUNCH_MACHINE_CLOCK_H
#define HELIO_LAUNCH_MACHINE_CLOCK_H

#include <stddef.h>

enum { MACHINE_CLOCK_NAME = 96 };

/*
 * Which CLOCK_MONOTONIC this process has: it is one from the machine's start to the next, in one
 * namespace of times.  "": not known.
 */
void machine_clock_name(char name[MACHINE_CLOCK_NAME]);

#endif
