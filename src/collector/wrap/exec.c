/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec: the image that ends settles its accounts; the next one finds its name and the collector in
 * its environment, whatever the program puts there.  After vfork the child runs on our memory:
 * it may build an environment, and must change nothing else.
 */
#include "collector/arch/sys.h"
#include "collector/core/lineage.h"
#include "collector/core/log.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/core/start.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/storage/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

enum exec_kind { EXEC_PATH, EXEC_SEARCH, EXEC_FD, EXEC_AT };

struct exec_call {
	enum exec_kind kind;
	int fd;
	const char *path;
	int flags;
	char *const *argv;
};

static int call_exec(const struct exec_call *call, char *const env[])
{
	switch (call->kind) {
	case EXEC_SEARCH:
		return NEXT(execvpe)(call->path, call->argv, env);
	case EXEC_FD:
		return NEXT(fexecve)(call->fd, call->argv, env);
	case EXEC_AT:
		return NEXT(execveat)(call->fd, call->path, call->argv, env, call->flags);
	default:
		return NEXT(execve)(call->path, call->argv, env);
	}
}

/*
 * With ours in the environment, whose room is not on the stack while the recording is ended;
 * without if that makes it too large, so that nothing fails that would not without us.
 */
static __attribute__((noinline)) int call_with_ours(const struct exec_call *call, char *const env[],
						    const char *lineage)
{
	struct environment environment;
	char **words = environment_make(&environment, env, lineage);
	int result = call_exec(call, words ? words : env);
	int error = errno;

	environment_drop(&environment);
	if (error == E2BIG && environment_strip(&environment, env)) {
		result = call_exec(call, environment.words.words);
		error = errno;
		environment_drop(&environment);
	}
	errno = error;
	return result;
}

/*
 * In the child of a vfork: its lineage is the fork and the exec.  Nothing is recorded but, in its
 * parent's log, what it becomes.
 */
static int exec_after_vfork(const struct exec_call *call, char *const env[])
{
	struct thread *thread = thread_current_if_known();
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	lineage_of(&name, 'f', thread && thread->vfork_index ? thread->vfork_index : 1);
	text_puts(&name, "_x1");
	signal_show_real(); /* the mask and the dispositions are the child's own */
	lineage_log_child(lineage_log_time_ns(), "child_exec", sys_getpid(), name_room,
			  call->path ? call->path : "");
	return call_with_ours(call, env, name_room);
}

/* The next image inherits a restriction, and the program may have a copy of the environment. */
static __attribute__((noinline)) int call_without_ours(const struct exec_call *call,
						       char *const env[])
{
	struct environment environment;
	char **words = environment_strip(&environment, env);
	int result = call_exec(call, words ? words : env);
	int error = errno;

	environment_drop(&environment);
	errno = error;
	return result;
}

static void log_exec_failure(int error)
{
	char room[128];
	struct text line = TEXT_ON(room);

	log_event_begin(&line, "exec_failed");
	text_attribute_decimal(&line, "errno", error);
	log_event_end(&line);
}

/*
 * A shell or a library that looks for a program in each directory of PATH: nothing ends, and to
 * suspend the recording for it would cost 0.3 ms each.
 */
static bool is_missing(const struct exec_call *call)
{
	if (call->kind != EXEC_PATH)
		return false;
	long result = sys_call(SYS_faccessat, AT_FDCWD, call->path, F_OK, 0);

	return result == -ENOENT || result == -ENOTDIR;
}

static int exec_program(const struct exec_call *call, char *const env[])
{
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	if (atomic_load(&collector.silent))
		return call_without_ours(call, env);
	if (!lineage_following())
		return call_exec(call, env);
	if (!collector_is_ours())
		return exec_after_vfork(call, env);
	if (is_missing(call))
		return call_exec(call, env);
	lineage_of(&name, 'x', atomic_fetch_add(&collector.execs, 1) + 1);
	bool recording = atomic_load(&collector.recording);
	uint64_t now_ns = recording ? collector_suspend() : 0;

	lineage_log(now_ns, "exec", name_room, call->path ? call->path : "");
	int result = call_with_ours(call, env, name_room);
	int error = errno;

	if (recording) {
		collector_exec_failed();
		log_exec_failure(error);
	}
	errno = error;
	return result;
}

COLLECTOR_EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return exec_program(&(struct exec_call){.path = path, .argv = argv}, env);
}

COLLECTOR_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

COLLECTOR_EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	return exec_program(&(struct exec_call){.kind = EXEC_SEARCH, .path = file, .argv = argv},
			    env);
}

COLLECTOR_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

COLLECTOR_EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	return exec_program(&(struct exec_call){.kind = EXEC_FD, .fd = fd, .argv = argv}, env);
}

COLLECTOR_EXPORT int execveat(int dir, const char *path, char *const argv[], char *const env[],
			      int flags)
{
	return exec_program(
		&(struct exec_call){
			.kind = EXEC_AT, .fd = dir, .path = path, .flags = flags, .argv = argv},
		env);
}

/* The argument lists of execl, execlp and execle: `first` and what follows up to NULL. */
static bool words_collect(struct words *to, const char *first, va_list rest, char *const **env)
{
	va_list counting;
	size_t count = 1;

	va_copy(counting, rest);
	while (first && va_arg(counting, char *))
		count++;
	va_end(counting);
	if (!words_make(to, count + 1))
		return false;
	to->words[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; first && i <= count; i++)
		to->words[i] = va_arg(rest, char *);
	if (env)
		*env = va_arg(rest, char *const *);
	return true;
}

static int exec_words(enum exec_kind kind, const char *path, const char *first, va_list rest,
		      bool with_env)
{
	struct words words;
	char *const *env = environ;

	if (!words_collect(&words, first, rest, with_env ? &env : NULL)) {
		errno = ENOMEM;
		return -1;
	}
	int result = exec_program(
		&(struct exec_call){.kind = kind, .path = path, .argv = words.words}, env);

	words_drop(&words);
	return result;
}

COLLECTOR_EXPORT int execl(const char *path, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	int result = exec_words(EXEC_PATH, path, first, rest, false);
	va_end(rest);
	return result;
}

COLLECTOR_EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	int result = exec_words(EXEC_SEARCH, file, first, rest, false);
	va_end(rest);
	return result;
}

COLLECTOR_EXPORT int execle(const char *path, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	int result = exec_words(EXEC_PATH, path, first, rest, true);
	va_end(rest);
	return result;
}
