/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Java heap: a sample of the objects that are allocated, and which of them die.
 *
 * The machine chooses the objects and calls us in the thread that allocates, which is where the
 * stack is.  Each gets a tag, its number: the machine tells of objects with a tag that a collection
 * has found dead.  A weak reference for each would have to be looked at after each collection, by
 * whom, and says nothing of when.  The tags are in an environment of JVMTI of their own: the other
 * one has tags on classes, which are objects too.
 */
#include "collector/core/log.h"
#include "collector/core/trace.h"
#include "collector/runtimes/java_private.h"
#include "collector/sources/jheap.h"

enum { JVMTI_OF_SAMPLES = 0x300b0000 }; /* the version that has them: of JDK 11 */

static jvmtiEnv *objects; /* NULL: nothing is recorded */
static _Atomic uint64_t newest;

static void JNICALL on_allocated(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
				 jclass class, jlong size)
{
	uint64_t number = atomic_fetch_add_explicit(&newest, 1, memory_order_relaxed) + 1;
	uint64_t text = java_class_text(jvmti, class, "", TRACE_JHEAP);

	(void)env, (void)thread;
	java_stack_note(jvmti);
	bool recorded = jheap_allocated(number, (uint64_t)size, text);

	java_stack_forget();
	if (recorded)
		(*jvmti)->SetTag(jvmti, object, (jlong)number);
}

/* In a thread of the machine, maybe within a collection: nothing may be asked of it. */
static void JNICALL on_collected(jvmtiEnv *jvmti, jlong tag)
{
	(void)jvmti;
	jheap_collected((uint64_t)tag);
}

static bool ask(jvmtiEnv *jvmti)
{
	const jvmtiCapabilities wanted = {
		.can_generate_sampled_object_alloc_events = 1,
		.can_generate_object_free_events = 1,
		.can_tag_objects = 1,
	};
	const jvmtiEventCallbacks callbacks = {
		.SampledObjectAlloc = on_allocated,
		.ObjectFree = on_collected,
	};

	return !(*jvmti)->AddCapabilities(jvmti, &wanted) &&
	       !(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) &&
	       !(*jvmti)->SetHeapSamplingInterval(jvmti, (jint)jheap_interval) &&
	       !(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE,
						   NULL);
}

void java_objects_begin(JavaVM *vm)
{
	jvmtiEnv *jvmti = NULL;

	if (objects || !trace_is_wanted(TRACE_JHEAP))
		return;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_OF_SAMPLES) || !ask(jvmti)) {
		log_warning("this Java machine does not tell what it allocates (JDK 11 and later "
			    "do, to one tool at a time): its heap is not recorded",
			    0);
	} else if (trace_make(TRACE_JHEAP) &&
		   !(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
						       JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL)) {
		objects = jvmti;
		return;
	}
	if (jvmti)
		(*jvmti)->DisposeEnvironment(jvmti);
}

/* What was found dead and not told yet is told where the machine stops telling. */
void java_objects_settle(void)
{
	if (objects)
		(*objects)->SetEventNotificationMode(objects, JVMTI_DISABLE,
						     JVMTI_EVENT_OBJECT_FREE, NULL);
}

void java_objects_end(void)
{
	if (objects)
		(*objects)->DisposeEnvironment(objects);
	objects = NULL;
}

void java_objects_forget(void)
{
	objects = NULL;
}
