/* SPDX-License-Identifier: Apache-2.0 */
/* Traced calls on names in the file system, and on directories. */
#include "collector/wrap/trace_io.h"

#include <dirent.h>

#define NAMED(path_) .path = path_

IO_PATH_CALL(access, (const char *path, int mode), (path, mode), NAMED(path))
IO_PATH_CALL(faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags),
	     NAMED(path))
IO_PATH_CALL(chmod, (const char *path, mode_t mode), (path, mode), NAMED(path))
IO_PATH_CALL(fchmodat, (int at, const char *path, mode_t mode, int flags), (at, path, mode, flags),
	     NAMED(path))
IO_PATH_CALL(chown, (const char *path, uid_t user, gid_t group), (path, user, group), NAMED(path))
IO_PATH_CALL(stat, (const char *path, void *to), (path, to), NAMED(path))
IO_PATH_CALL(stat64, (const char *path, void *to), (path, to), NAMED(path))
IO_PATH_CALL(lstat, (const char *path, void *to), (path, to), NAMED(path))
IO_PATH_CALL(lstat64, (const char *path, void *to), (path, to), NAMED(path))
/* With an empty path these are about the descriptor. */
IO_OTHER_CALL(fstatat, (int fd, const char *path, void *to, int flags), (fd, path, to, flags),
	      NAMED(path))
IO_OTHER_CALL(fstatat64, (int fd, const char *path, void *to, int flags), (fd, path, to, flags),
	      NAMED(path))
IO_OTHER_CALL(statx, (int fd, const char *path, int flags, unsigned mask, void *to),
	      (fd, path, flags, mask, to), NAMED(path))
/* The names under which glibc had them before 2.33: programs of then still call them. */
IO_PATH_CALL(__xstat, (int version, const char *path, void *to), (version, path, to), NAMED(path))
IO_PATH_CALL(__xstat64, (int version, const char *path, void *to), (version, path, to), NAMED(path))
IO_PATH_CALL(__lxstat, (int version, const char *path, void *to), (version, path, to), NAMED(path))
IO_PATH_CALL(__lxstat64, (int version, const char *path, void *to), (version, path, to),
	     NAMED(path))
IO_OTHER_CALL(__fxstatat, (int version, int fd, const char *path, void *to, int flags),
	      (version, fd, path, to, flags), NAMED(path))
IO_OTHER_CALL(__fxstatat64, (int version, int fd, const char *path, void *to, int flags),
	      (version, fd, path, to, flags), NAMED(path))
IO_PATH_CALL(__xmknod, (int version, const char *path, mode_t mode, void *device),
	     (version, path, mode, device), NAMED(path))
IO_PATH_CALL(truncate, (const char *path, off_t size), (path, size), NAMED(path), IO_AT(size))
IO_PATH_CALL(truncate64, (const char *path, off_t size), (path, size), NAMED(path), IO_AT(size))
IO_PATH_CALL(rename, (const char *path, const char *to), (path, to), NAMED(path))
IO_PATH_CALL(renameat, (int at, const char *path, int to_at, const char *to), (at, path, to_at, to),
	     NAMED(path))
IO_PATH_CALL(renameat2, (int at, const char *path, int to_at, const char *to, unsigned flags),
	     (at, path, to_at, to, flags), NAMED(path))
IO_PATH_CALL(link, (const char *path, const char *to), (path, to), NAMED(path))
IO_PATH_CALL(symlink, (const char *to, const char *path), (to, path), NAMED(path))
IO_PATH_CALL(linkat, (int at, const char *path, int to_at, const char *to, int flags),
	     (at, path, to_at, to, flags), NAMED(path))
IO_PATH_CALL(symlinkat, (const char *to, int at, const char *path), (to, at, path), NAMED(path))
IO_PATH_CALL(mkfifo, (const char *path, mode_t mode), (path, mode), NAMED(path))
IO_PATH_CALL(mkfifoat, (int at, const char *path, mode_t mode), (at, path, mode), NAMED(path))
IO_PATH_CALL(mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device),
	     NAMED(path))
IO_PATH_CALL(mknodat, (int at, const char *path, mode_t mode, dev_t device),
	     (at, path, mode, device), NAMED(path))
IO_PATH_CALL(lchown, (const char *path, uid_t user, gid_t group), (path, user, group), NAMED(path))
IO_PATH_CALL(fchownat, (int at, const char *path, uid_t user, gid_t group, int flags),
	     (at, path, user, group, flags), NAMED(path))
IO_OTHER_CALL(utimensat, (int fd, const char *path, const void *times, int flags),
	      (fd, path, times, flags), NAMED(path))
IO_PATH_CALL(utimes, (const char *path, const void *times), (path, times), NAMED(path))
IO_PATH_CALL(utime, (const char *path, const void *times), (path, times), NAMED(path))
IO_CALL(char *, mkdtemp, (char *path), (path), !value, .type = IO_OTHER, .fd = IO_NO_FD,
	NAMED(path))
IO_PATH_CALL(unlink, (const char *path), (path), NAMED(path))
IO_PATH_CALL(unlinkat, (int at, const char *path, int flags), (at, path, flags), NAMED(path))
IO_PATH_CALL(remove, (const char *path), (path), NAMED(path))
IO_PATH_CALL(mkdir, (const char *path, mode_t mode), (path, mode), NAMED(path))
IO_PATH_CALL(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), NAMED(path))
IO_PATH_CALL(rmdir, (const char *path), (path), NAMED(path))
IO_CALL(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size), value < 0,
	.type = IO_OTHER, .fd = IO_NO_FD, NAMED(path))
IO_CALL(ssize_t, readlinkat, (int at, const char *path, char *to, size_t size),
	(at, path, to, size), value < 0, .type = IO_OTHER, .fd = IO_NO_FD, NAMED(path))

/* ---- directories: bytes are not known of them ---- */

static int fd_of(DIR *directory)
{
	return directory ? dirfd(directory) : IO_NO_FD;
}

IO_CALL(DIR *, opendir, (const char *path), (path), !value, .type = IO_OPEN, .fd = fd_of(value),
	NAMED(path))
IO_CALL(struct dirent *, readdir, (DIR * directory), (directory), false, .type = IO_OTHER,
	.fd = fd_of(directory))
IO_CALL(struct dirent *, readdir64, (DIR * directory), (directory), false, .type = IO_OTHER,
	.fd = fd_of(directory))

IO_FUNCTION(int, closedir, (DIR * directory))
{
	uint64_t begin_ns = io_begin();
	int fd = begin_ns ? fd_of(directory) : IO_NO_FD;
	uint32_t name = io_release(fd);
	int value = IO_NEXT(int, closedir, (DIR *))(directory);

	if (begin_ns)
		io_end(begin_ns, io_closedir.next,
		       &(struct io_event){
			       .type = IO_CLOSE, .failed = value < 0, .fd = fd, .name = name});
	return value;
}
