/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runtimes say of the calling thread (format/context.h).  A runtime's layer sets it where it
 * changes; whoever writes an event of the thread says it before, in the same block, where it has
 * not been said yet.  A handler may come in between two fields: each is right by itself.
 */
#ifndef HELIO_COLLECTOR_CONTEXT_H
#define HELIO_COLLECTOR_CONTEXT_H

#include "format/context.h"
#include "format/format.h"
#include "format/varint.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
	CONTEXT_FIELD_BYTES = 5, /* a varint of 32 bits */
	CONTEXT_RECORDS_MAX =
		(FORMAT_RUNTIMES - 1) * (3 + CONTEXT_FIELDS_MAX * CONTEXT_FIELD_BYTES),
};

struct runtime_context {
	uint32_t touched; /* a bit for each runtime that has ever set a field */
	uint32_t field[FORMAT_RUNTIMES][CONTEXT_FIELDS_MAX];
	/*
	 * OpenMP: while *until is until_value the thread's team is there.  Afterwards it has
	 * nothing to do, which no call of ours tells it.  NULL: it is there for good.
	 */
	const _Atomic uint32_t *until;
	uint32_t until_value;
};

/* What is in force of a runtime. */
static inline const uint32_t *context_of(const struct runtime_context *context,
					 enum format_runtime runtime)
{
	static const uint32_t idle[CONTEXT_FIELDS_MAX] = {[OMP_CONTEXT_STATE] = OMP_STATE_IDLE};
	bool waits = context->field[RUNTIME_OPENMP][OMP_CONTEXT_STATE] == OMP_STATE_REGION_BARRIER;
	const _Atomic uint32_t *until = context->until;

	if (runtime == RUNTIME_OPENMP && waits && until &&
	    atomic_load_explicit(until, memory_order_relaxed) != context->until_value)
		return idle;
	return context->field[runtime];
}

static inline void context_set(struct runtime_context *context, enum format_runtime runtime,
			       unsigned field, uint32_t value)
{
	/* Only the thread itself writes; its handlers, and the monitor, read. */
	__atomic_store_n(&context->field[runtime][field], value, __ATOMIC_RELAXED);
	if (!(context->touched >> runtime & 1))
		__atomic_store_n(&context->touched, context->touched | 1u << runtime,
				 __ATOMIC_RELAXED);
}

/* Of one runtime, where it differs from what was said. */
static inline uint8_t *context_put(uint32_t *said, const uint32_t *field, unsigned runtime,
				   uint8_t *out)
{
	uint32_t now[CONTEXT_FIELDS_MAX];
	bool same = true;

	for (unsigned i = 0; i < CONTEXT_FIELDS_MAX; i++) {
		now[i] = __atomic_load_n(&field[i], __ATOMIC_RELAXED);
		same &= now[i] == said[i];
	}
	if (same)
		return out;
	unsigned count = CONTEXT_FIELDS_MAX;

	while (count && !now[count - 1])
		count--;
	*out++ = FORMAT_TAG_CONTEXT;
	*out++ = (uint8_t)runtime;
	*out++ = (uint8_t)count;
	for (unsigned i = 0; i < count; i++)
		out = varint_put(out, now[i]);
	for (unsigned i = 0; i < CONTEXT_FIELDS_MAX; i++)
		said[i] = now[i];
	return out;
}

#endif
