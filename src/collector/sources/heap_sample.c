/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers only, since code of the collector uses no floating-point registers.
 *
 * The sampled blocks that are live are in a hash table of cache lines: an address is in its
 * line or nowhere.  Where the line is full the allocation is not recorded, and counted as lost.
 */
#include "collector/sources/heap_sample.h"

#include "collector/arch/sys.h"
#include "collector/core/time.h"
#include "collector/core/trace.h"
#include "collector/sources/heap.h"
#include "collector/storage/recording.h"

#include <sys/mman.h>

enum {
	LINE = 8, /* addresses */
	LINES_MIN_SHIFT = 11,
	LINES_MAX_SHIFT = 17,
	MEMORY_SHIFT = 35, /* live bytes for which the table is made, and some more */
	FRACTION = 62,
};

#define ONE	     (UINT64_C(1) << FRACTION)
#define LN2_FRACTION UINT64_C(0x2c5c85fdf473de6b) /* ln 2 */

__thread int64_t heap_until;
static __thread uint64_t randomness __attribute__((tls_model("initial-exec")));

static uint64_t sample_mean;
static _Atomic(uint64_t) (*lines)[LINE];
static unsigned lines_shift;

static uint64_t multiply(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> FRACTION);
}

/* ---- the mathematics ---- */

/* log2 of a number from 1 to 2, of both with FRACTION bits behind the point: squared, it shows the
 * logarithm bit by bit. */
static uint64_t log2_of(uint64_t number)
{
	enum { BITS = 40 };
	uint64_t result = 0;

	for (int i = 1; i <= BITS; i++) {
		number = multiply(number, number);
		if (number >= 2 * ONE) {
			number >>= 1;
			result |= ONE >> i;
		}
	}
	return result;
}

uint64_t heap_sample_distance(uint64_t random, uint64_t mean)
{
	uint64_t some = random ? random : 1;
	unsigned zeros = (unsigned)__builtin_clzll(some);
	uint64_t mantissa = some << zeros >> (63 - FRACTION);
	/* -log2(random / 2^64), which is from 0 to 64 */
	unsigned __int128 bits = ((unsigned __int128)(zeros + 1) << FRACTION) - log2_of(mantissa);
	uint64_t logarithm = multiply((uint64_t)(bits >> 8), LN2_FRACTION);

	return (uint64_t)((unsigned __int128)logarithm * mean >> (FRACTION - 8));
}

/* exp(-a / b) */
static uint64_t exp_minus(uint64_t a, uint64_t b)
{
	enum { TERMS = 24 };
	uint64_t whole = a / b, part, term = ONE, even = 0, odd = 0, result;

	part = (uint64_t)(((unsigned __int128)(a % b) << FRACTION) / b);
	for (uint64_t i = 1; i <= TERMS; i++) {
		*(i % 2 ? &even : &odd) += term;
		term = multiply(term, part) / i;
	}
	result = even - odd;
	for (; whole && result; whole--)
		result = multiply(result, UINT64_C(0x178b56362cef3791)); /* exp(-1) */
	return result;
}

uint64_t heap_sample_weight(uint64_t random, uint64_t size, uint64_t mean)
{
	uint64_t chance = ONE - exp_minus(size, mean);
	uint64_t below = (uint64_t)((unsigned __int128)random * chance >> 64);

	return ONE / chance + (below < ONE % chance);
}

/* splitmix64 */
uint64_t heap_sample_random(uint64_t *state)
{
	uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);

	bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
	return bits ^ bits >> 31;
}

static uint64_t next_random(void)
{
	return heap_sample_random(&randomness);
}

/* ---- the sampled blocks ---- */

static _Atomic(uint64_t) *line_of(uint64_t address)
{
	return lines[(address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - lines_shift)];
}

static bool insert(uint64_t address)
{
	_Atomic(uint64_t) *line = line_of(address);

	for (int i = 0; i < LINE; i++) {
		uint64_t none = 0;

		if (!atomic_load_explicit(&line[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&line[i], &none, address))
			return true;
	}
	return false;
}

/* False: it is not in the sample. */
static bool take_out(uint64_t address)
{
	_Atomic(uint64_t) *line = line_of(address);

	for (int i = 0; i < LINE; i++)
		if (atomic_load_explicit(&line[i], memory_order_relaxed) == address) {
			atomic_store(&line[i], 0);
			return true;
		}
	return false;
}

bool heap_sample_begin(uint64_t mean)
{
	unsigned shift = LINES_MIN_SHIFT;
	size_t size;

	while (shift < LINES_MAX_SHIFT && LINE * mean << shift < UINT64_C(1) << MEMORY_SHIFT)
		shift++;
	size = (sizeof(*lines) << shift);
	if (lines)
		sys_munmap(lines, size);
	sample_mean = mean;
	lines_shift = shift;
	lines = sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return lines;
}

static void record(struct thread *thread, enum format_heap_type type, const void *block,
		   size_t size)
{
	const uint64_t fields[HEAP_FIELDS] = {
		[HEAP_ADDRESS] = (uint64_t)block,
		[HEAP_SIZE] = size,
		[HEAP_WEIGHT] = heap_sample_weight(next_random(), size, sample_mean)};

	if (insert((uint64_t)block))
		trace_event_here(thread, TRACE_HEAP, type, clock_now_ns(), fields);
	else
		atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
}

/* False: the thread's first points were not strewn yet, and none is in here. */
static bool strew(void)
{
	if (randomness)
		return true;
	randomness = clock_now_ns() * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)&randomness;
	heap_until += (int64_t)heap_sample_distance(next_random(), sample_mean);
	return heap_until < 0;
}

void heap_sample_allocated(enum format_heap_type type, const void *block, size_t size)
{
	if (!strew())
		return;
	heap_until = (int64_t)heap_sample_distance(next_random(), sample_mean);
	struct thread *thread = block && size ? trace_enter(TRACE_HEAP) : NULL;

	if (!thread)
		return;
	record(thread, type, block, size);
	trace_leave(thread);
}

void heap_sample_released(const void *block)
{
	if (block && take_out((uint64_t)block))
		heap_released(block);
}
