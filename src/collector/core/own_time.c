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

/* Takes away the collector's own time.  The rest is split into user and system time in the same
 * ratio as the whole was. */
void own_time_begun(void)
{
	struct thread *thread = thread_current_if_known();

	if (!thread)
		return;
	uint64_t before_ns = thread->clock.phase.begin_cpu_ns;

	profile_source.begin_program(thread);
	uint64_t own_ns = thread->clock.phase.begin_cpu_ns - before_ns, own_us = own_ns / NS_PER_US;
	uint64_t all_us = user_before_us + system_before_us;
	uint64_t user_us = all_us ? own_us * user_before_us / all_us : 0;

	collector.cpu_before_ns += own_ns;
	own_before_ns += own_ns;
	user_before_us += user_us;
	system_before_us += own_us - user_us;
	own_use_note_before(user_before_us, system_before_us, own_before_ns / NS_PER_US);
}

void own_time_program_ends(void)
{
	struct thread *thread = thread_current_if_known();

	if (thread)
		thread->left_cpu_ns = clock_own_cpu_ns();
	profile_source.account_to_now();
}

void own_time_settled(void)
{
	struct thread *thread = thread_current_if_known();

	if (!thread)
		return;
	thread->end_cpu_ns = clock_own_cpu_ns() - thread->left_cpu_ns;
	collector.cpu_before_ns += thread->end_cpu_ns;
}

void own_time_exec_failed(void)
{
	struct thread *thread = thread_current_if_known();

	if (!thread)
		return;
	thread_lock(thread);
	struct clock_account *clock = &thread->clock;
	uint64_t own_cpu_ns = thread->end_cpu_ns;

	clock->last.cpu_ns += own_cpu_ns;
	clock->last.now_ns += own_cpu_ns;
	clock->recorded_ns = recording_clock_ns(clock->last.now_ns, &(bool){0});
	clock->phase.begin_cpu_ns += own_cpu_ns;
	clock->phase.tick_cpu_ns += own_cpu_ns;
	clock->phase.due_cpu_ns += clock->phase.due_cpu_ns ? own_cpu_ns : 0;
	thread->closed = false;
	thread_unlock(thread);
}

void own_time_put_before(struct text *line)
{
	text_attribute_decimal(line, "before_user_us", (int64_t)user_before_us);
	text_attribute_decimal(line, "before_system_us", (int64_t)system_before_us);
	text_attribute_decimal(line, "before_own_us", (int64_t)(own_before_ns / NS_PER_US));
}
