/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/tree.h"

#include "base/folder.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BUFFER_SIZE = 256 * 1024,
	DEPTH_LIMIT = 64, /* of directories in one another: each level holds descriptors */
};

/* free() that leaves errno alone, for the way out of a failure. */
static void free_quietly(void *memory)
{
	int error = errno;

	free(memory);
	errno = error;
}

static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(fd, buffer + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static bool write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		data += done;
		size -= (size_t)done;
	}
	return true;
}

/* Copies [from, end) of the file, to the same place. */
static bool copy_range(int in, int out, off_t from, off_t end)
{
	char *buffer = xmalloc(BUFFER_SIZE);
	ssize_t got = 1;
	bool ok = lseek(in, from, SEEK_SET) == from && lseek(out, from, SEEK_SET) == from;

	while (ok && got > 0 && from < end) {
		off_t left = end - from;

		got = read_all(in, buffer, left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE);
		ok = got >= 0 && write_all(out, buffer, (size_t)got);
		from += got;
	}
	free_quietly(buffer);
	return ok;
}

/* Holes stay holes: what seems to be large may have nothing in it. */
static bool copy_data(int in, int out, off_t size)
{
	off_t data = 0, hole;
	bool ok = true;

	while (ok && data < size && (data = lseek(in, data, SEEK_DATA)) >= 0) {
		hole = lseek(in, data, SEEK_HOLE);
		ok = hole >= 0 && copy_range(in, out, data, hole < size ? hole : size);
		data = hole;
	}
	if (ok && data < 0 && errno != ENXIO) /* ENXIO: there is no more */
		ok = errno == EINVAL && copy_range(in, out, 0, size);
	return ok && !ftruncate(out, size);
}

/* The open file's bytes, mode and times to the new file. */
static bool copy_open_file(int in, int out)
{
	struct stat info;

	if (fstat(in, &info) || !copy_data(in, out, info.st_size))
		return false;

	struct timespec times[2] = {info.st_atim, info.st_mtim};

	mode_t mask = umask(0);

	umask(mask);
	/* an experiment must stay ours to change and to remove */
	return !fchmod(out, (info.st_mode & 0777 & ~mask) | S_IRUSR | S_IWUSR) &&
	       !futimens(out, times);
}

/* Closes both; the copy is called `name` when it is whole. */
static bool copy_file(int in, int folder, const char *name)
{
	char *half = folder_half_name(name);
	int out = in < 0 ? -1 : folder_open_half(folder, half, 0600);
	/* the lock lasts until the copy has its name; that all was written only closing it tells */
	int lock = out < 0 ? -1 : fcntl(out, F_DUPFD_CLOEXEC, 0);
	bool ok = lock >= 0 && copy_open_file(in, out);

	if (out >= 0 && close(out))
		ok = false;
	ok = ok && !renameat(folder, half, folder, name);
	if (!ok && out >= 0) {
		int error = errno;

		unlinkat(folder, half, 0);
		errno = error;
	}
	folder_close(lock);
	folder_close(in);
	free_quietly(half);
	return ok;
}

bool tree_copy_file(int in, int folder, const char *to)
{
	const char *name;
	int parent = folder_open_parent(folder, to, &name);

	if (parent < 0) {
		folder_close(in);
		return false;
	}
	bool ok = copy_file(in, parent, name);

	folder_close(parent);
	return ok;
}

/* Two directories that are walked at once: what is in `from` is looked for or made in `to`. */
struct pair {
	int from, to;
};
typedef bool visit_entry(const struct pair *pair, const char *name, const struct stat *info,
			 unsigned depth);

/* Visits all that is in `from`, and closes both. */
static bool walk(struct pair pair, visit_entry *visit, unsigned depth)
{
	int fd = folder_open_below(pair.from, "");
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	bool ok = directory && depth < DEPTH_LIMIT;

	if (depth >= DEPTH_LIMIT)
		errno = ELOOP;
	for (struct dirent *entry; ok && (errno = 0, entry = readdir(directory));) {
		struct stat info;

		if (path_is_dots(entry->d_name))
			continue;
		ok = !fstatat(pair.from, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) &&
		     visit(&pair, entry->d_name, &info, depth);
	}
	ok = ok && !errno;
	int error = errno;

	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	close(pair.from);
	close(pair.to);
	errno = error;
	return ok;
}

/* Walks a directory that is in both. */
static bool walk_below(const struct pair *pair, const char *name, visit_entry *visit,
		       unsigned depth)
{
	struct pair below = {.from = folder_open_below(pair->from, name), .to = -1};

	if (below.from >= 0)
		below.to = folder_open_below(pair->to, name);
	if (below.to >= 0)
		return walk(below, visit, depth + 1);
	folder_close(below.from);
	return false;
}

static bool copy_link(const struct pair *pair, const char *name)
{
	char text[4096];
	ssize_t length = readlinkat(pair->from, name, text, sizeof(text) - 1);

	if (length < 0)
		return false;
	text[length] = '\0';
	return !symlinkat(text, pair->to, name);
}

static bool copy_entry(const struct pair *pair, const char *name, const struct stat *info,
		       unsigned depth)
{
	switch (info->st_mode & S_IFMT) {
	case S_IFDIR:
		return !mkdirat(pair->to, name, (info->st_mode & 0777) | S_IRWXU) &&
		       walk_below(pair, name, copy_entry, depth);
	case S_IFREG:
		return copy_file(folder_open_file(pair->from, name, O_RDONLY, 0), pair->to, name);
	case S_IFLNK:
		return copy_link(pair, name);
	case S_IFSOCK: /* of a launcher that still runs, or was killed (format/broker.h) */
		return true;
	default:
		errno = EINVAL; /* a device is no part of an experiment */
		return false;
	}
}

static bool same_link(const struct pair *pair, const char *name)
{
	char texts[2][4096];
	ssize_t a = readlinkat(pair->from, name, texts[0], sizeof(texts[0]));
	ssize_t b = readlinkat(pair->to, name, texts[1], sizeof(texts[1]));

	return a >= 0 && a == b && !memcmp(texts[0], texts[1], (size_t)a);
}

bool tree_same_file(int a, int b)
{
	char *buffers = xmalloc(2 * (size_t)BUFFER_SIZE);
	ssize_t size = -1, other = -1;
	bool same = a >= 0 && b >= 0;

	errno = same ? 0 : errno;
	do {
		size = same ? read_all(a, buffers, BUFFER_SIZE) : -1;
		other = same ? read_all(b, buffers + BUFFER_SIZE, BUFFER_SIZE) : -1;
		same = size >= 0 && size == other &&
		       !memcmp(buffers, buffers + BUFFER_SIZE, (size_t)size);
	} while (same && size);
	folder_close(a);
	folder_close(b);
	free_quietly(buffers);
	return same;
}

static bool same_entry(const struct pair *pair, const char *name, const struct stat *info,
		       unsigned depth)
{
	errno = 0;
	switch (info->st_mode & S_IFMT) {
	case S_IFDIR:
		return walk_below(pair, name, same_entry, depth);
	case S_IFREG:
		return tree_same_file(folder_open_file(pair->from, name, O_RDONLY, 0),
				      folder_open_file(pair->to, name, O_RDONLY, 0));
	case S_IFLNK:
		return same_link(pair, name);
	case S_IFSOCK:
		return true;
	default:
		return false;
	}
}

bool tree_same(int folder, int copy)
{
	struct pair pair = {.from = folder_open_below(folder, ""), .to = -1};

	if (pair.from >= 0)
		pair.to = folder_open_below(copy, "");
	if (pair.to >= 0)
		return walk(pair, same_entry, 0);
	folder_close(pair.from);
	return false;
}

/*
 * The directory of a path that is the user's own words; *name is the last component.  Another
 * user's link on the way could lead to anything (EPERM).
 */
static int open_parent(const char *path, char **copy, const char **name)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	*copy = xstrndup(path, length);
	char *slash = strrchr(*copy, '/');

	*name = slash ? slash + 1 : *copy;
	if (!slash)
		return folder_open_way(".");
	*slash = '\0';
	return folder_open_way(slash == *copy ? "/" : *copy);
}

static bool rename_at(int parent, const char *from, int to_parent, const char *to)
{
	struct stat info;

	if (!renameat2(parent, from, to_parent, to, RENAME_NOREPLACE))
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/* a file system without RENAME_NOREPLACE */
	if (!fstatat(to_parent, to, &info, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return false;
	}
	return !renameat(parent, from, to_parent, to);
}

static bool is_link(int parent, const char *name)
{
	struct stat info;

	return !fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) && S_ISLNK(info.st_mode);
}

/* What a name may be, besides the folder itself. */
enum alternative { OR_NOTHING, OR_LINK };

static bool is_expected(int parent, const char *name, int folder, enum alternative also)
{
	return (also == OR_LINK && is_link(parent, name)) || folder_is(folder, parent, name);
}

/* Who can change the directory may exchange what is in it up to the renaming: looks again. */
static bool rename_folder(int parent, const char *from, int folder, int to_parent, const char *to,
			  enum alternative also)
{
	if (!is_expected(parent, from, folder, also) || !rename_at(parent, from, to_parent, to))
		return false;
	if (is_expected(to_parent, to, folder, also))
		return true;
	rename_at(to_parent, to, parent, from);
	errno = ESTALE;
	return false;
}

bool tree_rename_folder(const char *from, int folder, const char *to)
{
	char *words[2];
	const char *name[2];
	int parent = open_parent(from, &words[0], &name[0]);
	int to_parent = open_parent(to, &words[1], &name[1]);
	bool ok = parent >= 0 && to_parent >= 0 &&
		  rename_folder(parent, name[0], folder, to_parent, name[1], OR_LINK);

	folder_close(parent);
	folder_close(to_parent);
	free_quietly(words[0]);
	free_quietly(words[1]);
	return ok;
}

/* *going: the name that it has lost its own for, or NULL. */
static bool remove_folder(int parent, const char *name, int folder, char **going)
{
	if (is_link(parent, name))
		return !unlinkat(parent, name, 0);
	*going = xasprintf(".%s.%d", name, (int)getpid());
	if (rename_folder(parent, name, folder, parent, *going, OR_LINK))
		return folder_remove_itself(folder, *going);
	free_quietly(*going);
	*going = NULL;
	return errno != ESTALE && folder_remove_itself(folder, name);
}

bool tree_remove_folder(const char *path, int folder, char **left)
{
	char *words, *going = NULL;
	const char *name;
	int parent = open_parent(path, &words, &name);
	bool ok = parent >= 0 && remove_folder(parent, name, folder, &going);
	int error = errno;

	*left = NULL;
	if (!ok)
		*left = xasprintf("%.*s%s", (int)(name - words), path, going ? going : name);
	folder_close(parent);
	free(words);
	free(going);
	errno = error;
	return ok;
}

/* Whether it is what was just made, and nothing that somebody has moved there meanwhile. */
static bool is_fresh(int folder)
{
	struct stat info, parent;
	size_t entries = 0;
	DIR *directory = folder_list(folder, "");

	while (directory && readdir(directory))
		entries++;
	if (directory)
		closedir(directory);
	if (!directory || fstat(folder, &info) || fstatat(folder, "..", &parent, 0))
		return false;
	errno = ESTALE;
	/* there are file systems in which everything has one owner */
	return entries <= 2 && (info.st_uid == geteuid() || info.st_uid == parent.st_uid);
}

/* Makes a directory and opens it. */
static int make_fresh(int parent, const char *name, mode_t mode)
{
	int folder = mkdirat(parent, name, mode) ? -1 : folder_open_below(parent, name);

	if (folder < 0 || is_fresh(folder))
		return folder;
	folder_close(folder);
	return -1;
}

static bool copy_into(int from, int to)
{
	struct pair pair = {.from = folder_open_below(from, ""), .to = folder_open_below(to, "")};

	if (pair.from >= 0 && pair.to >= 0)
		return walk(pair, copy_entry, 0);
	folder_close(pair.from);
	folder_close(pair.to);
	return false;
}

/* *half: the copy's name until it is complete, where it was made and stays. */
static bool copy_beside(int folder, int parent, const char *name, char **half)
{
	char *fresh = xasprintf(".%s.%d", name, (int)getpid());
	struct stat info;
	int made = fstat(folder, &info)
			   ? -1
			   : make_fresh(parent, fresh, (info.st_mode & 0777) | S_IRWXU);
	bool ok = made >= 0 && copy_into(folder, made);

	if (ok && !tree_same(folder, made)) {
		errno = errno ? errno : EIO;
		ok = false;
	}
	ok = ok && rename_folder(parent, fresh, made, parent, name, OR_NOTHING);
	int error = errno;

	*half = NULL;
	if (!ok && made >= 0 && !folder_remove_itself(made, fresh) && errno != ESTALE)
		*half = xstrdup(fresh);
	folder_close(made);
	free(fresh);
	errno = error;
	return ok;
}

bool tree_copy(int folder, const char *to, char **left)
{
	char *words, *half = NULL;
	const char *name;
	int parent = open_parent(to, &words, &name);
	bool ok = parent >= 0 && copy_beside(folder, parent, name, &half);
	int error = errno;

	*left = half ? xasprintf("%.*s%s", (int)(name - words), to, half) : NULL;
	folder_close(parent);
	free(words);
	free(half);
	errno = error;
	return ok;
}

/* Closes the directory. */
static uint64_t bytes_in(int fd, unsigned depth)
{
	DIR *directory = depth < DEPTH_LIMIT ? fdopendir(fd) : NULL;
	uint64_t bytes = 0;
	struct stat info;

	if (!directory) {
		folder_close(fd);
		return 0;
	}
	for (struct dirent *entry; (entry = readdir(directory));) {
		if (path_is_dots(entry->d_name) ||
		    fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(info.st_mode))
			bytes += (uint64_t)info.st_size;
		else if (S_ISDIR(info.st_mode))
			bytes += bytes_in(folder_open_below(fd, entry->d_name), depth + 1);
	}
	closedir(directory);
	return bytes;
}

uint64_t tree_bytes(const char *path)
{
	int folder = folder_open(path, 0);

	return folder < 0 ? 0 : bytes_in(folder, 0);
}

uint64_t tree_bytes_below(int folder, const char *path)
{
	int below = folder_open_below(folder, path);

	return below < 0 ? 0 : bytes_in(below, 0);
}

char *tree_relative(const char *directory, const char *path)
{
	struct strbuf relative = {0};
	size_t same = 0, i;

	for (i = 0; directory[i] && directory[i] == path[i]; i++)
		if (path[i] == '/')
			same = i;
	if (!directory[i] && path[i] == '/')
		same = i;
	for (i = same; directory[i]; i++)
		if (directory[i] == '/')
			strbuf_puts(&relative, "../");
	strbuf_puts(&relative, path + same + 1);
	return strbuf_steal(&relative);
}
