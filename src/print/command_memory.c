/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory objects: tables whose rows are pieces of memory.  A machine model is a file that
 * defines those that a machine has besides: its caches, banks, whatever goes by the address.
 */
#include "analysis/memory_object.h"
#include "print/command.h"
#include "print/json.h"
#include "print/script.h"
#include "print/table.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_SUFFIX ".ermm"

bool command_memobj(struct print *print, char **arguments, size_t count)
{
	size_t index = memory_find(print->session, arguments[0] + strspn(arguments[0], "-"));
	struct diag_list diags = {0};
	struct index_info info;
	struct table table;

	if (index == SIZE_MAX)
		return say_error(print, "There is no memory object %s: mobj_list lists them",
				 arguments[0]);
	memory_at(print->session, index, &info);
	if (view_memory(print->session, index, &print->query, &table, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	char *heading = command_heading(print, info.title, &table.sort);

	table_print(print, &table, SHAPE_LIST, info.name, heading);
	table_fini(&table);
	free(heading);
	return true;
}

bool command_mobj_list(struct print *print, char **arguments, size_t count)
{
	return command_list_objects(print, "mobj_list", memory_at);
}

bool command_mobj_define(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};

	memory_define(print->session, arguments[0], arguments[1], &diags);
	return say_diags(print, &diags);
}

/* ---- machine models ---- */

static bool has_suffix(const char *name)
{
	size_t length = strlen(name), suffix = strlen(MODEL_SUFFIX);

	return length > suffix && !strcmp(name + length - suffix, MODEL_SUFFIX);
}

/* Here, then in the home directory; a name with a slash is a path. */
static FILE *open_model(const char *name, char **path)
{
	const char *suffix = has_suffix(name) ? "" : MODEL_SUFFIX, *home = getenv("HOME");
	FILE *file;

	*path = xasprintf("%s%s", name, suffix);
	file = fopen(*path, "re");
	if (file || !home || strchr(name, '/'))
		return file;
	free(*path);
	*path = xasprintf("%s/%s%s", home, name, suffix);
	return fopen(*path, "re");
}

/* Only definitions count; other commands are other tools'. */
static bool take_model_line(struct print *print, const char *line)
{
	struct diag_list diags = {0};
	struct words words = {0};
	bool done = true;

	if (line[strspn(line, " \t")] == '#')
		return true;
	if (words_split(line, &words) != STATUS_OK) {
		done = say_error(print, "A quotation mark is not closed");
	} else if (words.count == 3 && !strcmp(words.items[0], "mobj_define")) {
		memory_define_for_model(print->session, words.items[1], words.items[2], &diags);
		done = say_diags(print, &diags);
	}
	words_fini(&words);
	return done;
}

static bool load_model(struct print *print, const char *name)
{
	char *path, *line = NULL;
	size_t capacity = 0;
	bool done = true;
	FILE *file = open_model(name, &path);

	if (!file) {
		free(path);
		return say_error(print,
				 "There is no machine model %s" MODEL_SUFFIX
				 ", neither here nor in the home directory",
				 name);
	}
	while (getline(&line, &capacity, file) >= 0)
		done &= take_model_line(print, line);
	free(line);
	free(path);
	fclose(file);
	return done;
}

static void list_models(FILE *file, const char *directory)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		if (has_suffix(entries[i]->d_name))
			fprintf(file, "%s/%s\n", directory, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

bool command_machinemodel(struct print *print, char **arguments, size_t count)
{
	const char *home = getenv("HOME");

	if (!count) {
		list_models(print->output.file, ".");
		if (home)
			list_models(print->output.file, home);
		return true;
	}
	memory_forget_model(print->session);
	return !*arguments[0] || load_model(print, arguments[0]);
}
