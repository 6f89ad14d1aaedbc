/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/clock_window.h"

#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"

static void narrow(struct window *window, const struct window *by)
{
	if (by->start_ns > window->start_ns)
		window->start_ns = by->start_ns;
	if (by->end_ns && (!window->end_ns || by->end_ns < window->end_ns))
		window->end_ns = by->end_ns;
}

struct window clock_window(const struct thread *thread)
{
	struct window window = {collector.window_start_ns, collector.window_end_ns};

	narrow(&window, &thread->open);
	return window;
}

bool clock_is_recording(const struct thread *thread, uint64_t now_ns)
{
	struct window window = clock_window(thread);
	bool paused;

	recording_clock_ns(now_ns, &paused);
	return !paused && now_ns >= window.start_ns && (!window.end_ns || now_ns < window.end_ns);
}

uint64_t clock_recorded_since(const struct thread *thread, uint64_t since_ns, uint64_t recorded_ns,
			      uint64_t now_ns)
{
	uint64_t start_ns = clock_window(thread).start_ns;
	uint64_t ran_ns = recording_clock_ns(now_ns, &(bool){0}) - recorded_ns;
	uint64_t seen_ns = now_ns - (since_ns > start_ns ? since_ns : start_ns);

	return ran_ns < seen_ns ? ran_ns : seen_ns;
}
