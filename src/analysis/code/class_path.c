/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A class path is what the command line says (-cp, -jar), relative to where the program was
 * started; "lib/" with an asterisk behind it are all archives there.  Classes that a build tool has
 * put into its own directory have their sources where that tool has them.  CLASSPATH is not
 * recorded.
 */
#include "analysis/code/class_path.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/path.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE "/lib/server/libjvm.so"

struct finding {
	const struct process *process;
	struct arena *arena;
	struct string_table *known; /* of what is in `out` */
	struct class_path *out;
};

static void add(const struct finding *finding, const char *path)
{
	size_t before = finding->known->count;

	if (string_table_add(finding->known, path) == before)
		*vec_push(finding->out) = path;
}

/* "x/target/classes" → "x/src/main/java" */
static void add_of_build(const struct finding *finding, const char *path)
{
	static const char *const known[][2] = {
		{"/target/classes", "/src/main/java"},
		{"/target/test-classes", "/src/test/java"},
		{"/build/classes/java/main", "/src/main/java"},
		{"/build/classes/java/test", "/src/test/java"},
	};

	for (size_t i = 0; i < COUNT(known); i++)
		if (path_ends_with(path, known[i][0]))
			add(finding, arena_printf(finding->arena, "%.*s%s",
						  (int)(strlen(path) - strlen(known[i][0])), path,
						  known[i][1]));
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those in a directory, in the order of their names. */
static void add_archives(const struct finding *finding, const char *directory)
{
	struct class_path names = {0};
	int folder = folder_open(directory, 0);
	DIR *list = folder < 0 ? NULL : folder_list(folder, "");

	for (const struct dirent *entry; list && (entry = readdir(list));)
		if (path_ends_with(entry->d_name, ".jar"))
			*vec_push(&names) =
				arena_printf(finding->arena, "%s/%s", directory, entry->d_name);
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_texts);
	for (size_t i = 0; i < names.count; i++)
		add(finding, names.items[i]);
	vec_fini(&names);
	if (list)
		closedir(list);
	folder_close(folder);
}

static void add_entry(const struct finding *finding, const char *entry, size_t length)
{
	const char *cwd = finding->process->log.cwd;
	bool is_whole = *entry == '/' || !cwd;
	char *path = is_whole ? arena_strndup(finding->arena, entry, length)
			      : arena_printf(finding->arena, "%s/%.*s", cwd, (int)length, entry);
	size_t end = strlen(path);

	while (end > 1 && path[end - 1] == '/')
		path[--end] = '\0';
	if (path_ends_with(path, "/*")) {
		path[end - strlen("/*")] = '\0';
		add_archives(finding, path);
		return;
	}
	add(finding, path);
	add_of_build(finding, path);
}

static void add_list(const struct finding *finding, const char *list)
{
	for (;;) {
		size_t length = strcspn(list, ":");

		add_entry(finding, length ? list : ".", length ? length : 1);
		if (!list[length])
			break;
		list += length + 1;
	}
}

static bool is_one_of(const char *word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, names[i]))
			return true;
	return false;
}

/* What an option says of it, or NULL. */
static const char *list_of(const char *option, const char *next)
{
	static const char *const names[] = {"-cp", "-classpath", "--class-path", "-jar"};
	static const char joined[] = "--class-path=";

	if (is_one_of(option, names, COUNT(names)))
		return next;
	return strncmp(option, joined, strlen(joined)) ? NULL : option + strlen(joined);
}

/* Options of the java command whose value is the next word. */
static bool takes_next(const char *option)
{
	static const char *const names[] = {
		"-cp",
		"-classpath",
		"--class-path",
		"-p",
		"--module-path",
		"--upgrade-module-path",
		"--add-modules",
		"--limit-modules",
		"--add-exports",
		"--add-opens",
		"--add-reads",
		"--patch-module",
		"--enable-native-access",
		"--source",
	};

	return is_one_of(option, names, COUNT(names));
}

/*
 * How many words of a command line are the machine's, as those of the program may look like them:
 * all before the main class, and the archive of -jar.  Other commands than java have all.
 */
static size_t count_own(const struct experiment_log *log)
{
	char *const *words = log->arguments.items;
	size_t count = log->arguments.count, at = 1;

	if (!count || strcmp(path_name(words[0]), "java") != 0)
		return count;
	while (at < count && (*words[at] == '-' || *words[at] == '@')) {
		if (!strcmp(words[at], "-m") || !strcmp(words[at], "--module"))
			return at;
		at += takes_next(words[at]) ? 2 : 1;
	}
	return at < count ? at : count;
}

static void add_command_line(const struct finding *finding)
{
	const struct experiment_log *log = &finding->process->log;
	size_t count = count_own(log);
	bool is_told = false;

	for (size_t i = 1; i < count && log->arguments.items[i]; i++) {
		const char *list = list_of(log->arguments.items[i], log->arguments.items[i + 1]);

		if (list)
			add_list(finding, list);
		is_told |= list != NULL;
	}
	if (!is_told)
		add_list(finding, ".");
}

/* "JDK/lib/server/libjvm.so" → "JDK/lib/src.zip" */
static void add_machine(const struct finding *finding)
{
	const struct experiment_map *map = &finding->process->map;

	for (size_t i = 0; i < map->files.count; i++) {
		const char *path = map->files.items[i].path;

		if (path_ends_with(path, MACHINE))
			add(finding, arena_printf(finding->arena, "%.*s/lib/src.zip",
						  (int)(strlen(path) - strlen(MACHINE)), path));
	}
}

static bool runs_machine(const struct process *process)
{
	for (size_t i = 0; i < process->map.files.count; i++)
		if (!strcmp(path_name(process->map.files.items[i].path), "libjvm.so"))
			return true;
	return false;
}

void class_path_find(const struct session *session, struct arena *arena, struct class_path *out)
{
	struct string_table known = {0};

	*out = (struct class_path){0};
	for (int of_machine = 0; of_machine < 2; of_machine++)
		for (size_t i = 0; i < session->scanned.count; i++) {
			const struct finding finding = {session->scanned.items[i].process, arena,
							&known, out};

			if (!runs_machine(finding.process))
				continue;
			if (of_machine)
				add_machine(&finding);
			else
				add_command_line(&finding);
		}
	string_table_fini(&known);
}
