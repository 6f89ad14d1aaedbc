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
#include <stddef.h>

enum {
	CONTEXT_FIELD_BYTES = 5, /* a varint of 32 bits */
	CONTEXT_RECORDS_MAX =
		(FORMAT_RUNTIMES - 1) * (3 + CONTEXT_FIELDS_MAX * CONTEXT_FIELD_BYTES),
};

/* When teams of one thread, at one level of nesting, were over. */
struct team_ends {
	_Atomic uint32_t count; /* how many */
	_Atomic uint64_t ns;	/* CLOCK_MONOTONIC of the last one's end, before it is counted */
};

struct runtime_context {
	uint32_t touched; /* a bit for each runtime that has ever set a field */
	uint32_t field[FORMAT_RUNTIMES][CONTEXT_FIELDS_MAX];
	/*
	 * OpenMP: while until->count is until_value the thread's team is there.  Afterwards it has
	 * nothing to do, which no call of ours tells it.  NULL: it is there for good.
	 */
	const struct team_ends *until;
	uint32_t until_value;
};

/* What has been said of it, or is kept of it. */
struct context_said {
	uint32_t field[FORMAT_RUNTIMES][CONTEXT_FIELDS_MAX];
};

static inline void context_forget(struct context_said *said)
{
	for (unsigned runtime = 0; runtime < FORMAT_RUNTIMES; runtime++)
		for (unsigned i = 0; i < CONTEXT_FIELDS_MAX; i++)
			said->field[runtime][i] = 0;
}

/* The thread waits at the end of a region that is over. */
static inline bool context_team_is_over(const struct runtime_context *context)
{
	return context->until &&
	       context->field[RUNTIME_OPENMP][OMP_CONTEXT_STATE] == OMP_STATE_REGION_BARRIER &&
	       atomic_load_explicit(&context->until->count, memory_order_acquire) !=
		       context->until_value;
}

/* What is in force of a runtime. */
static inline const uint32_t *context_of(const struct runtime_context *context,
					 enum format_runtime runtime)
{
	static const uint32_t idle[CONTEXT_FIELDS_MAX] = {[OMP_CONTEXT_STATE] = OMP_STATE_IDLE};

	return runtime == RUNTIME_OPENMP && context_team_is_over(context) ? idle
									  : context->field[runtime];
}

/* When the team was over, CLOCK_MONOTONIC; 0: it is not, or nobody knows any more. */
static inline uint64_t context_team_end_ns(const struct runtime_context *context)
{
	uint64_t ns;

	if (!context_team_is_over(context))
		return 0;
	ns = atomic_load_explicit(&context->until->ns, memory_order_acquire);
	return atomic_load_explicit(&context->until->count, memory_order_relaxed) ==
			       context->until_value + 1
		       ? ns
		       : 0;
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

/* Keeps what is in force now, with a call stack of now. */
static inline void context_keep(struct runtime_context *kept, const struct runtime_context *context)
{
	kept->touched = context->touched;
	kept->until = NULL;
	for (unsigned runtime = 1; kept->touched && runtime < FORMAT_RUNTIMES; runtime++)
		for (unsigned i = 0; i < CONTEXT_FIELDS_MAX; i++)
			kept->field[runtime][i] =
				context_of(context, (enum format_runtime)runtime)[i];
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
