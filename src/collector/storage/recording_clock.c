/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/recording_clock.h"

#include "collector/storage/recording.h"
#include "format/control.h"

static uint64_t elsewhere; /* the clock of a process without files */
static uint64_t *clock_word = &elsewhere;

void recording_clock_open(uint64_t *word)
{
	clock_word = word;
}

void recording_clock_forget(void)
{
	clock_word = &elsewhere;
}

uint64_t recording_clock_ns(uint64_t now_ns, bool *paused)
{
	uint64_t word = __atomic_load_n(clock_word, __ATOMIC_ACQUIRE);

	*paused = word & CONTROL_PAUSED;
	return control_clock(word, recording_since_start(now_ns));
}

bool recording_clock_always_ran(void)
{
	return !__atomic_load_n(clock_word, __ATOMIC_ACQUIRE);
}

bool recording_clock_stop(uint64_t now_ns, uint64_t final)
{
	return control_stop(clock_word, recording_since_start(now_ns), final);
}

bool recording_clock_go_on(uint64_t now_ns)
{
	return control_go_on(clock_word, recording_since_start(now_ns));
}

bool collector_records_all(void)
{
	return collector.engine != ENGINE_NONE && !collector.partial &&
	       recording_clock_always_ran() && !collector.window_end_ns &&
	       collector.window_start_ns <= collector.start_ns;
}
