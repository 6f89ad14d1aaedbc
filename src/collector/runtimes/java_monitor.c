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

enum { NAME_ROOM = 512, CACHE_SLOTS = 1024, HASH_BITS = 32 };

/* Numbers of texts that were given lately: the upper half is of the name's hash; 0: free. */
static _Atomic uint64_t cache[CACHE_SLOTS];

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ trace_generation();

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash;
}

/* Of the same name perhaps more than one: readers go by the text. */
static uint64_t number_of(const char *name)
{
	uint64_t hash = hash_of(name);
	_Atomic uint64_t *slot = &cache[hash % CACHE_SLOTS];
	uint64_t found = atomic_load(slot);

	if (found && found >> HASH_BITS == hash >> HASH_BITS)
		return (uint32_t)found;

	struct thread *thread = trace_enter(TRACE_SYNC);

	if (!thread)
		return 0;
	uint32_t number = trace_text(thread, TRACE_SYNC, name);

	trace_leave(thread);
	if (number)
		atomic_store(slot, hash >> HASH_BITS << HASH_BITS | number);
	return number;
}

/* "Ljava/util/Vector;": java.util.Vector; those of arrays stay as they are. */
static void put_class_name(struct text *name, const char *signature)
{
	bool plain = *signature == 'L';

	for (signature += plain; *signature && !(plain && *signature == ';'); signature++)
		text_putc(name, *signature == '/' ? '.' : *signature);
	if (name->full)
		text_end_cut(name);
}

/* Of a class, which static methods that are synchronized lock: "class Main". */
static uint64_t class_of(jvmtiEnv *jvmti, JNIEnv *env, jobject object)
{
	static const char of_class[] = "Ljava/lang/Class;";
	char room[NAME_ROOM], *signature;
	struct text name = TEXT_ON(room);
	jclass class = (*env)->GetObjectClass(env, object);
	bool known = class && !(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL);

	if (class)
		(*env)->DeleteLocalRef(env, class);
	if (!known)
		return 0;
	if (text_equal(signature, of_class)) {
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
		if ((*jvmti)->GetClassSignature(jvmti, object, &signature, NULL))
			return 0;
		text_puts(&name, "class ");
	}
	put_class_name(&name, signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return number_of(room);
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
