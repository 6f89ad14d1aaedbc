/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Java machine is made by JNI_CreateJavaVM.  Who embeds one is linked with it, or loads libjvm
 * and asks dlsym, as the java launcher does; a wrapper of that function then comes from us.  So
 * the program gets no option, no variable and no line that tells of us, which all of
 * JAVA_TOOL_OPTIONS and its kin print.  What dlsym finds by its caller it goes on to find: the
 * wrapper ends in a jump.
 */
#include "collector/arch/dlsym.h"
#include "collector/core/attach.h"
#include "collector/core/next_functions.h"
#include "collector/core/thread.h"
#include "collector/runtimes/java.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "collector/wrap/handler_entry.h"
#include "format/attach.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#if defined(HELIO_JAVA)

#define CREATE_NAME "JNI_CreateJavaVM"

typedef int create_function(void **vm, void **env, void *arguments);
typedef void *dlsym_function(void *handle, const char *name);

extern void *jvm_before_dlsym(void *handle, const char *name);
extern dlsym_function *jvm_next_dlsym(void);
COLLECTOR_EXPORT int JNI_CreateJavaVM(void **vm, void **env, void *arguments);

static _Atomic(create_function *) create;

COLLECTOR_EXPORT int JNI_CreateJavaVM(void **vm, void **env, void *arguments)
{
	enum { FAILED = -1 };
	create_function *next = atomic_load(&create);

	if (!next)
		next = (create_function *)(uintptr_t)next_symbol(CREATE_NAME);
	int result = next ? next(vm, env, arguments) : FAILED;

	if (!result && atomic_load(&collector.recording) && collector_is_ours())
		java_begin(*vm, *env);
	return result;
}

/* From a library that the program has opened: else what is found is ours, or will be. */
static void *find_create(void *handle)
{
	void *found = jvm_next_dlsym()(handle, CREATE_NAME);

	if (!found || found == (void *)(uintptr_t)JNI_CreateJavaVM)
		return found;
	atomic_store(&create, (create_function *)(uintptr_t)found);
	return (void *)(uintptr_t)JNI_CreateJavaVM;
}

static void *give_create(void *handle, const char *name)
{
	(void)name;
	return find_create(handle);
}

/* What dlsym has to go on with instead; NULL: nothing else. */
__attribute__((used)) void *jvm_before_dlsym(void *handle, const char *name)
{
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !name || *name != 'J' ||
	    !text_equal(name, CREATE_NAME))
		return NULL;
	return (void *)(uintptr_t)give_create;
}

__attribute__((used)) dlsym_function *jvm_next_dlsym(void)
{
	/* Version by version: dlsym itself cannot be asked. */
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5"};
	static _Atomic(dlsym_function *) next;
	void *found = (void *)(uintptr_t)atomic_load(&next);

	for (unsigned i = 0; !found && i < sizeof(versions) / sizeof(*versions); i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	atomic_store(&next, (dlsym_function *)(uintptr_t)found);
	return (dlsym_function *)(uintptr_t)found;
}

ARCH_DEFINE_DLSYM(jvm_before_dlsym, jvm_next_dlsym)

/* ---- a machine that runs already ---- */

typedef int create_thread_function(pthread_t *id, const pthread_attr_t *attributes,
				   void *(*routine)(void *), void *argument);
extern create_thread_function thread_create_original; /* thread.c */

static void *run_late(void *unused)
{
	(void)unused;
	java_late_run();
	return NULL;
}

/*
 * By the C library's own function, or what leads there while an attacher's jump lies in it: the
 * wrapper would open signals, in a thread that is held in the middle of the program.
 */
static bool make_thread(void)
{
	pthread_attr_t attributes;
	pthread_t id;

	create_thread_function *create_thread =
		thread_create_goes_on.go_on ? thread_create_original : NEXT(pthread_create);

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	bool made = !create_thread(&id, &attributes, run_late, NULL);

	pthread_attr_destroy(&attributes);
	return made;
}

/*
 * What looks at Java stacks may raise a fault, of which the wrapper is told before the machine's
 * handler.  Only once: a handler that is there now in front of the wrapper may go on to what it has
 * found, the wrapper, which would lead back to it.
 */
static void take_faults(void)
{
	if (!handler_entry_handler(SIGSEGV))
		handler_entry_all(FORMAT_SIGNAL_BIT(SIGSEGV));
}

static void begin_late(void)
{
	if (!java_machine_is_there() || !java_late_begin())
		return;
	take_faults();
	if (!make_thread())
		java_late_fail();
}

static const struct attach_runtime of_attach = {
	.begin = begin_late,
	.end = java_late_end,
	.ended = java_late_ended,
};

__attribute__((constructor)) static void offer(void)
{
	attach_set_runtime(&of_attach);
}

#endif
