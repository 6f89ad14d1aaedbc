/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer of the thread's own, which expires once: on its CPU clock, with the first
 * tick of the kernel after its time; or on the wall clock (phase.wall), in time if the
 * thread is on a processor until then, else too early.
 */
#ifndef HELIO_COLLECTOR_CLOCK_TIMER_H
#define HELIO_COLLECTOR_CLOCK_TIMER_H

#include <stdint.h>

struct thread;

/* What says when the next tick is due (clock_phase.c). */
struct timer_plan {
	/* The CPU time until then. */
	uint64_t (*delay_ns)(struct thread *thread);
};
extern const struct timer_plan timer_plan;

/* Sets the thread's timer to its next tick, makes it where it has none, and ends it where none is
 * wanted any more. */
void timer_arm(struct thread *thread);
void timer_disarm(struct thread *thread);
/* It expires in so much, once, whatever is due: until timer_arm. */
void timer_probe(struct thread *thread, uint64_t ns);
void timer_arm_all(void);
void timer_disarm_all(void);

#endif
