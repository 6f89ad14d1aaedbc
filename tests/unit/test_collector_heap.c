/* SPDX-License-Identifier: Apache-2.0 */
/* The mathematics of sampling, against libm's. */
#include "collector/sources/heap_sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint64_t means[] = {1, 100, 16384, 524288, UINT64_C(1) << 33};

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void test_distance(void **state)
{
	static const uint64_t edges[] = {
		0, 1, 2, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1};
	uint64_t seed = 7;

	for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++)
		for (int i = 0; i < 10000; i++) {
			uint64_t random = i < 7 ? edges[i] : next(&seed);
			double u = ldexp((double)(random ? random : 1), -64);
			double expected = -log(u) * (double)means[m];
			double got = (double)heap_sample_distance(random, means[m]);

			assert_true(fabs(got - expected) <= 1 + expected * 1e-9);
		}
}

/* The weight is 1 / P rounded down or up, and up as often as its fraction says. */
static void test_weight(void **state)
{
	static const uint64_t sizes[] = {1, 16, 1000, 16384, 30000, 524288, 1 << 20, 1 << 30};
	uint64_t seed = 9;

	for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			double expected = 1 / -expm1(-(double)sizes[s] / (double)means[m]);
			double sum = 0;

			for (int i = 0; i < 20000; i++) {
				uint64_t weight =
					heap_sample_weight(next(&seed), sizes[s], means[m]);

				assert_true((double)weight >= floor(expected * (1 - 1e-8)) &&
					    (double)weight <= ceil(expected * (1 + 1e-8)));
				sum += (double)weight;
			}
			assert_true(fabs(sum / 20000 - expected) <= 0.02 + expected * 1e-8);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
