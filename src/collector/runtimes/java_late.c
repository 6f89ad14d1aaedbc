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

#include <stdatomic.h>
#include <stddef.h>

typedef jint created_function(JavaVM **machines, jsize room, jsize *count);

enum { NAP_NS = 10 * 1000 * 1000, NAPS_MAX = 500 };

/*
 * Java stacks are wanted until the recording ends, and names of what they have met before it does.
 * So who ends it asks for the names, and comes again.
 */
enum state {
	GONE,	 /* there is no thread */
	AT_WORK, /* from before it is made on */
	READY,	 /* it has been asked to end, and has written all names up to then */
	CLOSED,	 /* the recording is being ended: no name is written any more */
};
static _Atomic uint32_t state;
static _Atomic bool unwanted; /* the recording is to end */
static bool without_machine;  /* it is in the process that this one was forked from */

static JavaVM *find_machine(void)
{
	const void *function = java_machine_symbol("JNI_GetCreatedJavaVMs");
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

/* An exec makes the recording rest, too, and may fail. */
static bool is_over(void)
{
	return !atomic_load(&collector.recording) &&
	       (atomic_load(&collector.finished) || !collector.tracking || !collector_is_ours());
}

static bool move(uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&state, &from, to);
}

static void write_names(void)
{
	bool asked = atomic_load(&unwanted);

	move(READY, AT_WORK);
	if (atomic_load(&state) != AT_WORK)
		return;
	java_write_names();
	if (asked)
		atomic_store(&state, READY);
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
	while (!is_over()) {
		write_names();
		sys_nap(NAP_NS);
	}
	java_end();
	(*machine)->DetachCurrentThread(machine);
	java_stack_leave_out(0);
}

void java_late_run(void)
{
	open_signals();
	if (await_recording())
		follow();
	atomic_store(&state, GONE);
}

bool java_late_begin(void)
{
	if (collector.java_off || without_machine)
		return false;
	atomic_store(&unwanted, false);
	return move(GONE, AT_WORK);
}

void java_late_fail(void)
{
	atomic_store(&state, GONE);
}

/* A callback in a thread of the program's may be writing names, too. */
bool java_late_end(void)
{
	atomic_store(&unwanted, true);
	if (java_names_are_being_written())
		return false;
	move(READY, CLOSED);
	return atomic_load(&state) != AT_WORK;
}

bool java_late_ended(void)
{
	return atomic_load(&state) == GONE && !java_names_are_being_written();
}

/* Its thread is not here; a machine without its threads answers nobody. */
void java_late_forget(void)
{
	without_machine |= atomic_exchange(&state, GONE) != GONE;
}
