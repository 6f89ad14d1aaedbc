/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/pending_call.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/clock_window.h"
#include "collector/core/stack.h"
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/storage/recording.h"

/* What a call by number pushes between its wrapped function's frame and the call itself. */
enum { CALL_SLACK = 64 };

/* Calls whose place on the stack is in use for this one were left by a jump. */
static void drop_left(struct thread *thread, uint64_t sp)
{
	while (thread->calls && thread->call[thread->calls - 1].sp <= sp &&
	       thread_has_stack_at(thread, sp) &&
	       thread_has_stack_at(thread, thread->call[thread->calls - 1].sp))
		thread->calls--;
	if (thread->calls == UNDER_WAY_MAX)
		thread->calls = 0;
}

void pending_call_begin(const struct pending_call *call)
{
	struct thread *thread = thread_current();

	if (!thread || !thread_is_caller(thread, call->sp))
		return;
	drop_left(thread, call->sp);
	thread->call[thread->calls] = *call;
	/* Whoever looks, at the end, finds it whole. */
	atomic_signal_fence(memory_order_release);
	thread->calls++;
}

void pending_call_end(uint64_t since_ns)
{
	struct thread *thread = thread_current_if_known();
	uint32_t calls = thread ? thread->calls : 0;

	while (calls && thread->call[calls - 1].since_ns != since_ns)
		calls--;
	if (calls)
		thread->calls = calls - 1;
}

bool pending_call_was_written(const struct thread *thread, uint64_t since_ns)
{
	return since_ns < thread->written_until_ns;
}

/*
 * The frame of the call's wrapped function, in the stack that was walked last; 0: it is not there.
 */
static uint32_t find_frame(const struct unwind_memory *memory, const struct pending_call *call)
{
	for (uint32_t i = memory->depth; i; i--) {
		const struct unwind_frame *frame = &memory->frames[i];

		if (frame->pc >= collector.text_low && frame->pc < collector.text_high &&
		    frame->sp <= call->sp && frame->sp + CALL_SLACK >= call->sp)
			return i;
	}
	return 0;
}

/* As an event of the call would have it: of I/O the leaf is the function that was called. */
static uint32_t stack_of_call(const struct unwind_memory *memory, uint32_t frame,
			      enum trace_kind kind)
{
	bool inner = kind == TRACE_IO && frame < memory->depth;

	return memory->frames[inner ? frame + 1 : frame].node;
}

static void write_call(struct thread *thread, const struct pending_call *call,
		       const struct clock_remote *remote, uint64_t now_ns)
{
	uint32_t frame = find_frame(thread->unwind, call);
	uint64_t fields[TRACE_FIELDS_MAX] = {0};
	unsigned type;

	if (frame && !pending_call_was_written(thread, call->since_ns) &&
	    call->kind < TRACE_KINDS && trace_source(call->kind)->under_way &&
	    trace_source(call->kind)->under_way(thread, call, remote, now_ns, &type, fields))
		trace_event_locked(thread, call->kind, type, now_ns,
				   stack_of_call(thread->unwind, frame, call->kind), fields);
}

static void set_elsewhere(struct thread *thread, bool elsewhere)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		thread->traces[kind].elsewhere = elsewhere;
}

/*
 * A thread that runs may spin for a lock.  Its wrapped function is there, at the place that it has
 * noted, while the address that the lock's function returns to lies below.
 */
static bool find_spin(const struct thread *thread, struct clock_remote *remote)
{
	uint32_t calls = thread->calls < UNDER_WAY_MAX ? thread->calls : UNDER_WAY_MAX;
	const struct pending_call *call = calls ? &thread->call[calls - 1] : NULL;

	if (!call || call->kind != TRACE_SYNC || call->type != SYNC_SPIN ||
	    sys_read_memory(call->sp - sizeof(remote->pc), &remote->pc, sizeof(remote->pc)) !=
		    sizeof(remote->pc))
		return false;
	remote->sp = call->sp;
	return remote->pc >= collector.text_low && remote->pc < collector.text_high;
}

static void write_calls(struct thread *thread, void *own)
{
	struct clock_remote remote = {0};

	if (thread == own || !thread->calls || !thread_lock_other(thread))
		return;
	bool waits = !thread->inside && clock_look_at(thread, &remote) &&
		     (remote.blocked || find_spin(thread, &remote));
	uint64_t now_ns = clock_now_ns();

	if (waits && clock_is_recording(thread, now_ns)) {
		set_elsewhere(thread, true);
		unwind_memory_reset(thread->unwind);
		stack_of_blocked(thread, remote.pc, remote.sp);
		for (uint32_t i = 0; i < thread->calls && i < UNDER_WAY_MAX; i++)
			write_call(thread, &thread->call[i], &remote, now_ns);
		thread->written_until_ns = now_ns;
		thread->over = true;
		set_elsewhere(thread, false);
	}
	thread_unlock(thread);
}

void pending_call_write_all(void)
{
	bool any = false;

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		any = any || (trace_is_on(kind) && trace_source(kind)->under_way);
	if (any)
		thread_for_each(write_calls, thread_current_if_known());
}

static void go_on(struct thread *thread, void *unused)
{
	(void)unused;
	thread->over = false;
}

void pending_call_exec_failed(void)
{
	thread_for_each(go_on, NULL);
}
