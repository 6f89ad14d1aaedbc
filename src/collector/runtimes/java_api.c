/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's functions for Java: the native methods of the class in src/api/java.  They are
 * registered when the machine prepares that class, before any of its code runs, so that a program
 * has no library to load.
 */
#include "collector/arch/sys.h"
#include "collector/runtimes/java_private.h"
#include "format/api.h"

#include <stdatomic.h>

/* The methods stay registered when a recording ends: there is no environment then, or another. */
static _Atomic(jvmtiEnv *) tools;
static _Atomic uint32_t users; /* threads that may have a copy */

void java_api_begin(jvmtiEnv *jvmti)
{
	atomic_store(&tools, jvmti);
}

void java_api_end(void)
{
	enum { NAP_NS = 1000 * 1000 };

	atomic_store(&tools, NULL);
	while (atomic_load(&users))
		sys_nap(NAP_NS);
}

static jboolean JNICALL recorded(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return JNI_TRUE;
}

static void JNICALL take_sample(JNIEnv *env, jclass class, jstring name)
{
	const char *label = (*env)->GetStringUTFChars(env, name, NULL);

	(void)class;
	if (!label)
		return;
	helio_collector_api_1.sample(label);
	(*env)->ReleaseStringUTFChars(env, name, label);
}

static void JNICALL pause_all(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	helio_collector_api_1.pause();
}

static void JNICALL resume_all(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	helio_collector_api_1.resume();
}

static void JNICALL terminate(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	helio_collector_api_1.terminate_expt();
}

/* Its pthread_t, which in glibc is the thread pointer. */
void java_api_note_thread(jvmtiEnv *jvmti, jthread thread)
{
	(*jvmti)->SetThreadLocalStorage(jvmti, thread, __builtin_thread_pointer());
}

/* NULL: a thread that has not begun, has ended or is a virtual one; or nobody records. */
static void *noted_of(jthread thread)
{
	void *id = NULL;

	atomic_fetch_add(&users, 1);
	jvmtiEnv *jvmti = atomic_load(&tools);

	if (jvmti && (*jvmti)->GetThreadLocalStorage(jvmti, thread, &id))
		id = NULL;
	atomic_fetch_sub(&users, 1);
	return id;
}

static void of_thread(jthread thread, void (*function)(pthread_t))
{
	void *id = thread ? noted_of(thread) : NULL;

	if (id)
		function((pthread_t)id);
}

static void JNICALL pause_thread(JNIEnv *env, jclass class, jthread thread)
{
	(void)env, (void)class;
	of_thread(thread, helio_collector_api_1.thread_pause);
}

static void JNICALL resume_thread(JNIEnv *env, jclass class, jthread thread)
{
	(void)env, (void)class;
	of_thread(thread, helio_collector_api_1.thread_resume);
}

/* JNI's table takes names that it does not change as such that it could. */
static void add(JNINativeMethod *method, const char *name, const char *signature, void *function)
{
	*method =
		(JNINativeMethod){(char *)(uintptr_t)name, (char *)(uintptr_t)signature, function};
}

static void register_methods(JNIEnv *env, jclass class)
{
	static const char of_thread_signature[] = "(Ljava/lang/Thread;)V";
	JNINativeMethod methods[7];

	add(&methods[0], "recorded0", "()Z", (void *)recorded);
	add(&methods[1], "sample0", "(Ljava/lang/String;)V", (void *)take_sample);
	add(&methods[2], "pause0", "()V", (void *)pause_all);
	add(&methods[3], "resume0", "()V", (void *)resume_all);
	add(&methods[4], "threadPause0", of_thread_signature, (void *)pause_thread);
	add(&methods[5], "threadResume0", of_thread_signature, (void *)resume_thread);
	add(&methods[6], "terminate0", "()V", (void *)terminate);
	/* Another class of this name lacks these methods; that must not throw anything there. */
	if ((*env)->RegisterNatives(env, class, methods, sizeof(methods) / sizeof(*methods)))
		(*env)->ExceptionClear(env);
}

void java_api_prepare(jvmtiEnv *jvmti, JNIEnv *env, jclass class)
{
	char *signature;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return;
	if (text_equal(signature, "Lcom/sun/forte/st/collector/CollectorAPI;"))
		register_methods(env, class);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}
