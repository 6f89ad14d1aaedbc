/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of collectorAPI.h.  A pause is a window that ends now, resuming
 * one that begins now: the accounting knows windows already (-t).
 */
#include "collector/core/core.h"
#include "collector/core/text.h"

COLLECTOR_EXPORT void collector_sample(const char *name);
COLLECTOR_EXPORT void collector_pause(void);
COLLECTOR_EXPORT void collector_resume(void);
COLLECTOR_EXPORT void collector_terminate_expt(void);

static bool active(void)
{
	return atomic_load(&collector.recording) && collector_is_ours();
}

static void note(const char *kind, const char *label)
{
	char room[160];
	struct text line = TEXT_ON(room);

	log_event_begin(&line, kind);
	text_attribute(&line, "text", label);
	log_event_end(&line);
	sample_write(FORMAT_SAMPLE_MANUAL, label);
}

void collector_sample(const char *name)
{
	if (active())
		sample_write(FORMAT_SAMPLE_MANUAL, name ? name : "");
}

static void stop(const char *label)
{
	if (!active() || collector.window_end_ns)
		return;
	collector_settle_all();
	collector.window_end_ns = clock_now_ns();
	note("pause", label);
}

void collector_pause(void)
{
	stop("collector_pause(API)");
}

void collector_resume(void)
{
	if (!active() || !collector.window_end_ns || collector.terminated)
		return;
	note("resume", "collector_resume");
	collector.window_start_ns = clock_now_ns();
	collector.window_end_ns = 0;
}

void collector_terminate_expt(void)
{
	if (!active())
		return;
	stop("collector_close_experiment");
	collector.terminated = true;
}
