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

/*
 * Windows of switches.  One begins with the first switch that is counted in it, and ends when
 * switches have taken too much.
 */
void switches_count(uint64_t now_ns);
/* Ends the window.  True: they have been too many for perf events, for some windows in a row. */
bool switches_are_too_many(uint64_t now_ns);
/* Without stragglers of the last window. */
void switches_begin_window(void);
void switches_forget_windows(void);

#endif
