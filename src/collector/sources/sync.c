/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing of waits for locks: the threshold, and one event from request to grant.  The wrapped
 * calls are in wrap/trace_sync.c, futexes by number in wrap/syscall.c.
 *
 * The calibrated threshold is CALIBRATION_FACTOR times what the shortest of some timed
 * requests takes that need not wait: less than that cannot be told from no wait.
 */
#include "collector/sources/sync.h"

#include "collector/core/control.h"
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/core/text.h"
#include "collector/core/trace.h"
#include "collector/sources/clock.h"
#include "collector/wrap/next.h"

#include <linux/futex.h>

enum { CALIBRATION_ROUNDS = 200, CALIBRATION_FACTOR = 5, CALIBRATION_LEAST_NS = 1000 };

uint64_t sync_threshold_ns = SYNC_OFF;

static bool calibrated;

/* all, calibrate, or a number of ns. */
static bool read_param(const char *value)
{
	calibrated = text_starts(value, "calibrate");
	if (calibrated)
		sync_threshold_ns = CALIBRATION_LEAST_NS;
	else
		sync_threshold_ns = text_starts(value, "all") ? 0 : text_number(value, NULL);
	return true;
}

/* The shortest of many, whatever else the machine does meanwhile. */
static uint64_t shortest_request_ns(void)
{
	static _Atomic unsigned word;
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
		uint64_t before_ns = clock_now_ns();

		atomic_exchange(&word, 1);

		uint64_t took_ns = clock_now_ns() - before_ns;

		if (took_ns < shortest)
			shortest = took_ns;
	}
	return shortest;
}

static void log_threshold(void)
{
	char room[128];
	struct text line = TEXT_ON(room);

	text_puts(&line, "<setting name=\"sync_threshold_ns\"");
	text_attribute_decimal(&line, "value", (int64_t)sync_threshold_ns);
	text_puts(&line, "/>\n");
	log_append(FORMAT_FILE_LOG, &line);
}

static void begin(void)
{
	if (calibrated) {
		uint64_t threshold_ns = CALIBRATION_FACTOR * shortest_request_ns();

		if (threshold_ns > CALIBRATION_LEAST_NS)
			sync_threshold_ns = threshold_ns;
		calibrated = false; /* children of a fork keep it */
	}
	log_threshold();
}

const struct trace_source sync_source = {
	.kind = TRACE_SYNC, .read_param = read_param, .begin = begin};

struct sync_wait sync_request(enum format_sync_type type, const void *object, uint64_t owner)
{
	uint64_t now_ns = clock_now_ns();

	return (struct sync_wait){.type = type,
				  .object = (uint64_t)object,
				  .owner = owner,
				  .since_ns = now_ns,
				  .recorded_ns = control_recorded_ns(now_ns, &(bool){0})};
}

static void record(struct thread *thread, const struct sync_wait *wait, uint64_t now_ns, int error)
{
	/* A wait that began before the recording, or meanwhile paused, is as long as is seen of it.
	 */
	uint64_t waited_ns =
		clock_recorded_since(thread, wait->since_ns, wait->recorded_ns, now_ns);
	const uint64_t fields[SYNC_FIELDS] = {[SYNC_OBJECT] = wait->object,
					      [SYNC_WAITED] = waited_ns,
					      [SYNC_RESULT] = (uint64_t)error,
					      [SYNC_OWNER] = wait->owner};

	if (waited_ns >= sync_threshold_ns)
		trace_event(thread, TRACE_SYNC, wait->type, now_ns, trace_stack(thread), fields);
}

void sync_grant(const struct sync_wait *wait, int error)
{
	uint64_t now_ns = clock_now_ns();
	struct thread *thread;

	if (now_ns - wait->since_ns < sync_threshold_ns || !(thread = trace_enter(TRACE_SYNC)))
		return;
	record(thread, wait, now_ns, error);
	trace_leave(thread);
}

bool sync_futex_waits(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

long sync_futex(long address, long operation, long value, long timeout, long other, long bits)
{
	struct sync_wait wait = sync_request(SYNC_FUTEX, (const void *)address, 0);
	long result = NEXT(syscall)(SYS_futex, address, operation, value, timeout, other, bits);

	sync_grant(&wait, result < 0 ? errno : 0);
	return result;
}
