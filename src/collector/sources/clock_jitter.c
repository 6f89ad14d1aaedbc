/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_jitter.h"

#include <stdatomic.h>

static _Atomic uint64_t random_state;

void jitter_seed(uint64_t bits)
{
	atomic_fetch_xor(&random_state, bits);
}

uint64_t jitter_bits(void)
{
	uint64_t bits =
		atomic_fetch_add_explicit(&random_state, 0x9e3779b97f4a7c15u, memory_order_relaxed);

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
	return bits ^ bits >> 31;
}

uint64_t jitter_random(uint64_t below_ns)
{
	return below_ns ? jitter_bits() % below_ns : 0;
}

uint64_t jitter_ns(uint64_t interval_ns)
{
	enum { SHORT_NS = 1000 * 1000 };

	/* A tick may cost nearly as much as a short interval, which must not become shorter. */
	if (interval_ns < SHORT_NS)
		return interval_ns + jitter_random(interval_ns / 16 + 1);
	return interval_ns - interval_ns / 4 + jitter_random(interval_ns / 2 + 1);
}
