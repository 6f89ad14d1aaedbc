/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_holder_requests.h"

#include "collector/arch/sys.h"

#include <linux/futex.h>
#include <time.h>

struct holding holding;

void holding_wait(_Atomic uint32_t *word, uint32_t value, uint64_t limit_ns)
{
	const struct timespec limit = {.tv_sec = (time_t)(limit_ns / 1000000000u),
				       .tv_nsec = (long)(limit_ns % 1000000000u)};

	sys_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit);
}

void holding_wake(_Atomic uint32_t *word)
{
	sys_call(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, 0);
}

static bool is_here(void)
{
	return atomic_load(&holding.running) && atomic_load(&holding.home) == sys_getpid();
}

static void tell(uint32_t what)
{
	atomic_fetch_or(&holding.wishes, what);
	holding_wake(&holding.wishes);
}

static bool wish(uint32_t what)
{
	if (!is_here() || !atomic_load(&holding.held))
		return false;
	tell(what);
	return true;
}

/* Also of events that it is about to open. */
static bool wish_switch(void)
{
	if (!is_here() || (!atomic_load(&holding.held) && !atomic_load(&holding.starting)))
		return false;
	tell(HOLDING_SWITCH);
	return true;
}

static uint32_t ask(bool off)
{
	uint32_t last = atomic_load(&holding.requested), next;

	do
		next = ((last >> 1) + 1) << 1 | off;
	while (!atomic_compare_exchange_weak(&holding.requested, &last, next));
	return next;
}

static bool is_fulfilled(uint32_t request, uint32_t *seen)
{
	*seen = atomic_load(&holding.fulfilled);
	return (int32_t)(*seen - request) >= 0;
}

bool holder_pause(void)
{
	uint32_t request = ask(true), seen;

	if (!wish_switch())
		return false;
	while (is_here() && !is_fulfilled(request, &seen))
		holding_wait(&holding.fulfilled, seen, HOLDING_SWITCH_PAUSE_NS);
	return true;
}

bool holder_resume(void)
{
	ask(false);
	return wish_switch();
}

bool holder_is_starting(void)
{
	return is_here() && atomic_load(&holding.starting);
}

bool holder_pause_switches(void)
{
	return wish(HOLDING_SWITCH_PAUSE);
}

bool holder_rest(uint64_t ns)
{
	atomic_store(&holding.rest_ns, ns);
	return wish(HOLDING_REST);
}

bool holder_drop(void)
{
	return wish(HOLDING_DROP);
}

bool holder_holds(void)
{
	return atomic_load_explicit(&holding.held, memory_order_relaxed);
}

int holder_tid(void)
{
	return is_here() ? atomic_load(&holding.tid) : 0;
}

void holder_stop(void)
{
	if (!is_here())
		return;
	atomic_fetch_or(&holding.wishes, HOLDING_END);
	holding_wake(&holding.wishes);
	while (sys_call(SYS_tgkill, sys_getpid(), atomic_load(&holding.tid), 0, 0) != -ESRCH)
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
}
