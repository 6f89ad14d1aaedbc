/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/tree.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 256 * 1024 };

/* free() that leaves errno alone, for the way out of a failure. */
static void free_quietly(void *memory)
{
	int error = errno;

	free(memory);
	errno = error;
}

static void close_quietly(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
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

static bool is_zero(const char *data, size_t size)
{
	return !data[0] && !memcmp(data, data + 1, size - 1);
}

static bool copy_data(int in, int out)
{
	char *buffer = xmalloc(BUFFER_SIZE);
	off_t total = 0;
	ssize_t got;
	bool ok = true;

	while (ok && (got = read_all(in, buffer, BUFFER_SIZE)) > 0) {
		total += got;
		if (is_zero(buffer, (size_t)got))
			ok = lseek(out, got, SEEK_CUR) >= 0;
		else
			ok = write_all(out, buffer, (size_t)got);
	}
	ok = ok && !got && !ftruncate(out, total);
	free_quietly(buffer);
	return ok;
}

/* The open file's bytes, mode and times to a file that this makes. */
static bool copy_open_file(int in, const char *to)
{
	struct stat info;
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = out >= 0 && !fstat(in, &info) && copy_data(in, out);

	if (ok) {
		struct timespec times[2] = {info.st_atim, info.st_mtim};

		/* an experiment must stay ours to change and to remove */
		ok = !fchmod(out, (info.st_mode & 0777) | S_IRUSR | S_IWUSR) &&
		     !futimens(out, times);
	}
	if (out >= 0 && close(out))
		ok = false;
	return ok;
}

bool tree_copy_file(const char *from, const char *to)
{
	char *half = xasprintf("%s.%d.part", to, (int)getpid());
	int in = open(from, O_RDONLY | O_CLOEXEC);
	bool ok = in >= 0 && copy_open_file(in, half) && !rename(half, to);

	if (!ok) {
		int error = errno;

		unlink(half);
		errno = error;
	}
	close_quietly(in);
	free_quietly(half);
	return ok;
}

static bool copy_link(const char *from, const char *to)
{
	char text[4096];
	ssize_t length = readlink(from, text, sizeof(text) - 1);

	if (length < 0)
		return false;
	text[length] = '\0';
	return !symlink(text, to);
}

static bool copy_entry(const FTSENT *entry, const char *to)
{
	switch (entry->fts_info) {
	case FTS_D:
		return !mkdir(to, (entry->fts_statp->st_mode & 0777) | S_IRWXU);
	case FTS_F:
		return tree_copy_file(entry->fts_accpath, to);
	case FTS_SL:
	case FTS_SLNONE:
		return copy_link(entry->fts_accpath, to);
	case FTS_DP:
		return true;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		errno = entry->fts_errno;
		return false;
	default:
		errno = EINVAL; /* a device or a socket is no part of an experiment */
		return false;
	}
}

static bool same_link(const char *from, const char *copy)
{
	char texts[2][4096];
	ssize_t a = readlink(from, texts[0], sizeof(texts[0]));
	ssize_t b = readlink(copy, texts[1], sizeof(texts[1]));

	return a >= 0 && a == b && !memcmp(texts[0], texts[1], (size_t)a);
}

static bool same_file(const char *from, const char *copy)
{
	char *buffers = xmalloc(2 * (size_t)BUFFER_SIZE);
	int a = open(from, O_RDONLY | O_CLOEXEC), b = open(copy, O_RDONLY | O_CLOEXEC);
	ssize_t size = -1, other = -1;
	bool same = a >= 0 && b >= 0;

	do {
		size = same ? read_all(a, buffers, BUFFER_SIZE) : -1;
		other = same ? read_all(b, buffers + BUFFER_SIZE, BUFFER_SIZE) : -1;
		same = size >= 0 && size == other &&
		       !memcmp(buffers, buffers + BUFFER_SIZE, (size_t)size);
	} while (same && size);
	close_quietly(a);
	close_quietly(b);
	free_quietly(buffers);
	return same;
}

static bool same_entry(const FTSENT *entry, const char *copy)
{
	struct stat info;

	errno = 0;
	switch (entry->fts_info) {
	case FTS_D:
	case FTS_DP:
		return !lstat(copy, &info) && S_ISDIR(info.st_mode);
	case FTS_F:
		return same_file(entry->fts_accpath, copy);
	case FTS_SL:
	case FTS_SLNONE:
		return same_link(entry->fts_accpath, copy);
	default:
		return false;
	}
}

/* FTS_COMFOLLOW: where `from` is a link itself, what it points to is meant. */
static FTS *open_walk(const char *from, int options)
{
	char *roots[] = {(char *)from, NULL};

	return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | options, NULL);
}

/* Calls visit with each entry below (and with) `from`, and the same place below `to`. */
static bool walk(const char *from, const char *to, int options,
		 bool (*visit)(const FTSENT *, const char *))
{
	FTS *fts = open_walk(from, options);
	size_t length = strlen(from);
	bool ok = fts;

	for (FTSENT *entry; ok && (errno = 0, entry = fts_read(fts));) {
		char *other = xasprintf("%s%s", to, entry->fts_path + length);

		ok = visit(entry, other);
		free_quietly(other);
	}
	if (ok && errno)
		ok = false;
	int error = errno;

	if (fts)
		fts_close(fts);
	errno = error;
	return ok;
}

bool tree_copy(const char *from, const char *to)
{
	return walk(from, to, FTS_COMFOLLOW, copy_entry);
}

bool tree_same(const char *from, const char *copy)
{
	return walk(from, copy, FTS_COMFOLLOW, same_entry);
}

static bool remove_entry(const FTSENT *entry, const char *unused)
{
	switch (entry->fts_info) {
	case FTS_D:
		return true;
	case FTS_DP:
	case FTS_DNR:
		return !rmdir(entry->fts_accpath);
	default:
		return !unlink(entry->fts_accpath);
	}
}

bool tree_remove(const char *path)
{
	return walk(path, "", 0, remove_entry);
}

bool tree_rename(const char *from, const char *to)
{
	struct stat info;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/* a file system without RENAME_NOREPLACE */
	if (!lstat(to, &info)) {
		errno = EEXIST;
		return false;
	}
	return !rename(from, to);
}

bool tree_make_directories(const char *path)
{
	char *copy = xstrdup(path);
	bool ok = true;

	for (char *slash = copy + 1; ok && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ok = !mkdir(copy, 0755) || errno == EEXIST;
		*slash = '/';
	}
	ok = ok && (!mkdir(copy, 0755) || errno == EEXIST);
	free_quietly(copy);
	return ok;
}

uint64_t tree_bytes(const char *path)
{
	FTS *fts = open_walk(path, FTS_COMFOLLOW);
	uint64_t bytes = 0;

	for (FTSENT *entry; fts && (entry = fts_read(fts));)
		if (entry->fts_info == FTS_F)
			bytes += (uint64_t)entry->fts_statp->st_size;
	if (fts)
		fts_close(fts);
	return bytes;
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
