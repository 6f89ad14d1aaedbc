/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New processes and new programs.
 *
 * Each call that makes a descendant gives it a name (its lineage), which the
 * descendant finds in its environment; exec and posix_spawn also put the
 * collector back into an environment that lacks it.  A fork is followed by
 * pthread_atfork, which sees the C library's own forks (daemon, forkpty) too.
 *
 * After vfork the child runs on our memory: it may build an environment, and
 * must change nothing else.
 */
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/core/text.h"
#include "collector/sources/clock.h"
#include "collector/wrap/next.h"
#include "format/params.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	WORDS_ON_STACK = 512,
	PRELOAD_ROOM = 2048,
	LINEAGE_ROOM = sizeof(PARAMS_ENV_LINEAGE "=") + PARAMS_LINEAGE_ROOM,
};

extern char **environ;

/* ---- lineage ---- */

static void lineage_of(struct text *text, char letter, uint32_t index)
{
	text_puts(text, collector.lineage);
	text_putc(text, '_');
	text_putc(text, letter);
	text_decimal(text, index);
}

/* Announces the next combination child to whatever the C library spawns by itself. */
static void announce_combo(uint32_t index)
{
	struct text name = {.buffer = collector.lineage_slot, .size = collector.lineage_slot_size};

	if (!collector.lineage_slot)
		return;
	lineage_of(&name, 'c', index);
	while (name.length + 1 < name.size)
		text_putc(&name, ' ');
}

/* The time of a log event; 0 where this process is not recorded and has no log. */
static uint64_t log_time_ns(void)
{
	return atomic_load(&collector.recording) ? clock_now_ns() : 0;
}

static void log_descendant(uint64_t time_ns, const char *kind, const char *lineage,
			   const char *name)
{
	char room[LINEAGE_ROOM + 1024];
	struct text line = TEXT_ON(room);

	if (!time_ns)
		return;
	log_event_begin_at(&line, kind, time_ns);
	text_attribute(&line, "lineage", lineage);
	if (name)
		text_attribute(&line, "name", name);
	log_event_end(&line);
}

static bool following(void)
{
	return collector.tracking && collector.follow;
}

/* ---- the environment of a new program ---- */

struct environment {
	char *words_room[WORDS_ON_STACK];
	char **words;
	size_t mapped; /* bytes, when the words did not fit */
	char preload[PRELOAD_ROOM];
	char lineage[LINEAGE_ROOM];
};

static const char *value_of(char *const env[], const char *name)
{
	size_t length = text_length(name);

	for (; env && *env; env++)
		if (text_starts(*env, name) && (*env)[length] == '=')
			return *env + length + 1;
	return NULL;
}

/* The string "NAME=value" from our own environment, for one that lacks it. */
static char *own_word(const char *name)
{
	const char *value = value_of(environ, name);

	return value ? (char *)(uintptr_t)(value - text_length(name) - 1) : NULL;
}

static bool is_ours(const char *word)
{
	return text_starts(word, "HELIO_COLLECTOR_") || text_starts(word, "LD_PRELOAD=");
}

static void put_preload(struct environment *to, char *const env[])
{
	struct text text = TEXT_ON(to->preload);
	const char *theirs = value_of(env, "LD_PRELOAD");

	text_puts(&text, "LD_PRELOAD=");
	if (!theirs || !strstr(theirs, collector.library)) {
		text_puts(&text, collector.library);
		if (theirs && *theirs)
			text_putc(&text, ':');
	}
	if (theirs)
		text_puts(&text, theirs);
}

static void put_lineage(struct environment *to, const char *lineage)
{
	struct text text = TEXT_ON(to->lineage);

	text_puts(&text, PARAMS_ENV_LINEAGE "=");
	text_puts(&text, lineage);
	while (!text.full && text.length + 1 < sizeof(to->lineage))
		text_putc(&text, ' ');
}

/* The program's environment with ours in it. NULL: no memory, use the program's as it is. */
static char **environment_make(struct environment *to, char *const env[], const char *lineage)
{
	static const char *const names[] = {PARAMS_ENV, PARAMS_ENV_EXPERIMENT, PARAMS_ENV_FOLLOW,
					    PARAMS_ENV_LIBRARY};
	size_t count = 0;

	while (env && env[count])
		count++;
	to->words = to->words_room;
	to->mapped = 0;
	if (count + 8 > WORDS_ON_STACK) {
		to->mapped = (count + 8) * sizeof(char *);
		to->words = sys_mmap(to->mapped, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!to->words)
			return NULL;
	}
	size_t used = 0;
	for (size_t i = 0; i < count; i++)
		if (!is_ours(env[i]))
			to->words[used++] = env[i];
	put_preload(to, env);
	put_lineage(to, lineage);
	to->words[used++] = to->preload;
	to->words[used++] = to->lineage;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *word = own_word(names[i]);

		if (word)
			to->words[used++] = word;
	}
	to->words[used] = NULL;
	return to->words;
}

static void environment_drop(struct environment *environment)
{
	if (environment->mapped)
		sys_munmap(environment->words, environment->mapped);
}

/* ---- exec ---- */

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

/* In the child of a vfork: its lineage is the fork and the exec; nothing is recorded. */
static int exec_after_vfork(const struct exec_call *call, char *const env[])
{
	struct environment environment;
	struct thread *thread = thread_current_if_known();
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	lineage_of(&name, 'f', thread && thread->vfork_index ? thread->vfork_index : 1);
	text_puts(&name, "_x1");
	char **words = environment_make(&environment, env, name_room);
	int result = call_exec(call, words ? words : env);

	environment_drop(&environment);
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

static int exec_program(const struct exec_call *call, char *const env[])
{
	struct environment environment;
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	if (!following())
		return call_exec(call, env);
	if (!collector_is_ours())
		return exec_after_vfork(call, env);
	lineage_of(&name, 'x', atomic_fetch_add(&collector.execs, 1) + 1);
	char **words = environment_make(&environment, env, name_room);

	bool recording = atomic_load(&collector.recording);
	uint64_t now_ns = recording ? collector_suspend() : 0;

	log_descendant(now_ns, "exec", name_room, call->path ? call->path : "");
	int result = call_exec(call, words ? words : env);
	int error = errno;

	if (recording) {
		collector_go_on();
		log_exec_failure(error);
	}
	environment_drop(&environment);
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
struct words {
	char *room[WORDS_ON_STACK];
	char **words;
	size_t mapped;
};

static bool words_collect(struct words *to, const char *first, va_list rest, char *const **env)
{
	va_list counting;
	size_t count = 1;

	va_copy(counting, rest);
	while (first && va_arg(counting, char *))
		count++;
	va_end(counting);
	to->words = to->room;
	to->mapped = 0;
	if (count + 1 > WORDS_ON_STACK) {
		to->mapped = (count + 1) * sizeof(char *);
		to->words = sys_mmap(to->mapped, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!to->words)
			return false;
	}
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

	if (words.mapped)
		sys_munmap(words.words, words.mapped);
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

/* ---- combinations ---- */

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const[], char *const[]);

static int spawn(spawn_function *next, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const env[])
{
	struct environment environment;
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	if (!following() || !collector_is_ours())
		return next(pid, path, actions, attributes, argv, env);
	lineage_of(&name, 'c', atomic_fetch_add(&collector.combos, 1) + 1);
	char **words = environment_make(&environment, env, name_room);

	log_descendant(log_time_ns(), "spawn", name_room, path);
	int result = next(pid, path, actions, attributes, argv, words ? words : env);
	environment_drop(&environment);
	return result;
}

COLLECTOR_EXPORT int posix_spawn(pid_t *pid, const char *path,
				 const posix_spawn_file_actions_t *actions,
				 const posix_spawnattr_t *attributes, char *const argv[],
				 char *const env[])
{
	return spawn(NEXT(posix_spawn), pid, path, actions, attributes, argv, env);
}

COLLECTOR_EXPORT int posix_spawnp(pid_t *pid, const char *file,
				  const posix_spawn_file_actions_t *actions,
				  const posix_spawnattr_t *attributes, char *const argv[],
				  char *const env[])
{
	return spawn(NEXT(posix_spawnp), pid, file, actions, attributes, argv, env);
}

/* system and popen spawn a shell out of our sight: announce its name. */
static void before_shell(const char *command)
{
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	if (!following() || !collector_is_ours())
		return;
	uint32_t index = atomic_fetch_add(&collector.combos, 1) + 1;

	lineage_of(&name, 'c', index);
	announce_combo(index);
	log_descendant(log_time_ns(), "spawn", name_room, command ? command : "");
}

COLLECTOR_EXPORT int system(const char *command)
{
	if (command)
		before_shell(command);
	return NEXT(system)(command);
}

COLLECTOR_EXPORT FILE *popen(const char *command, const char *mode)
{
	before_shell(command);
	return NEXT(popen)(command, mode);
}

/* ---- fork ---- */

static __thread uint32_t fork_index __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	if (!collector_is_ours() || !collector.tracking)
		return;
	fork_index = atomic_fetch_add(&collector.forks, 1) + 1;
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_pause(); /* a fast tick could keep a large fork from ever completing
					 */
}

static void after_fork_in_parent(void)
{
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	if (!collector_is_ours() || !collector.tracking)
		return;
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_resume();
	lineage_of(&name, 'f', fork_index);
	log_descendant(log_time_ns(), "fork", name_room, NULL);
}

static void after_fork_in_child(void)
{
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);
	struct text lineage = TEXT_ON(collector.lineage);

	if (!collector.tracking)
		return;
	lineage_of(&name, 'f', fork_index);
	text_puts(&lineage, name_room);
	collector_restart_after_fork();
	announce_combo(1);
}

/* Called by the vfork wrapper, which must leave the stack as it found it. */
__attribute__((used)) static void before_vfork(void)
{
	struct thread *thread;
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	if (!following() || !collector_is_ours())
		return;
	thread = atomic_load(&collector.recording) ? thread_current() : NULL;
	uint32_t index = atomic_fetch_add(&collector.forks, 1) + 1;
	if (thread)
		thread->vfork_index = index;
	lineage_of(&name, 'f', index);
	log_descendant(log_time_ns(), "fork", name_room, NULL);
}

__attribute__((used)) static int (*next_vfork(void))(void)
{
	return NEXT(vfork);
}

/* The child returns first, over our frame: so there is none. */
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n\t"
	".cfi_startproc\n\t"
	"sub $8, %rsp\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"call before_vfork\n\t"
	"call next_vfork\n\t"
	"add $8, %rsp\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"jmp *%rax\n\t"
	".cfi_endproc\n"
	".size vfork, .-vfork\n");

void process_install(void)
{
	static bool installed;

	if (!installed)
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	installed = true;
	announce_combo(1);
}

/* ---- the end, where no destructor runs ---- */

static void before_end(void)
{
	if (atomic_load(&collector.recording) && collector_is_ours())
		collector_finish();
}

COLLECTOR_EXPORT _Noreturn void _exit(int status)
{
	before_end();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

COLLECTOR_EXPORT _Noreturn void _Exit(int status)
{
	_exit(status);
}

COLLECTOR_EXPORT _Noreturn void quick_exit(int status)
{
	before_end();
	NEXT(quick_exit)(status);
	__builtin_unreachable();
}
