/* SPDX-License-Identifier: Apache-2.0 */
/* The mathematics of sampling, against libm's; and what is read of the trace at the end. */
#include "collector/core/trace.h"
#include "collector/sources/heap_sample.h"
#include "collector/sources/heap_search.h"
#include "collector/storage/blockfile.h"
#include "collector/storage/record_buffer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

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

/* Somebody has written to the file: the last block says that it is longer, and nothing is behind.
 */
static void test_block_that_lies(void **state)
{
	enum { SIZE = FORMAT_BLOCK_ALIGN + LANE_BLOCK };
	struct heap_extents extents;
	uint8_t *base = mmap(NULL, SIZE + FORMAT_BLOCK_ALIGN, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(trace_read_param(format_kinds[TRACE_HEAP].key, "all"));
	struct blockfile *file = trace_file(TRACE_HEAP);
	assert_non_null(file);
	assert_true(base != MAP_FAILED && !mprotect(base + SIZE, FORMAT_BLOCK_ALIGN, PROT_NONE));
	*(struct format_block_header *)(void *)(base + FORMAT_BLOCK_ALIGN) =
		(struct format_block_header){.magic = FORMAT_BLOCK_MAGIC,
					     .size = LANE_BLOCK,
					     .used = 0x7fffffff,
					     .encoding = FORMAT_TRACE};
	file->arena[0].base = base;
	file->arena[0].size = SIZE;
	atomic_store(&file->arena[0].used, SIZE);
	atomic_store(&file->arena[0].state, ARENA_READY);
	assert_true(heap_extents_read(&extents));
	assert_int_equal(extents.count, 0);
	heap_extents_fini(&extents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_weight),
		cmocka_unit_test(test_block_that_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
