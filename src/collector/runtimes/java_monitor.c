/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for Java's monitors: an enter that finds another thread inside, and Object.wait.  JVMTI
 * tells of both ends, of waits alone: who enters a monitor that is free costs nothing.  What is
 * waited for is known by its class: objects move, and a number for them (identityHashCode) would
 * change those that the program gets.
 *
 * Beside them, what threads of the machine that run no Java wait for (its collectors and compilers,
 * for work most of the time) is left out: nearly all of the time in all waits, and none of the
 * program's.
 */
#include "collector/core/log.h"
#include "collector/core/trace.h"
#include "collector/runtimes/java.h"
#include "collector/runtimes/java_private.h"
#include "collector/sources/sync.h"
#include "collector/storage/recording.h"

#include <dlfcn.h>
#include <errno.h>

/* Of a class, which static methods that are synchronized lock: "class Main". */
static uint64_t class_of(jvmtiEnv *jvmti, JNIEnv *env, jobject object)
{
	static const char of_class[] = "Ljava/lang/Class;";
	jclass class = (*env)->GetObjectClass(env, object);
	char *signature = NULL;
	uint64_t text = 0;

	if (!class)
		return 0;
	if (!(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		text = text_equal(signature, of_class)
			       ? java_class_text(jvmti, object, "class ", TRACE_SYNC)
			       : java_class_text(jvmti, class, "", TRACE_SYNC);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	(*env)->DeleteLocalRef(env, class);
	return text;
}

static void JNICALL on_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	(void)thread;
	sync_runtime_begin(SYNC_MONITOR, class_of(jvmti, env, object));
}

static void JNICALL on_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	(void)jvmti, (void)env, (void)thread, (void)object;
	sync_runtime_end(SYNC_MONITOR, 0);
}

/* Thread.holdsLock. */
static struct {
	jclass class;
	jmethodID method; /* NULL: not known */
} holds_lock;

static void find_holds_lock(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");

	if (class) {
		holds_lock.class = (*env)->NewGlobalRef(env, class);
		holds_lock.method =
			(*env)->GetStaticMethodID(env, class, "holdsLock", "(Ljava/lang/Object;)Z");
		(*env)->DeleteLocalRef(env, class);
	}
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

/* A wait without having entered the monitor throws at once, and the machine tells of no end. */
static bool may_wait(JNIEnv *env, jobject object)
{
	bool held;

	if (!holds_lock.method)
		return true;
	held = (*env)->CallStaticBooleanMethod(env, holds_lock.class, holds_lock.method, object);
	if (!(*env)->ExceptionCheck(env))
		return held;
	(*env)->ExceptionClear(env); /* no room on the stack */
	return true;
}

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
			    jlong timeout)
{
	(void)thread, (void)timeout;
	if (may_wait(env, object))
		sync_runtime_begin(SYNC_MONITOR_WAIT, class_of(jvmti, env, object));
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
			      jboolean timed_out)
{
	(void)jvmti, (void)env, (void)thread, (void)object;
	sync_runtime_end(SYNC_MONITOR_WAIT, timed_out ? ETIMEDOUT : 0);
}

static bool is_on(void)
{
	return trace_is_on(TRACE_SYNC) && sync_java_threshold_ns != SYNC_OFF;
}

extern int _dl_find_object(void *pc, struct dl_find_object *result) __attribute__((weak));

static bool is_machine_thread(void)
{
	return !java_is_java_thread();
}

void java_monitor_leave_out(const void *inside)
{
	struct dl_find_object machine;

	if (!is_on() || !_dl_find_object || _dl_find_object((void *)(uintptr_t)inside, &machine))
		return;
	sync_leave_out((uint64_t)machine.dlfo_map_start, (uint64_t)machine.dlfo_map_end,
		       is_machine_thread);
}

bool java_monitor_add(jvmtiEnv *jvmti, JNIEnv *env, jvmtiEventCallbacks *callbacks)
{
	const jvmtiCapabilities wanted = {.can_generate_monitor_events = 1};

	if (!is_on())
		return false;
	if ((*jvmti)->AddCapabilities(jvmti, &wanted)) {
		log_warning("this Java machine does not tell of monitors", 0);
		return false;
	}
	find_holds_lock(env);
	callbacks->MonitorContendedEnter = on_enter;
	callbacks->MonitorContendedEntered = on_entered;
	callbacks->MonitorWait = on_wait;
	callbacks->MonitorWaited = on_waited;
	return true;
}
