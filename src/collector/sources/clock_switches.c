/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_switches.h"

#include "collector/sources/clock_holding.h"
#include "collector/storage/descriptor.h"

_Atomic int switches_fd = DESCRIPTOR_NONE;
_Atomic unsigned switches_off;

static _Atomic uint32_t pauses;

bool switches_are_seen(void)
{
	return (switches_fd >= 0 || holder_holds()) &&
	       !atomic_load_explicit(&switches_off, memory_order_relaxed);
}

uint32_t switches_pauses(void)
{
	return atomic_load_explicit(&pauses, memory_order_relaxed);
}

void switches_note_pause(void)
{
	atomic_fetch_add(&pauses, 1);
}
