/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a process's first thread has its ticks while it is young: its life is divided into steps of
 * CPU time, with one tick each, anywhere in it.  Steps are short at first and grow with the age, so
 * that the last one, which the end cuts, is a small part of each life.
 */
#ifndef HELIO_COLLECTOR_CLOCK_STEPS_H
#define HELIO_COLLECTOR_CLOCK_STEPS_H

#include <stdint.h>

struct clock_phase;
struct clock_reading;

/*
 * The length of a step that begins at this age.  grain_ns: what ticks are multiples of, from a
 * place that is not known; 0: they come in time.
 */
uint64_t steps_length_ns(uint64_t age_ns, uint64_t grain_ns);
/* The first step, with its tick at this age. */
void steps_begin(struct clock_phase *phase, uint64_t tick_ns, uint64_t grain_ns);
/* The life begins at this reading, and the first tick is due as long after it as it was after the
 * begin before. */
void steps_begin_program(struct clock_phase *phase, const struct clock_reading *now);
/* A tick has come: what passes until the end of its step is its own.  Plans the next. */
void steps_tick(struct clock_phase *phase, uint64_t age_ns, uint64_t grain_ns);
/* What a life of this age leaves of a first step: the next one begins with it. */
uint64_t steps_left_ns(const struct clock_phase *phase, uint64_t age_ns, uint64_t grain_ns);

#endif
