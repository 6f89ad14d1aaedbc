/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java machines: what JVMTI and AsyncGetCallTrace tell of the code that one compiles and of the
 * Java stack at an event.  Nothing is linked: both are tables of functions, or looked up in libjvm.
 */
#ifndef HELIO_COLLECTOR_JAVA_H
#define HELIO_COLLECTOR_JAVA_H

#include <stdbool.h>

#if defined(HELIO_JAVA)

/* A machine has just been made by the calling thread: JavaVM *, JNIEnv *. Not in a handler. */
void java_begin(void *vm, void *env);
/*
 * A machine that runs already, if there is one: java_late_run() is for a thread of its own, and
 * returns when the recording is over.  False of begin: it is not wanted.  java_late_fail(): there
 * is no such thread.  java_late_end(): the recording is to end; true when all that was met before
 * is written, and nothing will be any more.  java_late_ended(): java_late_run() has returned.
 */
bool java_machine_is_there(void);
bool java_late_begin(void);
void java_late_fail(void);
void java_late_run(void);
bool java_late_end(void);
bool java_late_ended(void);
/* Whether the calling thread is one of a machine's that run Java. */
bool java_is_java_thread(void);
/* In the child of a fork: of its machine only the calling thread is left. */
void java_after_fork(void);
/*
 * In the handler of a SIGSEGV: whether it was raised by what looks at a Java stack for us.  The
 * thread then goes on without it.
 */
bool java_take_fault(void *context);

#else /* built without a JDK's headers */

static inline bool java_is_java_thread(void)
{
	return false;
}
static inline void java_after_fork(void)
{
}
static inline bool java_take_fault(void *context)
{
	(void)context;
	return false;
}

#endif

#endif
