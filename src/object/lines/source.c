/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for finding files are the old tool's; see docs/internals/object.md. */
#include "object/lines/source.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/utf8.h"
#include "object/elf/debuginfod.h"
#include "object/elf/file.h"
#include "object/lines/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPERIMENTS "$expts"

/* Takes the path, which it owns, if it is that of a file. */
static bool take(char *path, enum source_origin origin, struct source_place *out)
{
	struct stat info;

	if (path && !stat(path, &info) && S_ISREG(info.st_mode)) {
		*out = (struct source_place){origin, path, (uint64_t)info.st_mtime};
		return true;
	}
	free(path);
	return false;
}

static bool find_archived(const struct source_search *search, const char *path,
			  struct source_place *out)
{
	for (size_t i = 0; path[0] == '/' && i < search->archive_count; i++) {
		if (take(xasprintf("%s%s", search->archives[i], path), SOURCE_ARCHIVED, out))
			return true;
	}
	return false;
}

/* What a map makes of the path, or NULL where its prefix does not fit. A prefix ends with a part.
 */
static char *apply_map(const struct source_map *map, const char *path)
{
	size_t length = strlen(map->old_prefix);

	if (!length || strncmp(path, map->old_prefix, length) != 0)
		return NULL;
	if (map->old_prefix[length - 1] != '/' && path[length] && path[length] != '/')
		return NULL;
	return xasprintf("%s%s", map->new_prefix, path + length);
}

/* Tries all maps; *fits: one had a prefix of the path. */
static bool find_mapped(const struct source_search *search, const char *path, bool *fits,
			struct source_place *out)
{
	for (size_t i = 0; i < search->map_count; i++) {
		char *mapped = apply_map(&search->maps[i], path);

		*fits |= mapped != NULL;
		if (take(mapped, SOURCE_FOUND_AS, out))
			return true;
	}
	return false;
}

static bool find_in_directory(const struct source_search *search, const char *directory,
			      const char *path, struct source_place *out)
{
	char *candidate = path_join(directory, path_name(path));
	bool fits = false;
	bool found = take(xstrdup(candidate), SOURCE_FOUND_AS, out) ||
		     find_mapped(search, candidate, &fits, out);

	free(candidate);
	return found;
}

static bool find_in_directories(const struct source_search *search, const char *path,
				struct source_place *out)
{
	bool found = false;

	for (size_t i = 0; !found && i < search->directory_count; i++) {
		if (strcmp(search->directories[i], EXPERIMENTS) != 0) {
			found = find_in_directory(search, search->directories[i], path, out);
			continue;
		}
		for (size_t j = 0; !found && j < search->experiment_count; j++)
			found = find_in_directory(search, search->experiments[j], path, out);
	}
	return found;
}

void source_find(const struct source_search *search, const char *path, struct source_place *out)
{
	bool fits = false;

	*out = (struct source_place){0};
	if (find_archived(search, path, out) || find_mapped(search, path, &fits, out))
		return;
	if (find_in_directories(search, path, out)) {
		if (!strcmp(out->path, path))
			out->origin = SOURCE_FOUND;
		return;
	}
	if (!fits && take(xstrdup(path), SOURCE_FOUND, out))
		return;
	if (search->build_id)
		take(debuginfod_source(search->build_id, path), SOURCE_DOWNLOADED, out);
}

void source_place_fini(struct source_place *place)
{
	free(place->path);
	*place = (struct source_place){0};
}

/* The whole file, NUL-terminated, NULs inside replaced by what is no UTF-8; NULL: see errno. */
static char *read_all(int fd, size_t size)
{
	char *text = xmalloc(size + 1);
	size_t length = 0;
	ssize_t got;

	while (length < size && (got = read(fd, text + length, size - length))) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(text);
			return NULL;
		}
		length += (size_t)got;
	}
	text[length] = '\0';
	for (char *nul = text; (nul = memchr(nul, '\0', length - (size_t)(nul - text)));)
		*nul = '\xff';
	return text;
}

/* Cuts the text into lines. */
static void split(struct source *source)
{
	VEC(char *) lines = {0};

	for (char *line = source->text; *line;) {
		size_t length = strcspn(line, "\n");
		char *end = line + length;

		*vec_push(&lines) = line;
		line = *end ? end + 1 : end;
		*end = '\0';
		if (length && end[-1] == '\r')
			end[-1] = '\0';
	}
	source->lines = lines.items;
	source->count = (uint32_t)lines.count;
}

enum status source_open(const char *path, struct source *out)
{
	struct stat info;
	int fd;
	enum status status = file_open_regular(path, &fd, &info);

	*out = (struct source){0};
	if (status)
		return status;
	status = STATUS_INVALID;
	if (info.st_size >= UINT32_MAX)
		goto out;
	char *raw = read_all(fd, (size_t)info.st_size);

	status = STATUS_IO;
	if (!raw)
		goto out;
	out->path = xstrdup(path);
	out->mtime = (uint64_t)info.st_mtime;
	out->text = utf8_clean(raw);
	free(raw);
	split(out);
	status = STATUS_OK;
out:;
	int saved = errno;

	close(fd);
	errno = saved;
	return status;
}

const char *source_line(const struct source *source, uint32_t line)
{
	return line && line <= source->count ? source->lines[line - 1] : NULL;
}

void source_close(struct source *source)
{
	free(source->path);
	free(source->lines);
	free(source->text);
	*source = (struct source){0};
}
