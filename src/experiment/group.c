/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/group.h"

#include "base/file_map.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
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

/* The open file, which is taken over, behind its first words; NULL: it is no group. */
static FILE *begin_group(int fd)
{
	char begin[sizeof(GROUP_MAGIC)] = "";
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (file && (!fgets(begin, sizeof(begin), file) || strcmp(begin, GROUP_MAGIC) != 0)) {
		fclose(file);
		file = NULL;
	}
	return file;
}

static FILE *open_group(const char *path)
{
	return begin_group(folder_open_named(path, NULL));
}

bool experiment_is_group(const char *path)
{
	FILE *file = open_group(path);

	if (file)
		fclose(file);
	return file;
}

bool experiment_is_named_group(const char *path)
{
	return path_ends_with(path, ".erg") && experiment_is_group(path);
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

/* The file itself, through no link; who owns its directory may exchange it at any moment. */
static FILE *open_own_group(const char *path, struct diag_list *diags)
{
	const char *name = path_name(path);
	char *place = name > path ? xstrndup(path, (size_t)(name - path)) : xstrdup(".");
	int folder = folder_open(place, O_PATH);
	int fd = folder < 0 ? -1 : folder_open_file(folder, name, O_RDONLY, 0);
	struct stat info;

	if (fd < 0) {
		diag_add(diags, DIAG_ERROR, "The group %s cannot be read: %s", path,
			 errno == ELOOP ? "it is a link; name the file itself" : strerror(errno));
	} else if (fstat(fd, &info) || !file_is_trusted(&info)) {
		diag_add(diags, DIAG_ERROR,
			 "%s is a group that another user can write, who may name in it what is "
			 "not theirs: name the experiments themselves, or a group of your own",
			 path);
		folder_close(fd);
		fd = -1;
	}
	folder_close(folder);
	free(place);
	return begin_group(fd);
}

bool experiment_paths_add_own(struct experiment_paths *paths, const char *path,
			      struct diag_list *diags)
{
	if (!experiment_is_named_group(path)) {
		*vec_push(paths) = xstrdup(path);
		return true;
	}
	FILE *file = open_own_group(path, diags);

	if (!file)
		return false;
	read_group(paths, file, path);
	fclose(file);
	return true;
}

/* Whether what the path leads to is among those before; if not it is one of them from now on. */
static bool is_twin(struct hash_map *before, const char *path)
{
	uint32_t fresh = (uint32_t)before->count;
	struct stat info;

	return !stat(path, &info) &&
	       hash_map_put(before, hash_pair(info.st_dev, info.st_ino), fresh) != fresh;
}

void experiment_paths_drop_known(struct experiment_paths *paths, struct hash_map *before,
				 struct diag_list *diags)
{
	size_t kept = 0;

	for (size_t i = 0; i < paths->count; i++) {
		char *path = paths->items[i];

		if (!is_twin(before, path)) {
			paths->items[kept++] = path;
			continue;
		}
		diag_add(diags, DIAG_WARNING, "%s is named twice; it counts once", path);
		free(path);
	}
	paths->count = kept;
}

void experiment_paths_drop_twins(struct experiment_paths *paths, struct diag_list *diags)
{
	struct hash_map before = {0};

	experiment_paths_drop_known(paths, &before, diags);
	hash_map_fini(&before);
}

void experiment_paths_fini(struct experiment_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	vec_fini(paths);
}
