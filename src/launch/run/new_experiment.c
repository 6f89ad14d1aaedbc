/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names count up: test.3.er is followed by test.4.er even where test.1.er is
 * free, so that the highest number is the latest run.
 */
#include "launch/run/new_experiment.h"

#include "base/folder.h"
#include "base/memory.h"
#include "format/format.h"
#include "launch/run/mounts.h"
#include "launch/run/ranks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_stem[] = "test";
enum { NUMBER_MAX = 999999999 };

/* A name taken apart: FOLDER/STEM.NUMBER.er */
struct name {
	const char *base; /* after the last slash */
	size_t stem;	  /* length of the stem in base; 0: this name has no number */
	unsigned long number;
};

/* Reads ".NUMBER.er" at the end of a base name. */
static bool read_number(const char *base, size_t *stem, unsigned long *number)
{
	size_t length = strlen(base);

	if (length < strlen("x.1.er") || strcmp(base + length - 3, ".er"))
		return false;
	size_t at = length - 3;

	while (at > 0 && isdigit((unsigned char)base[at - 1]))
		at--;
	if (at == length - 3 || at < 2 || base[at - 1] != '.' || length - 3 - at > 9)
		return false;
	*stem = at - 1;
	*number = strtoul(base + at, NULL, 10);
	return true;
}

static struct name take_apart(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct name name = {.base = slash ? slash + 1 : path};

	if (!read_number(name.base, &name.stem, &name.number))
		name.stem = 0;
	return name;
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* The highest number in use with this stem in the folder; 0: none. */
static unsigned long highest(const char *folder, const char *stem, size_t length)
{
	unsigned long most = 0;
	DIR *dir = opendir(folder);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		size_t other;
		unsigned long number;

		if (read_number(entry->d_name, &other, &number) && other == length &&
		    !strncmp(entry->d_name, stem, length) && number > most)
			most = number;
	}
	if (dir)
		closedir(dir);
	return most;
}

/* The name after all those in use, or NULL when there is none. */
static char *next_name(const char *path)
{
	struct name name = take_apart(path);
	char *folder =
		name.base > path ? xstrndup(path, (size_t)(name.base - path)) : xstrdup("./");
	unsigned long most = highest(folder, name.base, name.stem);
	char *next = NULL;

	if (name.stem && most < NUMBER_MAX)
		next = xasprintf("%.*s%.*s.%lu.er", (int)(name.base - path), path, (int)name.stem,
				 name.base, most + 1);
	free(folder);
	return next;
}

/* A relative name is one in the directory of -d. */
char *new_experiment_place(const struct options *options, const char *name)
{
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		length--;
	if (!options->directory || *name == '/')
		return xstrndup(name, length);
	return xasprintf("%s/%.*s", options->directory, (int)length, name);
}

/* STEM.1.er: the group's base name, or test; of a rank of an MPI program its number. */
static char *default_name(const struct options *options)
{
	const char *slash = options->group ? strrchr(options->group, '/') : NULL;
	const char *stem = slash ? slash + 1 : options->group ? options->group : default_stem;
	size_t length = strlen(stem) - (options->group ? strlen(".erg") : 0);
	long rank = ranks_own();
	char *name = xasprintf("%.*s.%ld.er", (int)length, stem, rank < 0 ? 1 : rank);
	char *place = new_experiment_place(options, name);

	free(name);
	return place;
}

enum status new_experiment_name(const struct options *options, char **name, struct diag_list *diags)
{
	char *asked;

	if (!options->output) {
		asked = default_name(options);
		*name = ranks_own() >= 0 && !exists(asked) ? xstrdup(asked) : next_name(asked);
		if (!*name)
			diag_add(diags, DIAG_ERROR,
				 "The numbers after %s are used up: name an experiment with -o",
				 asked);
		free(asked);
		return *name ? STATUS_OK : STATUS_INVALID;
	}
	if (options->directory && *options->output == '/')
		diag_add(diags, DIAG_WARNING, "-d %s does not count for the absolute name %s",
			 options->directory, options->output);
	asked = new_experiment_place(options, options->output);
	*name = asked;
	if (options->overwrite || !exists(asked))
		return STATUS_OK;
	*name = next_name(asked);
	if (*name)
		diag_add(diags, DIAG_WARNING, "name %s is in use; changed to %s", asked, *name);
	else
		diag_add(diags, DIAG_ERROR,
			 "name %s is in use and cannot be updated: choose another, or say -O to "
			 "replace it",
			 asked);
	free(asked);
	return *name ? STATUS_OK : STATUS_INVALID;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The directory that an experiment lies in: it need not be readable.  Through no link of another
 * user's, who would choose where something is made, and with whose rights.
 */
static int open_parent(const char *path)
{
	const char *base = base_of(path);
	char *parent = base > path ? xstrndup(path, (size_t)(base - path)) : xstrdup(".");
	int fd = folder_open_way(parent);
	int error = errno;

	free(parent);
	errno = error;
	return fd;
}

bool new_experiment_remove(int folder, const char *path)
{
	return folder_remove_itself(folder, base_of(path));
}

static enum status cannot_create(const char *name, int error, struct diag_list *diags)
{
	diag_add(diags, DIAG_ERROR, "Cannot create experiment %s: %s; name another place with -o",
		 name,
		 error == EPERM ? "the way there may lead through a link of another user, or "
				  "somebody exchanged what was made"
				: strerror(error));
	return STATUS_IO;
}

/*
 * Whether the directory is the one that was made, and not what somebody put in its place.  There
 * are file systems in which everything has one owner.
 */
static bool is_own(int folder)
{
	struct stat st, parent;

	return !fstat(folder, &st) &&
	       (st.st_uid == geteuid() ||
		(!fstatat(folder, "..", &parent, 0) && parent.st_uid == st.st_uid));
}

/* Makes the directory under that name, or a later one, and opens it. False: see errno. */
static bool make_folder(int parent, char **name, int *folder)
{
	for (int tries = 0; mkdirat(parent, base_of(*name), 0755); tries++) {
		int error = errno;
		char *next = error == EEXIST && tries < 1000 ? next_name(*name) : NULL;

		errno = error;
		if (!next)
			return false;
		free(*name);
		*name = next;
	}
	*folder = folder_open_below(parent, base_of(*name));
	if (*folder < 0 || is_own(*folder))
		return *folder >= 0;
	close(*folder);
	*folder = -1;
	errno = EPERM;
	return false;
}

enum status new_experiment_create(const struct options *options, launch_replace *replace,
				  char **name, int *folder, struct diag_list *diags)
{
	int parent = open_parent(*name);
	enum status status = STATUS_OK;

	*folder = -1;
	if (parent >= 0 && options->overwrite && !replace(*name, diags))
		status = STATUS_INVALID;
	if (status == STATUS_OK && (parent < 0 || !make_folder(parent, name, folder)))
		status = cannot_create(*name, errno, diags);
	if (parent >= 0)
		close(parent);
	return status;
}

char *new_experiment_path(int folder, const char *name, struct diag_list *diags)
{
	char *path = realpath(name, NULL);

	if (path && folder_is_at(folder, path))
		return path;
	diag_add(diags, DIAG_ERROR, "Experiment %s cannot be found again: %s", name,
		 strerror(errno));
	free(path);
	return NULL;
}

static bool write_file(int folder, const char *file, const struct strbuf *text)
{
	int fd = folder_open_file(folder, file, O_WRONLY | O_CREAT | O_EXCL, 0644);
	size_t done = 0;

	while (fd >= 0 && done < text->length) {
		ssize_t size = write(fd, text->text + done, text->length - done);

		if (size < 0)
			break;
		done += (size_t)size;
	}
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return fd >= 0 && done == text->length;
}

enum status new_experiment_write(int folder, const char *name, const struct new_experiment_log *log,
				 struct diag_list *diags)
{
	struct strbuf text = {0};

	new_experiment_add_log(&text, log);
	bool ok = write_file(folder, FORMAT_FILE_LOG, &text);

	if (ok && log->options->comment_count) {
		strbuf_clear(&text);
		for (unsigned i = 0; i < log->options->comment_count; i++)
			strbuf_printf(&text, "%s\n", log->options->comments[i]);
		ok = write_file(folder, FORMAT_FILE_NOTES, &text);
	}
	if (ok && options_need_mounts(log->options)) {
		strbuf_clear(&text);
		mounts_read(&text);
		ok = write_file(folder, FORMAT_FILE_MOUNTS, &text);
	}
	strbuf_fini(&text);
	if (ok)
		return STATUS_OK;
	diag_add(diags, DIAG_ERROR,
		 "Cannot write into experiment %s: %s; name another place with -o", name,
		 strerror(errno));
	return STATUS_IO;
}
