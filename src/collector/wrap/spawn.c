/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combinations: calls that make a process with a new program in it.  posix_spawn gets an
 * environment; system and popen spawn a shell out of our sight, which finds the name that was
 * announced to it.
 */
#include "collector/core/child_io.h"
#include "collector/core/lineage.h"
#include "collector/core/next_functions.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/storage/recording.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const[], char *const[]);

/*
 * The child gets the mask that the program believes in, where the program does not set one.
 * Returns the attributes to use.
 */
static const posix_spawnattr_t *with_mask(posix_spawnattr_t *room, const posix_spawnattr_t *theirs)
{
	struct thread *thread = thread_current_if_known();
	short flags = 0;
	sigset_t mask;

	if (theirs)
		posix_spawnattr_getflags(theirs, &flags);
	if (!thread || !thread->blocked || flags & POSIX_SPAWN_SETSIGMASK)
		return theirs;
	if (theirs)
		*room = *theirs;
	else
		posix_spawnattr_init(room);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	posix_spawnattr_setflags(room, (short)(flags | POSIX_SPAWN_SETSIGMASK));
	posix_spawnattr_setsigmask(room, &mask);
	return room;
}

static int spawn(spawn_function *next, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const env[])
{
	struct environment environment;
	posix_spawnattr_t attributes_room;
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);
	pid_t pid_room;

	if (!lineage_following() || !collector_is_ours())
		return next(pid, path, actions, attributes, argv, env);
	pid = pid ? pid : &pid_room;
	lineage_of(&name, 'c', atomic_fetch_add(&collector.combos, 1) + 1);
	char **words = environment_make(&environment, env, name_room);
	uint64_t begin_ns = lineage_log_time_ns();

	attributes = with_mask(&attributes_room, attributes);
	int result = next(pid, path, actions, attributes, argv, words ? words : env);
	environment_drop(&environment);
	if (result == E2BIG && environment_strip(&environment, env)) {
		result = next(pid, path, actions, attributes, argv, environment.words.words);
		environment_drop(&environment);
	}
	if (!result)
		lineage_log_child(begin_ns, "spawn", *pid, name_room, path);
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

/* ---- system and popen ---- */

/* What a shell finds in the place of an environment that the program has taken ours out of. */
static struct environment lent;
static _Atomic bool lending;

/* How a shell that the C library spawns by itself finds its name. */
struct announcement {
	bool lent;
	char **environment; /* the program's */
};

static struct announcement before_shell(const char *command)
{
	struct announcement announcement = {.environment = environ};
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	child_io_before_wait(); /* system and pclose await by themselves */
	if (!lineage_following() || !collector_is_ours())
		return announcement;
	uint32_t index = atomic_fetch_add(&collector.combos, 1) + 1;

	lineage_of(&name, 'c', index);
	if (environment_has_ours(environ)) {
		lineage_announce_combo(index);
	} else if (!atomic_exchange(&lending, true)) {
		char **words = environment_make(&lent, environ, name_room);

		announcement.lent = words;
		if (words)
			environ = words;
	}
	lineage_log(lineage_log_time_ns(), "spawn", name_room, command ? command : "");
	return announcement;
}

static void after_shell(const struct announcement *announcement)
{
	/* Another thread may have changed the environment, and so made it its own for good. */
	if (!announcement->lent || environ != lent.words.words)
		return;
	environ = announcement->environment;
	environment_drop(&lent);
	atomic_store(&lending, false);
}

COLLECTOR_EXPORT int system(const char *command)
{
	if (!command)
		return NEXT(system)(command);
	struct announcement announcement = before_shell(command);
	int result = NEXT(system)(command);

	after_shell(&announcement);
	return result;
}

COLLECTOR_EXPORT FILE *popen(const char *command, const char *mode)
{
	struct announcement announcement = before_shell(command);
	FILE *stream = NEXT(popen)(command, mode);

	after_shell(&announcement);
	return stream;
}
