/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_record.h"

#include "collector/core/thread_state.h"
#include "collector/core/writer.h"
#include "collector/storage/recording.h"

enum { NS_PER_US = 1000 };

/* Writes whole microseconds of what is pending and keeps the rest. */
static void write_pending(struct thread *thread, enum format_state state, int64_t *pending_ns,
			  uint32_t stack)
{
	int64_t us = *pending_ns / NS_PER_US;

	if (us <= 0 ||
	    collector.engine ==
		    ENGINE_NONE) /* without a clock a thread's times are only those of its life */
		return;
	if (!writer_event(thread, thread->clock.last.now_ns, state, (uint64_t)us, stack))
		return;
	*pending_ns -= us * NS_PER_US;
	if (state != FORMAT_STATE_USER && state != FORMAT_STATE_SYSTEM)
		return;
	atomic_fetch_add_explicit(&collector.cpu_recorded_ns, (uint64_t)us * NS_PER_US,
				  memory_order_relaxed);
}

/*
 * Of what is pending, the part before the thread's team was over, where that was meanwhile: it
 * waited for the others then, and for work later.
 */
static void emit_before_end(struct thread *thread, enum format_state state, int64_t *pending_ns,
			    uint32_t stack, const struct runtime_context *then)
{
	uint64_t ended_ns = context_team_end_ns(then), now_ns = thread->clock.last.now_ns;
	int64_t part_ns = *pending_ns - (int64_t)(now_ns - ended_ns);

	if (!ended_ns || ended_ns > now_ns || part_ns <= 0)
		return;
	*pending_ns -= part_ns;
	thread->before = *then;
	thread->before.until = NULL;
	thread->then = &thread->before;
	write_pending(thread, state, &part_ns, stack);
	*pending_ns += part_ns;
}

void clock_record(struct thread *thread, enum format_state state, int64_t *pending_ns,
		  uint32_t stack, const struct runtime_context *then)
{
	if (!then)
		then = &thread->context;
	emit_before_end(thread, state, pending_ns, stack, then);
	thread->then = then;
	write_pending(thread, state, pending_ns, stack);
	thread->then = NULL;
}
