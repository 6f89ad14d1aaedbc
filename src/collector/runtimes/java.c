/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent.  It begins when the machine has been made and before any of the program's code runs:
 * so the machine starts as without us, with no agent on its command line, and what it has compiled
 * and loaded by then is asked for once.
 */
#include "collector/runtimes/java.h"
#include "collector/core/clock_window.h"
#include "collector/core/log.h"
#include "collector/core/thread.h"
#include "collector/core/thread_name.h"
#include "collector/core/time.h"
#include "collector/core/writer.h"
#include "collector/runtimes/java_private.h"
#include "collector/storage/recording.h"

static jvmtiEnv *tools;

struct thread *java_recorded_thread(uint64_t now_ns)
{
	bool records = atomic_load(&collector.recording) && collector_is_ours();
	struct thread *thread = records ? thread_current() : NULL;

	return thread && clock_is_recording(thread, now_ns) ? thread : NULL;
}

/* Without a handler of this event AsyncGetCallTrace gives nothing. */
static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)jvmti, (void)env, (void)thread, (void)class;
}

/*
 * The event of loading comes again for each other loader that finds the class, the one of linking
 * once.
 */
static void note_class(void)
{
	uint64_t now_ns = clock_now_ns();
	struct thread *thread = java_recorded_thread(now_ns);

	if (!thread)
		return;
	thread_lock(thread);
	writer_class(thread, now_ns);
	thread_unlock(thread);
}

/* A handler of ours can be told only of methods that have an id. */
static void make_ids(jvmtiEnv *jvmti, jclass class)
{
	jmethodID *methods;
	jint count;

	if (!(*jvmti)->GetClassMethods(jvmti, class, &count, &methods))
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)thread;
	note_class();
	make_ids(jvmti, class);
	java_api_prepare(jvmti, env, class);
	java_names_write(jvmti);
}

static char *group_name(jvmtiEnv *jvmti, jthreadGroup group, jthreadGroup *parent)
{
	jvmtiThreadGroupInfo info;

	*parent = NULL;
	if (!group || (*jvmti)->GetThreadGroupInfo(jvmti, group, &info))
		return NULL;
	*parent = info.parent;
	return info.name;
}

/* Asked at the thread's begin: it has none any more when it ends, and keeps it until then. */
static void tell_group(jvmtiEnv *jvmti, JNIEnv *env, jthreadGroup group)
{
	jthreadGroup parent, outer;
	char *name = group_name(jvmti, group, &parent);
	char *parent_name = group_name(jvmti, parent, &outer);

	thread_name_group(name ? name : "", parent_name ? parent_name : "");
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)parent_name);
	if (parent)
		(*env)->DeleteLocalRef(env, parent);
	if (outer)
		(*env)->DeleteLocalRef(env, outer);
}

/* The kernel's name has 15 bytes of it.  The first thread waits for the others' end as a second
 * thread of Java, which is not what it did. */
static void name_thread(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, bool begins)
{
	jvmtiThreadInfo info;

	if ((*jvmti)->GetThreadInfo(jvmti, thread, &info))
		return;
	if (!text_starts(info.name, "DestroyJavaVM")) {
		thread_name_is(info.name);
		if (begins)
			tell_group(jvmti, env, info.thread_group);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
	if (info.thread_group)
		(*env)->DeleteLocalRef(env, info.thread_group);
	if (info.context_class_loader)
		(*env)->DeleteLocalRef(env, info.context_class_loader);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	java_api_note_thread(jvmti, thread);
	name_thread(jvmti, env, thread, true);
}

/* It may have got another name meanwhile. */
static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	name_thread(jvmti, env, thread, false);
	java_names_write(jvmti);
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	(void)env;
	java_objects_settle();
	java_stack_end();
	java_names_write(jvmti);
}

/* Classes from before: as many local references at once, so none is made or dropped one by one. */
static void make_ids_of_loaded(jvmtiEnv *jvmti, JNIEnv *env)
{
	enum { REFERENCES = 4096 };
	jclass *classes;
	jint count;

	if ((*env)->PushLocalFrame(env, REFERENCES))
		return;
	if (!(*jvmti)->GetLoadedClasses(jvmti, &count, &classes)) {
		for (jint i = 0; i < count; i++)
			make_ids(jvmti, classes[i]);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	}
	(*env)->PopLocalFrame(env, NULL);
}

static bool listen(jvmtiEnv *jvmti, const jvmtiEvent *events, size_t count)
{
	bool done = true;

	for (size_t i = 0; done && i < count; i++)
		done = !(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
	return done;
}

static bool enable(jvmtiEnv *jvmti, JNIEnv *env)
{
	static const jvmtiEvent always[] = {
		JVMTI_EVENT_CLASS_LOAD,
		JVMTI_EVENT_CLASS_PREPARE,
		JVMTI_EVENT_THREAD_START,
		JVMTI_EVENT_THREAD_END,
		JVMTI_EVENT_VM_DEATH,
		JVMTI_EVENT_COMPILED_METHOD_LOAD,
		JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
	};
	static const jvmtiEvent of_monitors[] = {
		JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
		JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
		JVMTI_EVENT_MONITOR_WAIT,
		JVMTI_EVENT_MONITOR_WAITED,
	};
	jvmtiEventCallbacks callbacks = {
		.ClassLoad = on_class_load,
		.ClassPrepare = on_class_prepare,
		.ThreadStart = on_thread_start,
		.ThreadEnd = on_thread_end,
		.VMDeath = on_death,
		.CompiledMethodLoad = java_code_compiled,
		.CompiledMethodUnload = java_code_gone,
		.DynamicCodeGenerated = java_code_generated,
	};
	jvmtiCapabilities wanted = {
		.can_generate_compiled_method_load_events = 1,
		.can_get_line_numbers = 1,
		.can_get_source_file_name = 1,
		.can_get_bytecodes = 1,
	};
	const bool monitors = java_monitor_add(jvmti, env, &callbacks);

	java_collection_add(&callbacks);
	bool done = !(*jvmti)->AddCapabilities(jvmti, &wanted) &&
		    !(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));

	done = done && listen(jvmti, always, sizeof(always) / sizeof(*always));
	if (done && monitors)
		done = listen(jvmti, of_monitors, sizeof(of_monitors) / sizeof(*of_monitors));
	return done;
}

void java_begin(void *vm_made, void *env_made)
{
	JavaVM *vm = vm_made;
	JNIEnv *env = env_made;
	jvmtiEnv *jvmti;

	if (collector.java_off || tools)
		return;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2)) {
		log_warning("this Java machine has no interface for tools: its methods show as "
			    "<Unknown>",
			    0);
		return;
	}
	java_names_begin();
	tools = jvmti;
	java_api_begin(jvmti);
	if (!enable(jvmti, env)) {
		java_end();
		log_warning("this Java machine does not tell what it compiles: its methods show "
			    "as <Unknown>",
			    0);
		return;
	}
	java_names_add(jvmti);
	java_collection_begin(jvmti);
	(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	make_ids_of_loaded(jvmti, env);
	java_api_note_thread(jvmti, NULL);
	name_thread(jvmti, env, NULL, true); /* the calling one: main */
	if (java_stack_begin(env))
		java_monitor_leave_out((const void *)(uintptr_t)(*jvmti)->Deallocate);
	else
		log_warning("this Java machine does not tell Java stacks in a handler: its time "
			    "shows by native stacks",
			    0);
	java_objects_begin(vm);
}

void java_write_names(void)
{
	if (tools)
		java_names_write(tools);
}

/* Another recording may begin later: with a new one all is asked for anew. */
void java_end(void)
{
	java_objects_end();
	java_stack_end();
	java_api_end();
	if (tools)
		(*tools)->DisposeEnvironment(tools);
	tools = NULL;
}

void java_after_fork(void)
{
	java_stack_end();
	java_stack_leave_out(0);
	java_names_forget();
	java_objects_forget();
	java_late_forget();
}
