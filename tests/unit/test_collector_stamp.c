/* SPDX-License-Identifier: Apache-2.0 */
/* Times of dense events, against the clock read before and after each. */
#include "collector/core/stamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A rate measured over a millisecond between two looks of 2,000 ticks each is so good. */
enum { OFF_NS = 5 * 1000 };

static struct thread thread;

static void check_with(uint64_t (*now_ns)(void))
{
	uint64_t before = clock_now_ns();
	uint64_t now = now_ns();
	uint64_t after = clock_now_ns();

	assert_true(now + OFF_NS >= before);
	assert_true(now <= after + OFF_NS);
}

static uint64_t inside(void)
{
	return stamp_now(&thread);
}

static uint64_t outside(void)
{
	return stamp_now_outside(&thread);
}

static void check_one(void)
{
	check_with(inside);
	check_with(outside);
}

static void check_for(uint64_t ns)
{
	uint64_t end = clock_now_ns() + ns;

	while (clock_now_ns() < end)
		check_one();
}

static void begin(uint32_t threads)
{
	atomic_store(&collector.threads, threads);
	thread.stamp = (struct stamp){0};
	stamp_begin();
	if (!stamp_trusted) {
		print_message("the time stamp counter is not what the kernel's clock goes by\n");
		skip();
	}
}

static void test_close_to_the_clock(void **state)
{
	begin(1);
	check_for(20 * 1000 * 1000);
	assert_true(thread.stamp.reach > 0);
	check_for(1500 * 1000 * 1000); /* the rate has been measured anew */
	assert_true(thread.stamp.reach > 0);
}

/* A counter that goes back, or ahead by more than is looked at, is asked again. */
static void test_counter_jumps(void **state)
{
	begin(1);
	check_for(20 * 1000 * 1000);
	thread.stamp.ticks += UINT64_C(1) << 40;
	check_one();
	thread.stamp.ticks -= UINT64_C(1) << 40;
	check_for(20 * 1000 * 1000);
}

/* Nor is a rate believed that is measured over a jump. */
static void test_no_rate_over_a_jump(void **state)
{
	static const int64_t jumps[] = {-(INT64_C(1) << 40), INT64_C(1) << 28, INT64_C(1) << 40};

	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		begin(1);
		check_for(20 * 1000 * 1000);
		uint64_t scale = thread.stamp.scale;

		thread.stamp.since_ticks += (uint64_t)jumps[i];
		check_for(1100 * 1000 * 1000);
		assert_true(thread.stamp.scale > scale - scale / 64 &&
			    thread.stamp.scale < scale + scale / 64);
	}
}

static void test_threads_have_the_clock(void **state)
{
	begin(2);
	for (uint64_t end = clock_now_ns() + 20 * 1000 * 1000; clock_now_ns() < end;) {
		uint64_t before = clock_now_ns();
		uint64_t now = stamp_in_order(&thread);

		assert_true(now >= before && now <= clock_now_ns());
	}
	assert_int_equal(thread.stamp.reach, 0);
}

/* Who comes by between two changes of a stamp, as a handler does, goes by the clock. */
static void test_half_changed(void **state)
{
	begin(1);
	check_for(20 * 1000 * 1000);
	struct stamp whole = thread.stamp;

	for (int i = 0; i < 2; i++) {
		uint64_t before = clock_now_ns();

		thread.stamp = whole;
		thread.stamp.reach = 0;
		*(i ? &thread.stamp.ns : &thread.stamp.ticks) /= 2;

		uint64_t now = stamp_now_outside(&thread);

		assert_true(now >= before && now <= clock_now_ns());
	}
}

static void test_nobody_knows_the_thread(void **state)
{
	uint64_t before = clock_now_ns(), now = stamp_now_outside(NULL);

	assert_true(now >= before && now <= clock_now_ns());
}

/* A counter that the kernel does not trust is not used, whatever it says. */
static void test_not_trusted(void **state)
{
	bool trusted = stamp_trusted;

	stamp_trusted = false;
	thread.stamp = (struct stamp){0};
	for (uint64_t end = clock_now_ns() + 20 * 1000 * 1000; clock_now_ns() < end;) {
		uint64_t before = clock_now_ns();
		uint64_t now = stamp_now(&thread);

		assert_true(now >= before && now <= clock_now_ns());
	}
	stamp_trusted = trusted;
}

/* Each thread goes by a look of its own. */
static void test_of_two_threads(void **state)
{
	static struct thread other;

	begin(2);
	check_for(20 * 1000 * 1000);
	uint64_t before = clock_now_ns();
	uint64_t now = stamp_now(&other);

	assert_true(now >= before && now <= clock_now_ns());
	assert_int_equal(other.stamp.reach, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_to_the_clock),
		cmocka_unit_test(test_counter_jumps),
		cmocka_unit_test(test_no_rate_over_a_jump),
		cmocka_unit_test(test_threads_have_the_clock),
		cmocka_unit_test(test_half_changed),
		cmocka_unit_test(test_nobody_knows_the_thread),
		cmocka_unit_test(test_not_trusted),
		cmocka_unit_test(test_of_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
