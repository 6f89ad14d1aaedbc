/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/group.h"

#include "base/folder.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void read_group(struct experiment_paths *paths, FILE *file, const char *path)
{
	const char *slash = strrchr(path, '/');
	int directory = slash ? (int)(slash - path) + 1 : 0;
	char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, file) >= 0) {
		size_t length = strlen(line);

		while (length && isspace((unsigned char)line[length - 1]))
			line[--length] = '\0';
		if (!length || line[0] == '#')
			continue;
		*vec_push(paths) =
			line[0] == '/' ? xstrdup(line) : xasprintf("%.*s%s", directory, path, line);
	}
	free(line);
}

/* The file behind its first words, or NULL if it is no group. */
static FILE *open_group(const char *path)
{
	char begin[sizeof(GROUP_MAGIC)] = "";
	int fd = folder_open_named(path, NULL);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (file && (!fgets(begin, sizeof(begin), file) || strcmp(begin, GROUP_MAGIC) != 0)) {
		fclose(file);
		file = NULL;
	}
	return file;
}

bool experiment_is_group(const char *path)
{
	FILE *file = open_group(path);

	if (file)
		fclose(file);
	return file;
}

void experiment_paths_add(struct experiment_paths *paths, const char *path)
{
	FILE *file = open_group(path);

	if (file) {
		read_group(paths, file, path);
		fclose(file);
	} else {
		*vec_push(paths) = xstrdup(path);
	}
}

static bool is_one(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void experiment_paths_drop_twins(struct experiment_paths *paths, struct diag_list *diags)
{
	size_t kept = 0;

	for (size_t i = 0; i < paths->count; i++) {
		char *path = paths->items[i];
		size_t twin = 0;

		while (twin < kept && !is_one(paths->items[twin], path))
			twin++;
		if (twin == kept) {
			paths->items[kept++] = path;
			continue;
		}
		diag_add(diags, DIAG_WARNING, "%s is named twice; it counts once", path);
		free(path);
	}
	paths->count = kept;
}

void experiment_paths_fini(struct experiment_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	vec_fini(paths);
}
