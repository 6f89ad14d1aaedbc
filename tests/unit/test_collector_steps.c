/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of the young life of a process: its three equal places have equal weights, whatever its
 * length is, and little has no tick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "collector/core/thread_state.h"
#include "collector/sources/clock_jitter.h"
#include "collector/sources/clock_steps.h"
#include "collector/storage/recording.h"

enum { INTERVAL_NS = 10 * 1000 * 1000, LIVES = 20000, PLACES = 3 };

static double places[PLACES], nobody;

static void give(uint64_t at_ns, uint64_t life_ns, uint64_t ns)
{
	places[at_ns * PLACES / life_ns] += (double)ns;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns what it leaves to the next one. */
static uint64_t live(uint64_t life_ns, uint64_t first_ns)
{
	struct clock_phase phase = {.due_cpu_ns = first_ns};
	uint64_t paid_ns = 0;

	steps_begin(&phase, first_ns, 0);
	while (phase.due_cpu_ns < life_ns) {
		uint64_t at_ns = phase.due_cpu_ns;

		steps_tick(&phase, at_ns, 0);
		uint64_t until_ns = smaller(phase.paid_until_ns, life_ns);

		give(at_ns, life_ns, until_ns - paid_ns);
		paid_ns = until_ns;
	}
	nobody += (double)(life_ns - paid_ns);
	return steps_left_ns(&phase, life_ns, 0);
}

static void live_often(uint64_t life_ns, double most_nobody, double tolerance)
{
	uint64_t left_ns = jitter_random(steps_length_ns(0, 0));
	double all = (double)life_ns * LIVES, known = 0;

	nobody = 0;
	for (int place = 0; place < PLACES; place++)
		places[place] = 0;
	for (int i = 0; i < LIVES; i++)
		left_ns = live(life_ns, left_ns);
	for (int place = 0; place < PLACES; place++)
		known += places[place];
	print_message("%5.2f ms: %.2f %.2f %.2f, nobody %.3f\n", (double)life_ns / 1e6,
		      places[0] / known, places[1] / known, places[2] / known, nobody / all);
	assert_true(known + nobody > 0.999 * all && known + nobody < 1.001 * all);
	assert_true(nobody <= most_nobody * all);
	for (int place = 0; place < PLACES; place++) {
		assert_true(places[place] > (1. / PLACES - tolerance) * known);
		assert_true(places[place] < (1. / PLACES + tolerance) * known);
	}
}

static void lives_of_all_lengths(void **state)
{
	(void)state;
	atomic_store(&collector.interval_ns, INTERVAL_NS);
	live_often(300 * 1000, 0.8, 0.03); /* shorter than a step: as many as have a tick */
	live_often(1240 * 1000, 0.02, 0.02);
	live_often(1250 * 1000, 0.02, 0.02); /* just a step */
	live_often(2 * 1000 * 1000, 0.2, 0.12);
	for (uint64_t ms = 3; ms < 40; ms++)
		live_often(ms * 1000 * 1000, 0.12, 0.08);
}

/* Ticks that are multiples of 4 ms from an unknown place: one in each step, at any of them. */
static void steps_of_a_grain(void **state)
{
	enum { GRAIN_NS = 4 * 1000 * 1000 };
	struct clock_phase phase = {0};

	(void)state;
	steps_begin(&phase, 1, GRAIN_NS);
	assert_int_equal(phase.step_end_ns, GRAIN_NS);
	for (uint64_t age_ns = GRAIN_NS / 2; age_ns < 100 * GRAIN_NS;) {
		uint64_t begin_ns = phase.step_end_ns;

		steps_tick(&phase, age_ns, GRAIN_NS);
		assert_int_equal(phase.paid_until_ns, begin_ns);
		assert_int_equal((phase.step_end_ns - begin_ns) % GRAIN_NS, 0);
		assert_true(phase.due_cpu_ns > begin_ns && phase.due_cpu_ns < phase.step_end_ns);
		assert_int_equal((phase.due_cpu_ns - begin_ns) % GRAIN_NS, 1);
		age_ns = phase.due_cpu_ns - 1 + GRAIN_NS / 2;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lives_of_all_lengths),
		cmocka_unit_test(steps_of_a_grain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
