/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine model is a file that defines those memory objects that a machine has besides the
 * usual ones: its caches, banks, whatever goes by the address.
 */
#include "analysis/index/index.h"

#include "base/folder.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/script.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_SUFFIX ".ermm"

static bool has_suffix(const char *name)
{
	return path_ends_with(name, MODEL_SUFFIX);
}

/* Here, then in the home directory; a name with a slash is a path. */
static FILE *open_model(const char *name, char **path)
{
	const char *suffix = has_suffix(name) ? "" : MODEL_SUFFIX, *home = getenv("HOME");
	int fd;

	*path = xasprintf("%s%s", name, suffix);
	fd = folder_open_named(*path, NULL);
	if (fd < 0 && home && !strchr(name, '/')) {
		free(*path);
		*path = xasprintf("%s/%s%s", home, name, suffix);
		fd = folder_open_named(*path, NULL);
	}
	return fd < 0 ? NULL : fdopen(fd, "r");
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
		index_define_for_model(print->session, words.items[1], words.items[2], &diags);
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

/* Returns how many there were. */
static size_t list_models(struct result *result, const char *directory)
{
	size_t listed = 0;
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		if (has_suffix(entries[i]->d_name)) {
			char *path = xasprintf("%s/%s", directory, entries[i]->d_name);

			part_set(result, result_line(result, "", ""), "model",
				 value_text(result, path));
			result_note(result, "%s", path);
			free(path);
			listed++;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return listed;
}

static bool command_machinemodel(struct print *print, char **arguments, size_t count)
{
	const char *home = getenv("HOME");
	struct result result;

	if (!count) {
		result_init(&result, "machinemodel", print->session);
		size_t listed = list_models(&result, ".");

		if (home)
			listed += list_models(&result, home);
		if (!listed)
			say_warning(print, "there is no machine model (NAME" MODEL_SUFFIX
					   ", with lines of mobj_define), neither here nor in the "
					   "home directory");
		return print_answer(print, &result);
	}
	index_forget_model(print->session);
	return !*arguments[0] || load_model(print, arguments[0]);
}

const struct command command_rows_model[] = {
	{.name = "machinemodel",
	 .max_arguments = 1,
	 .optional = ARGUMENT_PATH,
	 .group = GROUP_INDEX,
	 .arguments = "[MODEL]",
	 .help = "define the memory objects of MODEL.ermm; '' forgets them; list the models",
	 .run = command_machinemodel,
	 .alters = true},
	{0},
};
