/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/own_time.h"

#include "collector/arch/sys.h"
#include "collector/core/profile_source.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"

#include <sys/resource.h>

enum { NS_PER_US = 1000 };

static uint64_t entered_ns; /* of the CPU clock of the thread that begins */

/* CPU time before the recording, as the kernel splits it, and the collector's part of it. */
static uint64_t user_before_us, system_before_us, own_before_ns;

void own_time_enter(void)
{
	entered_ns = clock_own_cpu_ns();
}

void own_time_note_before(void)
{
	uint64_t now_ns = clock_own_cpu_ns();
	struct rusage usage = {0};

	sys_call(SYS_getrusage, RUSAGE_SELF, &usage, 0, 0);
	user_before_us = format_us_of(&usage.ru_utime);
	system_before_us = format_us_of(&usage.ru_stime);
	own_before_ns = now_ns - entered_ns;
	own_use_note_before(user_before_us, system_before_us, own_before_ns / NS_PER_US);
}

/*
 * Moves the thread's account on by what it has used since, as if its clocks had stood still.
 * Returns how much that is: 0 if a tick has come in between, which has given it to a call stack.
 */
static uint64_t move_on(struct clock_account *clock, uint64_t since_ns)
{
	uint64_t own_ns = clock_own_cpu_ns() - since_ns;
	uint64_t taken_ns = clock->last.cpu_ns > since_ns ? clock->last.cpu_ns - since_ns : 0;

	if (clock->cpu_pending_ns < (int64_t)taken_ns ||
	    (clock->phase.ticked && clock->phase.tick_cpu_ns > since_ns))
		return 0;
	clock->cpu_pending_ns -= (int64_t)taken_ns;
	clock->last.cpu_ns += own_ns - taken_ns;
	clock->last.now_ns += own_ns - taken_ns;
	clock->recorded_ns += own_ns - taken_ns;
	return own_ns;
}

/* since_ns: of the thread's CPU clock; 0: since its accounting began. */
static uint64_t leave_out(uint64_t since_ns)
{
	struct thread *thread = thread_current_if_known();

	if (!thread || !collector_records_all())
		return 0;
	thread_lock(thread);
	struct clock_phase *phase = &thread->clock.phase;
	uint64_t own_ns = move_on(&thread->clock, since_ns ? since_ns : phase->begin_cpu_ns);

	if (!since_ns)
		phase->begin_cpu_ns += own_ns;
	thread_unlock(thread);
	collector.cpu_before_ns += own_ns;
	return own_ns;
}

void own_time_leave_out(uint64_t since_ns)
{
	leave_out(since_ns);
}

/* The kernel's split stays: what is left when our own is taken away is in the same ratio. */
void own_time_begun(void)
{
	uint64_t own_ns = leave_out(0), own_us = own_ns / NS_PER_US;
	struct thread *thread = thread_current_if_known();
	uint64_t all_us = user_before_us + system_before_us;
	uint64_t user_us = all_us ? own_us * user_before_us / all_us : 0;

	own_before_ns += own_ns;
	user_before_us += user_us;
	system_before_us += own_us - user_us;
	own_use_note_before(user_before_us, system_before_us, own_before_ns / NS_PER_US);
	if (thread)
		profile_source.begin_program(thread);
}

void own_time_put_before(struct text *line)
{
	text_attribute_decimal(line, "before_user_us", (int64_t)user_before_us);
	text_attribute_decimal(line, "before_system_us", (int64_t)system_before_us);
	text_attribute_decimal(line, "before_own_us", (int64_t)(own_before_ns / NS_PER_US));
}
