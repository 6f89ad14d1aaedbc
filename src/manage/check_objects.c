/* SPDX-License-Identifier: Apache-2.0 */
/* What an experiment needs besides its data: load objects, kept or here, and archives/ itself. */
#include "base/folder.h"
#include "base/path.h"
#include "format/archive.h"
#include "manage/check.h"
#include "object/elf/elf_file.h"
#include "object/object.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names under which archives/ may hold a load object of the maps. */
static void expected_names(const struct check *check, struct string_table *names)
{
	char name[NAME_MAX + 1];

	for (size_t i = 0; i < check->objects.files.count; i++) {
		const struct map_file *map = check->objects.files.items[i].map;

		if (format_archive_name(name, sizeof(name), map->path, map->build_id, map->mtime,
					map->file_size))
			string_table_add(names, name);
		if (format_archive_second_name(name, sizeof(name), map->path, map->build_id,
					       map->mtime, map->file_size))
			string_table_add(names, name);
	}
}

/* Whether the file is the one that its name, without ".debug", tells of. */
static bool is_named_file(const struct elf_file *file, const char *name, bool debug)
{
	char ending[NAME_MAX + 1];

	if (file->build_id)
		snprintf(ending, sizeof(ending), ".%s", file->build_id);
	else
		snprintf(ending, sizeof(ending), "-%zu", file->size);
	/* the size in a debug file's name is that of the object */
	if ((debug && !file->build_id) || path_ends_with(name, ending))
		return true;
	/* of two that differ the second has more behind that */
	char *first = xstrndup(name, (size_t)(strrchr(name, '.') - name));
	bool named = path_ends_with(first, ending);

	free(first);
	return named;
}

static void check_copy(struct check *check, const struct string_table *names, const char *entry)
{
	char *path = xasprintf("%s/%s", check->experiment->archives, entry);
	bool debug = path_ends_with(entry, OBJECT_ARCHIVED_DEBUG);
	char *name = xstrndup(entry, strlen(entry) - (debug ? strlen(OBJECT_ARCHIVED_DEBUG) : 0));
	struct elf_file file;
	enum status status = elf_file_open(path, &file);

	if (string_table_find(names, name) == HASH_NONE)
		diag_add(&check->warnings, DIAG_WARNING,
			 "archives/%s belongs to no load object of this experiment", entry);
	else if (status == STATUS_IO)
		diag_add(&check->damage, DIAG_WARNING, "archives/%s cannot be read: %s", entry,
			 strerror(errno));
	else if (status && entry[0] == '[' && !check->experiment->processes.items[0].log.engine)
		diag_add(&check->warnings, DIAG_WARNING,
			 "archives/%s is no whole ELF file: the process was killed when it made it",
			 entry);
	else if (status)
		diag_add(&check->damage, DIAG_WARNING,
			 "archives/%s is not a whole ELF file; `helio archive -F' copies it anew",
			 entry);
	else if (!is_named_file(&file, name, debug))
		diag_add(
			&check->damage, DIAG_WARNING,
			"archives/%s is another file than its name says; `helio archive -F' copies "
			"it anew",
			entry);
	if (!status)
		elf_file_close(&file);
	free(name);
	free(path);
}

static void check_half(struct check *check, int archives, const char *name)
{
	if (folder_is_left(archives, name))
		diag_add(&check->warnings, DIAG_WARNING,
			 "archives/%s is part of a copy, left by a helio that was killed; `helio "
			 "archive' takes it away",
			 name);
}

void check_archives(struct check *check)
{
	struct string_table names = {0};
	struct dirent **entries;
	int archives = -1, count = -1;

	/* names that gprofng gave do not tell which files these are */
	if (!check->experiment->processes.items[0].log.is_gprofng)
		archives = folder_open_below(check->experiment->family, FORMAT_DIR_ARCHIVES);
	if (archives >= 0)
		count = scandirat(archives, ".", &entries, NULL, versionsort);
	if (count < 0) { /* nothing was archived */
		folder_close(archives);
		return;
	}
	expected_names(check, &names);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (folder_is_half_name(name))
			check_half(check, archives, name);
		else if (name[0] != '.' && strcmp(name, FORMAT_ARCHIVE_SOURCES) != 0)
			check_copy(check, &names, name);
		free(entries[i]);
	}
	free(entries);
	close(archives);
	string_table_fini(&names);
}

/* Whether anything here can name the functions of the load object. */
static bool has_names(const struct check *check, const struct map_file *map)
{
	char name[NAME_MAX + 1];

	if (map->copy)
		return true;

	char *copy = experiment_find_copy(check->experiment, map, name)
			     ? xasprintf("%s/%s", check->experiment->archives, name)
			     : NULL;
	struct object_request request = {
		.path = map->path,
		.archive_path = copy,
		.build_id = map->build_id[0] ? map->build_id : NULL,
		.mtime = map->mtime,
		.file_size = map->file_size,
	};
	struct diag_list unheard = {0};
	struct object *object;

	object_open(&request, &object, &unheard);
	bool found = !object_is_missing(object);

	object_free(object);
	diag_fini(&unheard);
	free(copy);
	return found;
}

void check_objects(struct check *check)
{
	for (size_t i = 0; i < check->objects.files.count; i++) {
		const struct load_file *file = &check->objects.files.items[i];

		if (file->used && !has_names(check, file->map))
			diag_add(&check->warnings, DIAG_WARNING,
				 "%s is neither in archives/ nor here as it was measured: its "
				 "functions have no names",
				 file->map->path);
	}
}
