/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_switches.h"

#include "collector/sources/clock_holder_requests.h"
#include "collector/storage/descriptor.h"

_Atomic int switches_fd = DESCRIPTOR_NONE;
_Atomic unsigned switches_off;

/*
 * So many windows in a row at more than so many switches a second.  A window of fewer says nothing:
 * it was ended by what they took, as where a handler was kept waiting.
 */
enum { HEAVY_WINDOWS = 4, HEAVY_SWITCHES = 1000, HEAVY_LEAST = 8 };

static _Atomic uint32_t pauses;
static _Atomic uint32_t seen; /* in the window that is open */
static _Atomic uint64_t window_start_ns;
static _Atomic uint32_t heavy_windows;

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

void switches_count(uint64_t now_ns)
{
	if (!atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed))
		atomic_store_explicit(&window_start_ns, now_ns, memory_order_relaxed);
}

bool switches_are_too_many(uint64_t now_ns)
{
	uint64_t count = atomic_exchange(&seen, 0);
	uint64_t length_ns = now_ns - atomic_load(&window_start_ns);
	bool heavy =
		count >= HEAVY_LEAST && count * 1000000000u > length_ns * (uint64_t)HEAVY_SWITCHES;

	atomic_store(&heavy_windows, heavy ? atomic_load(&heavy_windows) + 1 : 0);
	return atomic_load(&heavy_windows) > HEAVY_WINDOWS;
}

void switches_begin_window(void)
{
	atomic_store(&seen, 0);
}

void switches_forget_windows(void)
{
	switches_begin_window();
	atomic_store(&heavy_windows, 0);
}
