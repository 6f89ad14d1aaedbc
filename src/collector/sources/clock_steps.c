/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_steps.h"

#include "collector/core/thread_state.h"
#include "collector/sources/clock_jitter.h"
#include "collector/storage/recording.h"

/* A first step is this part of an interval, but not so short that ticks cost much; later ones are
 * this part of the age. */
enum { FIRST_PART = 8, FIRST_LEAST_NS = 500 * 1000, AGE_PART = 4 };

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t steps_length_ns(uint64_t age_ns, uint64_t grain_ns)
{
	uint64_t interval_ns = collector.interval_ns;
	uint64_t first_ns = larger(interval_ns / FIRST_PART, FIRST_LEAST_NS);
	uint64_t length_ns = larger(first_ns, age_ns / AGE_PART);

	if (length_ns > interval_ns)
		length_ns = interval_ns;
	return grain_ns ? larger(length_ns - length_ns % grain_ns, grain_ns) : length_ns;
}

/* A random time in a step.  With a grain it is just behind a multiple of the grain: ticks come at
 * multiples only, and so each of them is as likely as any other. */
static uint64_t place_in(uint64_t length_ns, uint64_t grain_ns)
{
	uint64_t place_ns = jitter_random(length_ns);

	return grain_ns ? 1 + place_ns - place_ns % grain_ns : place_ns;
}

void steps_begin(struct clock_phase *phase, uint64_t tick_ns, uint64_t grain_ns)
{
	phase->first_due_ns = tick_ns;
	phase->paid_until_ns = 0;
	phase->step_end_ns = steps_length_ns(0, grain_ns);
}

void steps_begin_program(struct clock_phase *phase, const struct clock_reading *now)
{
	phase->begin_cpu_ns = now->cpu_ns;
	phase->begin_waits = phase->early_waits = now->voluntary_switches;
	if (phase->mode == PHASE_STEPS && phase->due_cpu_ns && !phase->ticked)
		phase->due_cpu_ns = phase->begin_cpu_ns + phase->first_due_ns;
}

void steps_tick(struct clock_phase *phase, uint64_t age_ns, uint64_t grain_ns)
{
	uint64_t begin_ns = larger(phase->step_end_ns, age_ns);
	uint64_t length_ns = steps_length_ns(begin_ns, grain_ns);

	phase->paid_until_ns = begin_ns;
	phase->step_end_ns = begin_ns + length_ns;
	phase->due_cpu_ns = phase->begin_cpu_ns + begin_ns + place_in(length_ns, grain_ns);
}

/*
 * What is left of a step, as if steps had begun one after the other before the first tick.  The age
 * is taken with a jitter: else programs that live as long as a step would all end at the same place
 * in one.
 */
uint64_t steps_left_ns(const struct clock_phase *phase, uint64_t age_ns, uint64_t grain_ns)
{
	uint64_t length_ns = steps_length_ns(0, grain_ns);
	uint64_t used_ns = age_ns - age_ns / 4 + jitter_random(age_ns / 2 + 1);
	uint64_t since_ns = (length_ns + used_ns - phase->first_due_ns % length_ns) % length_ns;

	return since_ns ? length_ns - since_ns : 0;
}
