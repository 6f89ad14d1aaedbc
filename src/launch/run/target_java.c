/* SPDX-License-Identifier: Apache-2.0 */
/* Java programs: X.jar and X.class are run by a Java machine; which one, with which options. */
#include "launch/run/target_java.h"

#include "base/memory.h"
#include "base/path.h"
#include "launch/run/exit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct words {
	char **items;
	size_t count, capacity;
};

/* An archive or a class that is not executable itself. */
static bool is_file(const char *name)
{
	struct stat st;

	return (path_ends_with(name, ".jar") || path_ends_with(name, ".class")) &&
	       !stat(name, &st) && S_ISREG(st.st_mode) &&
	       faccessat(AT_FDCWD, name, X_OK, AT_EACCESS);
}

static bool is_java(const char *word)
{
	return !strcmp(path_name(word), "java");
}

/* As collect(1) has it. */
static void add_file(struct words *words, const char *name, struct arena *arena)
{
	const char *slash = strrchr(name, '/');
	size_t folder = slash ? (size_t)(slash - name) + 1 : 0;

	if (path_ends_with(name, ".jar")) {
		*vec_push(words) = "-jar";
		*vec_push(words) = arena_strdup(arena, name);
		return;
	}
	*vec_push(words) = "-cp";
	*vec_push(words) = folder ? arena_strndup(arena, name, folder) : ".";
	*vec_push(words) =
		arena_strndup(arena, name + folder, strlen(name + folder) - strlen(".class"));
}

/* The words of -J. */
static void add_arguments(struct words *words, const char *arguments, struct arena *arena)
{
	static const char blanks[] = " \t\n";

	for (const char *at = arguments + strspn(arguments, blanks); *at;
	     at += strspn(at, blanks)) {
		size_t length = strcspn(at, blanks);

		*vec_push(words) = arena_strndup(arena, at, length);
		at += length;
	}
}

static enum status check_java(struct target *target, const char *name,
			      const struct target_java *java, enum status status,
			      struct diag_list *diags)
{
	if (status != STATUS_NOTFOUND || target->exit_code != LAUNCH_EXIT_NOT_FOUND)
		return status;
	if (java->jdk)
		diag_add(diags, DIAG_ERROR,
			 "'%s' is to be run by the Java of %s, which has no bin/java: name the "
			 "directory of a JDK or JRE",
			 name, java->jdk);
	else if (is_file(name))
		diag_add(diags, DIAG_ERROR,
			 "'%s' is a Java program, and there is no java in PATH: install a JDK",
			 name);
	return status;
}

enum status target_java_find(struct target *target, char **given, const struct target_java *java,
			     struct arena *arena, struct diag_list *diags)
{
	struct words words = {0};
	char *name = given[0];
	bool file = is_file(name);

	if (!file && !is_java(name)) {
		if (!java->jdk && !java->arguments)
			return target_find(target, given, diags);
		*target = (struct target){0};
		diag_add(diags, DIAG_ERROR,
			 "%s is for Java programs (java, X.jar, X.class), and '%s' is none: leave "
			 "it "
			 "out; a script hands options to java by itself",
			 java->arguments ? "-J" : "-j with a JDK's directory", name);
		return target_refuse(target, LAUNCH_EXIT_USAGE);
	}
	*vec_push(&words) = java->jdk ? arena_printf(arena, "%s/bin/java", java->jdk)
			    : file    ? "java"
				      : name;
	if (java->arguments)
		add_arguments(&words, java->arguments, arena);
	if (file)
		add_file(&words, name, arena);
	for (char **rest = given + 1; *rest; rest++)
		*vec_push(&words) = *rest;
	*vec_push(&words) = NULL;

	enum status status =
		check_java(target, name, java, target_find(target, words.items, diags), diags);

	if (status == STATUS_OK && java->jdk)
		target->argv[0] = "java";
	vec_fini(&words);
	return status;
}
