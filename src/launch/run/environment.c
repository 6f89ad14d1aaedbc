/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/environment.h"

#include "base/array.h"
#include "format/params.h"
#include "format/preload.h"
#include "launch/run/machine_clock.h"
#include "launch/run/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD"

/* Whatever the surrounding environment says to a collector is not for this program. */
static const char *const ours[] = {PARAMS_ENV,	      PARAMS_ENV_EXPERIMENT, PARAMS_ENV_LINEAGE,
				   PARAMS_ENV_FOLLOW, PARAMS_ENV_LIBRARY,    PRELOAD};

const char *environment_find_library(struct arena *arena, const char *name, struct diag_list *diags)
{
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[size > 0 ? size : 0] = '\0';
	char *slash = strrchr(self, '/');

	if (slash)
		*slash = '\0';
	const char *places[] = {
		arena_printf(arena, "%s/%s", self, name),
		arena_printf(arena, "%s/../lib/heliometer/%s", self, name),
#ifdef HELIO_LIBDIR
		arena_printf(arena, "%s/%s", HELIO_LIBDIR, name),
#endif
	};

	for (size_t i = 0; i < COUNT(places); i++) {
		char real[PATH_MAX];

		if (access(places[i], R_OK) || !realpath(places[i], real))
			continue;
		if (!strpbrk(real, " :"))
			return arena_strdup(arena, real);
		diag_add(
			diags, DIAG_ERROR,
			"The dynamic linker cannot preload %s, as a space or colon separates names "
			"there: install Heliometer in a folder without",
			real);
		return NULL;
	}
	diag_add(diags, DIAG_ERROR,
		 "The collector library %s is neither in %s nor in %s/../lib/heliometer: install "
		 "Heliometer again",
		 name, self, self);
	return NULL;
}

void environment_add_param(struct arena *arena, char **params, char key, const char *value)
{
	*params = arena_printf(arena, "%s%c:%s;", *params, key, value);
}

static void add_kinds(struct arena *arena, char **text, const struct options *options)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		const struct format_kind *format = &format_kinds[kind];
		const char *value = options->trace[kind];

		if (*value && format->needs_mounts)
			environment_add_param(
				arena, text, format->key,
				arena_printf(arena, "%s,%" PRIu64, value, mounts_namespace()));
		else if (*value)
			environment_add_param(arena, text, format->key, value);
	}
}

static void add_clock(struct arena *arena, char **text, const struct options *options)
{
	if (options->clock_first_us)
		environment_add_param(arena, text, PARAMS_CLOCK,
				      arena_printf(arena, "%" PRIu32 "-%" PRIu32,
						   options->clock_first_us, options->clock_us));
	else
		environment_add_param(arena, text, PARAMS_CLOCK,
				      arena_printf(arena, "%" PRIu32, options->clock_us));
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* By which ranks on other machines know where their times begin. */
static void add_machine(struct arena *arena, char **text, uint64_t start_ns)
{
	uint64_t passed_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
	char clock[MACHINE_CLOCK_NAME];

	machine_clock_name(clock);
	if (*clock)
		environment_add_param(arena, text, PARAMS_MACHINE,
				      arena_printf(arena, "%" PRIu64 ",%s",
						   now_ns(CLOCK_REALTIME) - passed_ns, clock));
}

char *environment_params(struct arena *arena, const struct options *options, const char *engine,
			 uint64_t start_ns)
{
	const char *delay = getenv(PARAMS_ENV_TEST_HANDLER);
	char *text = arena_strdup(arena, "");

	add_clock(arena, &text, options);
	environment_add_param(arena, &text, PARAMS_ENGINE, engine);
	environment_add_param(arena, &text, PARAMS_FOLLOW, options->follow ? "on" : "off");
	if (options->ranks)
		environment_add_param(arena, &text, PARAMS_RANKS, "on");
	if (start_ns)
		environment_add_param(arena, &text, PARAMS_START,
				      arena_printf(arena, "%" PRIu64, start_ns));
	if (start_ns && options->ranks)
		add_machine(arena, &text, start_ns);
	if (options->window)
		environment_add_param(arena, &text, PARAMS_WINDOW,
				      arena_printf(arena, "%" PRIu64 "-%" PRIu64,
						   options->window_start_ms,
						   options->window_end_ms));
	if (options->sample_signal)
		environment_add_param(arena, &text, PARAMS_SAMPLE_SIGNAL,
				      arena_printf(arena, "%d", options->sample_signal));
	if (options->pause_signal)
		environment_add_param(arena, &text, PARAMS_PAUSE_SIGNAL,
				      arena_printf(arena, "%d%s", options->pause_signal,
						   options->begin_paused ? "p" : ""));
	if (options->size_limit_mb)
		environment_add_param(arena, &text, PARAMS_SIZE_LIMIT,
				      arena_printf(arena, "%" PRIu32, options->size_limit_mb));
	if (options->depth)
		environment_add_param(arena, &text, PARAMS_DEPTH,
				      arena_printf(arena, "%" PRIu32, options->depth));
	if (options->java_off)
		environment_add_param(arena, &text, PARAMS_JAVA, "off");
	if (options->max_overhead != PARAMS_OVERHEAD_DEFAULT)
		environment_add_param(arena, &text, PARAMS_OVERHEAD,
				      arena_printf(arena, "%" PRIu32, options->max_overhead));
	if (delay)
		environment_add_param(arena, &text, PARAMS_TEST_DELAY,
				      arena_printf(arena, "%llu", strtoull(delay, NULL, 10)));
	add_kinds(arena, &text, options);
	return text;
}

static bool is_trusted(uid_t user)
{
	return !user || user == geteuid();
}

/* Whether only those whom we trust can give what is in the directory, of that owner, another name.
 */
static bool keeps(const struct stat *directory, uid_t owner)
{
	bool open_to_others = directory->st_mode & (S_IWGRP | S_IWOTH);

	return is_trusted(directory->st_uid) &&
	       (!open_to_others || (directory->st_mode & S_ISVTX && is_trusted(owner)));
}

/* All directories on the way up to the root are looked at, by where the folder really is. */
static bool is_exposed(int folder)
{
	struct stat below, above;
	char way[PATH_MAX] = "..";
	size_t length = strlen(way);

	if (fstat(folder, &below) || !is_trusted(below.st_uid))
		return true;
	while (!fstatat(folder, way, &above, 0)) {
		if (!keeps(&above, below.st_uid))
			return true;
		if (above.st_dev == below.st_dev && above.st_ino == below.st_ino)
			return false;
		below = above;
		if (length + sizeof("/..") > sizeof(way))
			return true;
		memcpy(way + length, "/..", sizeof("/.."));
		length += strlen("/..");
	}
	return true;
}

char *environment_place(struct arena *arena, int folder)
{
	struct stat info;

	char *text = arena_strdup(arena, "");

	if (!fstat(folder, &info))
		environment_add_param(arena, &text, PARAMS_PLACE,
				      arena_printf(arena, "%" PRIu64 ",%" PRIu64 "%s",
						   (uint64_t)info.st_dev, (uint64_t)info.st_ino,
						   is_exposed(folder) ? PARAMS_PLACE_EXPOSED : ""));
	return text;
}

/* The value of the variable if `entry` is NAME=value, else NULL. */
static const char *value_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=' ? entry + length + 1 : NULL;
}

static bool is_ours(const char *entry)
{
	for (size_t i = 0; i < COUNT(ours); i++)
		if (value_of(entry, ours[i]))
			return true;
	return false;
}

/* Our library and then the user's list, without our library where it is in there already. */
static char *preload(struct arena *arena, const char *library, const char *theirs)
{
	char *list = arena_printf(arena, PRELOAD "=%s", library);

	while (theirs && *theirs) {
		size_t length = preload_length(theirs);

		if (length && !preload_is(theirs, library))
			list = arena_printf(arena, "%s:%.*s", list, (int)length, theirs);
		theirs += length + (theirs[length] != '\0');
	}
	return list;
}

char **environment_build(struct arena *arena, char **old, const struct environment_request *request)
{
	const char *theirs = NULL;
	size_t count = 0;

	while (old[count])
		count++;
	char **list = arena_array(arena, char *, count + COUNT(ours) + 2);
	char **next = list;

	for (size_t i = 0; i < count; i++) {
		const char *value = value_of(old[i], PRELOAD);

		if (value)
			theirs = value;
		if (!is_ours(old[i]))
			*next++ = old[i];
	}
	*next++ = preload(arena, request->library, theirs);
	*next++ = arena_printf(arena, PARAMS_ENV "=%s", request->params);
	*next++ = arena_printf(arena, PARAMS_ENV_EXPERIMENT "=%s", request->experiment);
	*next++ = arena_printf(arena, PARAMS_ENV_LINEAGE "=%*s", PARAMS_LINEAGE_ROOM, "");
	*next++ = arena_printf(arena, PARAMS_ENV_LIBRARY "=%s", request->library);
	if (request->follow_regex)
		*next++ = arena_printf(arena, PARAMS_ENV_FOLLOW "=^(%s)$", request->follow_regex);
	if (request->more)
		*next++ = arena_strdup(arena, request->more);
	return list;
}
