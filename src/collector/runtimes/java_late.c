/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that ran already when we came (`helio attach`).  A thread of ours joins it, as native
 * threads of programs do, and begins as elsewhere.  Neither the machine's socket for tools nor an
 * agent is used: new machines print a warning on the program's stderr for an agent that comes late,
 * the socket needs a SIGQUIT, which ends a machine with -Xrs, and both can be switched off.
 *
 * The thread stays: a program that has warmed up loads and compiles little, so callbacks, in which
 * names of methods are asked for elsewhere, would come too seldom.
 */
#include "collector/arch/sys.h"
#include "collector/runtimes/java.h"
#include "collector/runtimes/java_private.h"
#include "collector/storage/recording.h"
#include "format/attach.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

typedef jint created_function(JavaVM **machines, jsize room, jsize *count);

enum { NAP_NS = 10 * 1000 * 1000, NAPS_MAX = 500 };

static _Atomic bool runs;     /* the thread, from before it is made on */
static _Atomic bool unwanted; /* it is to end */

static JavaVM *find_machine(void)
{
	void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	void *function = library ? dlsym(library, "JNI_GetCreatedJavaVMs") : NULL;
	JavaVM *machine = NULL;
	jsize count = 0;

	if (!function || ((created_function *)(uintptr_t)function)(&machine, 1, &count) || !count)
		return NULL;
	return machine;
}

/* It was made in a thread that blocks everything: in ours events may come. */
static void open_signals(void)
{
	const uint64_t open =
		FORMAT_ENGINE_SIGNALS | FORMAT_SIGNAL_BIT(SIGBUS) | FORMAT_SIGNAL_BIT(SIGSEGV);

	sys_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &open, 0, sizeof(open));
}

static bool is_wanted(void)
{
	return !atomic_load(&unwanted) && atomic_load(&collector.recording) && collector_is_ours();
}

/* The recording begins behind what made us, or it does not. */
static bool await_recording(void)
{
	for (int i = 0; i < NAPS_MAX && !atomic_load(&unwanted); i++) {
		if (atomic_load(&collector.recording))
			return true;
		sys_nap(NAP_NS);
	}
	return false;
}

static void follow(void)
{
	JavaVMAttachArgs arguments = {JNI_VERSION_1_8, (char *)"helio", NULL};
	JavaVM *machine = find_machine();
	JNIEnv *env;

	if (!machine || (*machine)->AttachCurrentThreadAsDaemon(machine, (void **)&env, &arguments))
		return;
	java_stack_leave_out(sys_gettid());
	java_begin(machine, env);
	while (is_wanted()) {
		java_write_names();
		sys_nap(NAP_NS);
	}
	java_write_names();
	java_end();
	(*machine)->DetachCurrentThread(machine);
	java_stack_leave_out(0);
}

void java_late_run(void)
{
	open_signals();
	if (await_recording())
		follow();
	atomic_store(&runs, false);
}

bool java_late_begin(void)
{
	if (collector.java_off)
		return false;
	atomic_store(&unwanted, false);
	return !atomic_exchange(&runs, true);
}

void java_late_fail(void)
{
	atomic_store(&runs, false);
}

bool java_late_end(void)
{
	atomic_store(&unwanted, true);
	return !atomic_load(&runs) && !java_names_are_being_written();
}
