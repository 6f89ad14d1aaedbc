/* SPDX-License-Identifier: Apache-2.0 */
/* The wrapped function: an event for each call, with its argument. */
#include "collector/core/next_functions.h"
#include "collector/core/stamp.h"
#include "collector/core/trace.h"

#include <string.h>

void demo_call(unsigned long amount);

COLLECTOR_EXPORT void demo_call(unsigned long amount)
{
	void (*next)(unsigned long amount);
	void *symbol = next_symbol("demo_call");

	memcpy(&next, &symbol, sizeof(next));
	next(amount);

	struct thread *thread = trace_enter(TRACE_DEMO);

	if (!thread)
		return;
	trace_event_here(thread, TRACE_DEMO, DEMO_CALL, stamp_now(thread),
			 (const uint64_t[DEMO_FIELDS]){[DEMO_AMOUNT] = amount});
	trace_leave(thread);
}
