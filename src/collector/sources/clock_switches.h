/* SPDX-License-Identifier: Apache-2.0 */
/* Whether context switches raise events (clock_perf.c). */
#ifndef HELIO_COLLECTOR_CLOCK_SWITCHES_H
#define HELIO_COLLECTOR_CLOCK_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

/* The process's event of switches: a descriptor that is held, or DESCRIPTOR_NONE. */
extern _Atomic int switches_fd;
/* There were too many of them: not 0 until they come again. */
extern _Atomic unsigned switches_off;

/* Every context switch is being signalled now. */
bool switches_are_seen(void);
/* How often they have ceased to be. */
uint32_t switches_pauses(void);
void switches_note_pause(void);

#endif
