/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fates of blocks against a matcher that goes through all of them for each event: random
 * threads, addresses that are used again, in runs of any length.
 */
#include "experiment/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 6000, THREADS = 5, ADDRESSES = 300 };

struct truth {
	struct trace_event events[EVENTS]; /* in the order of time */
	size_t row[EVENTS];		   /* of the trace */
	uint8_t fate[EVENTS];
	size_t until[EVENTS];
	uint64_t unmatched, peak_bytes, peak_ns, left_bytes;
};

static struct truth truth;
static uint64_t seed = 1;

static uint64_t below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % limit;
}

/* Threads stay for a while, so that some blocks are released by the next call of their thread. */
static void make_events(void)
{
	uint64_t thread = 0, time = 1000;

	for (size_t i = 0; i < EVENTS; i++) {
		struct trace_event *event = &truth.events[i];

		thread = below(4) ? thread : below(THREADS);
		*event = (struct trace_event){.thread = thread, .time_ns = time += 1 + below(900)};
		event->type = below(2) ? HEAP_FREE : (uint8_t)below(HEAP_ALIGNED + 1);
		event->field[HEAP_ADDRESS] = 0x10000 + 16 * below(ADDRESSES);
		if (i && event->type == HEAP_FREE && !below(3))
			event->field[HEAP_ADDRESS] = truth.events[i - 1].field[HEAP_ADDRESS];
		if (event->type != HEAP_FREE) {
			event->field[HEAP_SIZE] = below(5000);
			event->field[HEAP_WEIGHT] = below(3) ? 0 : 1 + below(9);
		}
	}
}

static uint64_t bytes_of(size_t i)
{
	const uint64_t *field = truth.events[i].field;

	return field[HEAP_SIZE] * (field[HEAP_WEIGHT] ? field[HEAP_WEIGHT] : 1);
}

/* The live block at the event's address, or EVENTS. */
static size_t live_at(size_t event)
{
	for (size_t i = event; i-- > 0;)
		if (truth.fate[i] == HEAP_FATE_LEFT &&
		    truth.events[i].field[HEAP_ADDRESS] == truth.events[event].field[HEAP_ADDRESS])
			return i;
	return EVENTS;
}

/* The last event of the same thread before this one, or EVENTS. */
static size_t before(size_t event)
{
	for (size_t i = event; i-- > 0;)
		if (truth.events[i].thread == truth.events[event].thread)
			return i;
	return EVENTS;
}

static void work_out_fates(void)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		bool is_release = truth.events[i].type == HEAP_FREE;
		size_t block = live_at(i);

		if (block < EVENTS) {
			truth.fate[block] = is_release && before(i) == block ? HEAP_FATE_TEMPORARY
									     : HEAP_FATE_RELEASED;
			truth.until[block] = i;
			bytes -= bytes_of(block);
		} else if (is_release) {
			truth.unmatched++;
		}
		if (!is_release) {
			truth.fate[i] = HEAP_FATE_LEFT;
			truth.until[i] = EVENTS;
			bytes += bytes_of(i);
		}
		if (bytes > truth.peak_bytes) {
			truth.peak_bytes = bytes;
			truth.peak_ns = truth.events[i].time_ns;
		}
	}
	truth.left_bytes = bytes;
}

/* As files have them: some of one thread, some of another, each by time. */
static void make_trace(struct experiment_trace *trace)
{
	size_t at[THREADS] = {0}, written = 0;

	experiment_trace_init(trace, TRACE_HEAP);
	rows_open(&trace->rows);
	while (written < EVENTS) {
		size_t thread = below(THREADS), length = 1 + below(400);

		for (; at[thread] < EVENTS && length; at[thread]++) {
			if (truth.events[at[thread]].thread != thread)
				continue;
			truth.row[at[thread]] = written++;
			length--;
			experiment_trace_add(trace, TRACE_HEAP, &truth.events[at[thread]]);
		}
	}
	rows_close(&trace->rows);
}

static void assert_fates(const struct experiment_heap *heap)
{
	for (size_t i = 0; i < EVENTS; i++) {
		uint32_t until = heap->until[truth.row[i]];

		assert_int_equal(heap->fate[truth.row[i]], truth.fate[i]);
		if (truth.fate[i] == HEAP_FATE_NONE || truth.until[i] == EVENTS)
			assert_int_equal(until, HEAP_NEVER);
		else
			assert_int_equal(until, truth.row[truth.until[i]]);
	}
}

/* The highest of what is kept by ranges is the peak, in the range of its time. */
static void assert_course(const struct experiment_heap *heap)
{
	uint64_t length = heap->last_ns - heap->first_ns + 1;
	size_t range = (heap->peak_ns - heap->first_ns) * HEAP_RANGES / length;

	assert_int_equal(heap->first_ns, truth.events[0].time_ns);
	assert_int_equal(heap->last_ns, truth.events[EVENTS - 1].time_ns);
	assert_int_equal(heap->most[range], truth.peak_bytes);
	for (size_t i = 0; i < HEAP_RANGES; i++)
		assert_true(heap->most[i] && heap->most[i] <= truth.peak_bytes);
}

static void test_against_the_long_way(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		struct experiment_trace trace;
		struct experiment_heap heap;

		memset(&truth, 0, sizeof(truth));
		make_events();
		work_out_fates();
		make_trace(&trace);
		experiment_heap_match(&heap, &trace);
		assert_fates(&heap);
		assert_course(&heap);
		assert_int_equal(heap.unmatched, truth.unmatched);
		assert_int_equal(heap.peak_bytes, truth.peak_bytes);
		assert_int_equal(heap.peak_ns, truth.peak_ns);
		assert_int_equal(heap.left_bytes, truth.left_bytes);
		experiment_heap_fini(&heap);
		experiment_trace_fini(&trace);
	}
}

enum { LIVE = 2000, RENEWALS = 40000, ONE_IN = 10, SAMPLES = 30 };

static void add_event(struct experiment_trace *trace, size_t time, uint8_t type, size_t block)
{
	struct trace_event event = {.thread = 1, .time_ns = time, .type = type};

	event.field[HEAP_ADDRESS] = 0x10000 + 16 * block;
	event.field[HEAP_SIZE] = 100;
	event.field[HEAP_WEIGHT] = ONE_IN;
	experiment_trace_add(trace, TRACE_HEAP, &event);
}

/* A sample of one in ten of so many blocks that are all there at once, and then renewed at random.
 */
static void make_sample(struct experiment_trace *trace)
{
	bool in_sample[LIVE] = {false};

	experiment_trace_init(trace, TRACE_HEAP);
	rows_open(&trace->rows);
	for (size_t i = 0; i < LIVE + RENEWALS; i++) {
		size_t block = i < LIVE ? i : below(LIVE);

		if (in_sample[block])
			add_event(trace, 2 * i, HEAP_FREE, block);
		in_sample[block] = !below(ONE_IN);
		if (in_sample[block])
			add_event(trace, 2 * i + 1, HEAP_MALLOC, block);
	}
	rows_close(&trace->rows);
}

/* There are never more than LIVE blocks, but in a sample's highest moment there seem to be. */
static void test_peak_of_samples(void **state)
{
	double sum = 0, highest = 0, squares = 0, truth_bytes = LIVE * 100;

	(void)state;
	for (int round = 0; round < SAMPLES; round++) {
		struct experiment_trace trace;
		struct experiment_heap heap;

		make_sample(&trace);
		experiment_heap_match(&heap, &trace);
		sum += (double)heap.likely_bytes;
		highest += (double)heap.peak_bytes;
		squares += ((double)heap.likely_bytes - truth_bytes) *
			   ((double)heap.likely_bytes - truth_bytes) / heap.peak_variance;
		experiment_heap_fini(&heap);
		experiment_trace_fini(&trace);
	}
	assert_true(highest / SAMPLES > 1.1 * truth_bytes);
	assert_true(sum / SAMPLES > 0.95 * truth_bytes && sum / SAMPLES < 1.05 * truth_bytes);
	/* the error is of the right size */
	assert_true(squares / SAMPLES > 0.3 && squares / SAMPLES < 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_the_long_way),
		cmocka_unit_test(test_peak_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
