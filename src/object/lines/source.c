/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for finding files are the old tool's; see docs/internals/object.md. */
#include "object/lines/source.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/utf8.h"
#include "object/elf/debuginfod.h"
#include "object/elf/file.h"
#include "object/lines/archive.h"
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

/* As a candidate, or what the maps make of it. */
static bool find_at(const struct source_search *search, const char *directory, const char *name,
		    struct source_place *out)
{
	char *candidate = path_join(directory, name);
	bool fits = false;
	bool found = take(xstrdup(candidate), SOURCE_FOUND_AS, out) ||
		     find_mapped(search, candidate, &fits, out);

	free(candidate);
	return found;
}

static bool is_relative(const char *path)
{
	return *path && *path != '/';
}

static bool find_in_archive(const char *archive, const char *path, struct source_place *out)
{
	struct stat info;
	char *name =
		is_relative(path) && !stat(archive, &info) ? archive_find(archive, path) : NULL;

	if (!name)
		return false;
	*out = (struct source_place){SOURCE_FOUND_AS,
				     xasprintf("%s" ARCHIVE_SEPARATOR "%s", archive, name),
				     (uint64_t)info.st_mtime};
	free(name);
	return true;
}

static bool find_in_directory(const struct source_search *search, const char *directory,
			      const char *path, struct source_place *out)
{
	if (archive_is_named(directory) && find_in_archive(directory, path, out))
		return true;
	return (is_relative(path) && find_at(search, directory, path, out)) ||
	       find_at(search, directory, path_name(path), out);
}

/* "lib/a.jar" has its sources in "lib/a-sources.jar", if not in itself. */
static bool find_beside(const char *archive, const char *path, struct source_place *out)
{
	char *beside =
		xasprintf("%.*s-sources.jar", (int)(strlen(archive) - strlen(".jar")), archive);
	bool found = find_in_archive(beside, path, out);

	free(beside);
	return found;
}

static bool find_in_class_path(const struct source_search *search, const char *path,
			       struct source_place *out)
{
	bool found = false;

	for (size_t i = 0; is_relative(path) && !found && i < search->class_path_count; i++) {
		const char *entry = search->class_path[i];

		found = archive_is_named(entry)
				? find_in_archive(entry, path, out) || find_beside(entry, path, out)
				: find_at(search, entry, path, out);
	}
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
	if (find_in_class_path(search, path, out))
		return;
	if (search->build_id)
		take(debuginfod_source(search->build_id, path), SOURCE_DOWNLOADED, out);
}

void source_place_fini(struct source_place *place)
{
	free(place->path);
	*place = (struct source_place){0};
}

/* The whole file, with room for a NUL; NULL: see errno. */
static char *read_all(int fd, size_t size, size_t *read_size)
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
	*read_size = length;
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

/* Takes the text, `length` bytes, which is no UTF-8 so far. */
static void take_text(struct source *source, const char *path, uint64_t mtime, char *raw,
		      size_t length)
{
	raw[length] = '\0';
	for (char *nul = raw; (nul = memchr(nul, '\0', length - (size_t)(nul - raw)));)
		*nul = '\xff';
	source->path = xstrdup(path);
	source->mtime = mtime;
	source->text = utf8_clean(raw);
	free(raw);
	split(source);
}

/*
 * Of a source in an archive, which a few bytes may stand for: class files number lines with 16
 * bits, so none has more that a program could have been at.
 */
static bool has_too_many_lines(const char *text, size_t size)
{
	size_t count = 0;

	for (const char *end = text; (end = memchr(end, '\n', size - (size_t)(end - text))); end++)
		count++;
	return count > UINT16_MAX;
}

/* STATUS_NOTFOUND: it is not the name of one in an archive. */
static enum status open_in_archive(const char *path, struct source *out)
{
	const char *separator = strstr(path, ARCHIVE_SEPARATOR);
	struct stat info;
	size_t size;

	if (!separator)
		return STATUS_NOTFOUND;
	char *archive = xstrndup(path, (size_t)(separator - path)), *raw = NULL;
	bool is_there = archive_is_named(archive) && !stat(archive, &info);

	if (is_there)
		raw = archive_read(archive, separator + strlen(ARCHIVE_SEPARATOR), &size);
	if (raw && has_too_many_lines(raw, size)) {
		free(raw);
		raw = NULL;
	}
	if (raw)
		take_text(out, path, (uint64_t)info.st_mtime, raw, size);
	free(archive);
	return !is_there ? STATUS_NOTFOUND : raw ? STATUS_OK : STATUS_INVALID;
}

static enum status open_file(const char *path, struct source *out)
{
	struct stat info;
	size_t length;
	int fd;
	enum status status = file_open_regular(path, &fd, &info);

	if (status)
		return status;
	char *raw = info.st_size < UINT32_MAX ? read_all(fd, (size_t)info.st_size, &length) : NULL;

	status = info.st_size < UINT32_MAX ? STATUS_IO : STATUS_INVALID;
	if (raw) {
		take_text(out, path, (uint64_t)info.st_mtime, raw, length);
		status = STATUS_OK;
	}
	int saved = errno;

	close(fd);
	errno = saved;
	return status;
}

enum status source_open(const char *path, struct source *out)
{
	*out = (struct source){0};
	enum status status = open_in_archive(path, out);

	return status == STATUS_NOTFOUND ? open_file(path, out) : status;
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
