/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage collections, by JVMTI's events of their begin and end.  The machine's thread that stops
 * all others for a collection sends both, and may not use JNI nor allocate in between: readings of
 * the clock and of the machine's memory, and one record of the thread's profile, do neither.
 */
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/core/writer.h"
#include "collector/runtimes/java_private.h"

/* CLOCK_MONOTONIC; 0: none is under way. */
static _Atomic uint64_t begin_ns;
static _Atomic uint64_t used_before;

static void JNICALL on_start(jvmtiEnv *jvmti)
{
	(void)jvmti;
	java_counters_note();
	atomic_store(&used_before, java_heap_used());
	atomic_store(&begin_ns, clock_now_ns());
}

/* One that ends while the recording is paused is left out. */
static void JNICALL on_finish(jvmtiEnv *jvmti)
{
	uint64_t begun_ns = atomic_exchange(&begin_ns, 0), now_ns = clock_now_ns();
	struct thread *thread = begun_ns ? java_recorded_thread(now_ns) : NULL;

	(void)jvmti;
	if (!thread)
		return;

	const struct writer_collection collection = {
		.begin_ns = begun_ns,
		.duration_ns = now_ns - begun_ns,
		.before = atomic_load(&used_before),
		.after = java_heap_used(),
		.cause = java_counters_cause(),
		.collector = java_counters_collector(),
	};

	thread_lock(thread);
	writer_collection(thread, &collection);
	thread_unlock(thread);
}

void java_collection_add(jvmtiEventCallbacks *callbacks)
{
	callbacks->GarbageCollectionStart = on_start;
	callbacks->GarbageCollectionFinish = on_finish;
}

/* A process has one machine, whose tables stay where they are: a callback of the recording before
 * may still be reading what was found. */
static void find_places(void)
{
	static bool found;

	if (found)
		return;
	found = true;
	java_heap_begin();
	java_counters_begin();
}

void java_collection_begin(jvmtiEnv *jvmti)
{
	const jvmtiCapabilities wanted = {.can_generate_garbage_collection_events = 1};

	find_places();
	if (!(*jvmti)->AddCapabilities(jvmti, &wanted) &&
	    !(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
						JVMTI_EVENT_GARBAGE_COLLECTION_START, NULL))
		(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
						   JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, NULL);
}
