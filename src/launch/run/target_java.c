/* SPDX-License-Identifier: Apache-2.0 */
/* Java programs: X.jar and X.class, which java runs, which java that is, and options for it. */
#include "launch/run/target_java.h"

#include "base/memory.h"
#include "base/path.h"
#include "launch/run/exit.h"
#include "launch/run/target_private.h"

#include <string.h>
#include <sys/stat.h>

bool target_java_is_file(const char *name)
{
	return (path_ends_with(name, ".jar") || path_ends_with(name, ".class")) &&
	       target_is_there(name) && !target_is_runnable(name);
}

static bool is_java(const char *word)
{
	return !strcmp(path_name(word), "java");
}

/* -j DIR: the one in there, whatever PATH says. */
static char *find_java(struct target *target, const struct target_java *java)
{
	if (java && java->jdk)
		return arena_printf(&target->arena, "%s/bin/java", java->jdk);
	return target_search_path(&target->arena, "java");
}

/* Words of -J behind the first one, "java". */
static void add_arguments(struct target *target, const char *arguments)
{
	static const char blanks[] = " \t\n";
	VEC(char *) words = {0};

	*vec_push(&words) = target->argv[0];
	for (const char *at = arguments + strspn(arguments, blanks); *at;
	     at += strspn(at, blanks)) {
		size_t length = strcspn(at, blanks);

		*vec_push(&words) = arena_strndup(&target->arena, at, length);
		at += length;
	}
	target_put_in_front(target, words.items, words.count, 1);
	vec_fini(&words);
}

/* As collect(1) has it. */
static void add_file(struct target *target, char *name)
{
	char *slash = strrchr(name, '/');
	size_t folder = slash ? (size_t)(slash - name) + 1 : 0;

	if (path_ends_with(name, ".jar")) {
		target_put_in_front(target, (char *[]){"java", "-jar", name}, 3, 1);
		return;
	}
	char *class = arena_strndup(&target->arena, name + folder,
				    strlen(name + folder) - strlen(".class"));

	target_put_in_front(target,
			    (char *[]){"java", "-cp",
				       folder ? arena_strndup(&target->arena, name, folder) : ".",
				       class},
			    4, 1);
}

enum status target_java_find(struct target *target, const struct target_java *java,
			     struct diag_list *diags)
{
	char *name = target->argv[0];
	bool is_file = target_java_is_file(name);

	if (!is_file && !is_java(name)) {
		if (!java || (!java->jdk && !java->arguments))
			return STATUS_OK;
		diag_add(diags, DIAG_ERROR,
			 "%s is for Java programs (java, X.jar, X.class), and '%s' is none: leave "
			 "it "
			 "out; a script hands options to java by itself",
			 java->arguments ? "-J" : "-j with a JDK's directory", name);
		return target_refuse(target, LAUNCH_EXIT_USAGE);
	}
	if (is_file || (java && java->jdk)) {
		target->path = find_java(target, java);
		if (!target->path || !target_is_there(target->path)) {
			diag_add(diags, DIAG_ERROR,
				 java && java->jdk
					 ? "'%s' is to be run by the Java of %s, which has no "
					   "bin/java: "
					   "name the directory of a JDK or JRE"
					 : "'%s' is a Java program, and there is no java in PATH: "
					   "install a JDK",
				 name, java && java->jdk ? java->jdk : "");
			return target_refuse(target, LAUNCH_EXIT_NOT_FOUND);
		}
	}
	if (is_file)
		add_file(target, name);
	if (java && java->arguments)
		add_arguments(target, java->arguments);
	return STATUS_OK;
}
