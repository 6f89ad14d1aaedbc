/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing of waits for locks: the threshold, and one event from request to grant.  The wrapped
 * calls are in wrap/trace_sync.c, futexes by number in wrap/syscall.c.
 *
 * The calibrated threshold is CALIBRATION_FACTOR times what the shortest of some timed
 * requests takes that need not wait: less than that cannot be told from no wait.
 */
#include "collector/sources/sync.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/clock_window.h"
#include "collector/core/log.h"
#include "collector/core/next_functions.h"
#include "collector/core/pending_call.h"
#include "collector/core/stamp.h"
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/storage/experiment.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/storage/text.h"

#include <linux/futex.h>

enum { CALIBRATION_ROUNDS = 200, CALIBRATION_FACTOR = 5, CALIBRATION_LEAST_NS = 1000 };

uint64_t sync_threshold_ns = SYNC_OFF, sync_java_threshold_ns = SYNC_OFF;

struct sync_machine sync_machine;

static bool calibrated;

static bool is_native = true, is_java = true;

static void set_threshold(uint64_t ns)
{
	sync_threshold_ns = is_native ? ns : SYNC_OFF;
	sync_java_threshold_ns = is_java ? ns : SYNC_OFF;
}

static uint64_t threshold_of(unsigned type)
{
	return type == SYNC_MONITOR || type == SYNC_MONITOR_WAIT ? sync_java_threshold_ns
								 : sync_threshold_ns;
}

/* all, calibrate, or a number of ns; then perhaps one of two that is meant alone. */
static bool read_param(const char *value)
{
	const char *scope = value;

	while (*scope && *scope != ',' && *scope != ';')
		scope++;
	is_java = !text_starts(scope, ",n");
	is_native = !text_starts(scope, ",j");
	calibrated = text_starts(value, "calibrate");
	set_threshold(calibrated		  ? CALIBRATION_LEAST_NS
		      : text_starts(value, "all") ? 0
						  : text_number(value, NULL));
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
	text_attribute_decimal(&line, "value",
			       (int64_t)(is_native ? sync_threshold_ns : sync_java_threshold_ns));
	text_puts(&line, "/>\n");
	experiment_append(FORMAT_FILE_LOG, &line);
}

static void begin(void)
{
	stamp_begin();
	if (calibrated) {
		uint64_t threshold_ns = CALIBRATION_FACTOR * shortest_request_ns();

		if (threshold_ns > CALIBRATION_LEAST_NS)
			set_threshold(threshold_ns);
		calibrated = false; /* children of a fork keep it */
	}
	log_threshold();
}

__attribute__((noinline)) struct pending_call
sync_request(enum format_sync_type type, const void *object, uint64_t owner, const void *caller)
{
	uint64_t now_ns = clock_now_ns();
	struct pending_call wait = {.kind = TRACE_SYNC,
				    .type = (uint8_t)type,
				    .object = (uint64_t)object,
				    .owner = owner,
				    .caller = (uint64_t)caller,
				    .since_ns = now_ns,
				    .recorded_ns = recording_clock_ns(now_ns, &(bool){0}),
				    .sp = (uint64_t)__builtin_dwarf_cfa()};

	if (atomic_load_explicit(&collector.recording, memory_order_relaxed))
		pending_call_begin(&wait);
	return wait;
}

/* It began before those of the machine's were left out: its threads then were the machine's own. */
static bool is_left_out(const struct pending_call *wait)
{
	return wait->caller - sync_machine.low < sync_machine.size &&
	       wait->since_ns < sync_machine.since_ns;
}

/*
 * False: it was too short.  A wait that began before the recording, or meanwhile paused, is as
 * long as is seen of it.
 */
static bool describe(const struct thread *thread, const struct pending_call *wait, uint64_t now_ns,
		     int error, uint64_t *fields)
{
	fields[SYNC_OBJECT] = wait->object;
	fields[SYNC_WAITED] =
		clock_recorded_since(thread, wait->since_ns, wait->recorded_ns, now_ns);
	fields[SYNC_RESULT] = (uint64_t)error;
	fields[SYNC_OWNER] = wait->owner;
	return fields[SYNC_WAITED] >= threshold_of(wait->type) && !is_left_out(wait);
}

static struct pending_call of_runtime(const struct runtime_wait *wait)
{
	return (struct pending_call){.kind = TRACE_SYNC,
				     .type = wait->type,
				     .object = wait->object,
				     .since_ns = wait->since_ns,
				     .recorded_ns = wait->recorded_ns};
}

static bool under_way(struct thread *thread, const struct pending_call *wait,
		      const struct clock_remote *remote, uint64_t now_ns, unsigned *type,
		      uint64_t *fields)
{
	const struct pending_call runtime = of_runtime(&thread->wait);
	const struct pending_call *told = runtime.since_ns ? &runtime : wait;

	(void)remote;
	*type = told->type;
	return told->type < SYNC_TYPES && describe(thread, told, now_ns, 0, fields);
}

const struct trace_source sync_source = {
	.kind = TRACE_SYNC, .read_param = read_param, .begin = begin, .under_way = under_way};

void sync_grant(const struct pending_call *wait, int error)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t fields[SYNC_FIELDS];
	struct thread *thread;

	pending_call_end(wait->since_ns);
	if (now_ns - wait->since_ns < sync_threshold_ns || !(thread = trace_enter(TRACE_SYNC)))
		return;
	if (!thread->wait.since_ns && describe(thread, wait, now_ns, error, fields) &&
	    !pending_call_was_written(thread, wait->since_ns))
		trace_event_here(thread, TRACE_SYNC, wait->type, now_ns, fields);
	trace_leave(thread);
}

void sync_record_free(enum format_sync_type type, const void *object, uint64_t owner,
		      const void *frame)
{
	const uint64_t fields[SYNC_FIELDS] = {
		[SYNC_OBJECT] = (uint64_t)object, [SYNC_OWNER] = owner};
	struct thread *thread = trace_enter(TRACE_SYNC);

	if (!thread)
		return;
	if (!thread->wait.since_ns)
		trace_event_above(thread, TRACE_SYNC, type, stamp_in_order(thread), frame, fields);
	trace_leave(thread);
}

void sync_runtime_begin(enum format_sync_type type, uint64_t object)
{
	uint64_t now_ns = clock_now_ns();
	struct thread *thread = trace_enter(TRACE_SYNC);

	if (!thread)
		return;
	thread_lock(thread);
	thread->wait = (struct runtime_wait){.since_ns = now_ns,
					     .recorded_ns = recording_clock_ns(now_ns, &(bool){0}),
					     .object = object,
					     .type = (uint8_t)type};
	thread_unlock(thread);
	trace_leave(thread);
}

void sync_runtime_end(enum format_sync_type type, int error)
{
	uint64_t now_ns = clock_now_ns();
	struct thread *thread = thread_current_if_known();
	uint64_t fields[SYNC_FIELDS];

	if (!thread)
		return;
	struct pending_call wait = of_runtime(&thread->wait);

	thread->wait.since_ns = 0;
	if (!wait.since_ns || wait.type != type || !trace_enter(TRACE_SYNC))
		return;
	if (describe(thread, &wait, now_ns, error, fields) &&
	    !pending_call_was_written(thread, wait.since_ns))
		trace_event_here(thread, TRACE_SYNC, type, now_ns, fields);
	trace_leave(thread);
}

bool sync_runtime_waits(void)
{
	const struct thread *thread = thread_current_if_known();

	return thread && thread->wait.since_ns;
}

void sync_leave_out(uint64_t low, uint64_t high, sync_is_own *is_own)
{
	sync_machine.low = low;
	sync_machine.since_ns = clock_now_ns();
	sync_machine.is_own = is_own;
	atomic_store_explicit(&sync_machine.size, high - low, memory_order_release);
}

uint64_t sync_now_ns(void)
{
	return clock_now_ns();
}

void sync_release(const void *object, uint64_t time_ns)
{
	struct thread *thread = sync_is_on() ? trace_enter(TRACE_SYNC) : NULL;

	if (!thread)
		return;
	trace_release(thread, time_ns, (uint64_t)object);
	trace_leave(thread);
}

long sync_futex(long address, long operation, long value, long timeout, long other, long bits)
{
	struct pending_call wait = sync_request(SYNC_FUTEX, (const void *)address, 0, NULL);
	long result = NEXT(syscall)(SYS_futex, address, operation, value, timeout, other, bits);

	sync_grant(&wait, result < 0 ? errno : 0);
	return result;
}
