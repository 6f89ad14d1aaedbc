/* SPDX-License-Identifier: Apache-2.0 */
/* Traced calls on names in the file system, and on directories. */
#include "collector/wrap/own_proc.h"
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
/* As in own_proc.c, and traced. */
#define IO_LOOK_CALL(name, has, parameters, arguments, ...)                                        \
	IO_FUNCTION(int, name, parameters)                                                         \
	{                                                                                          \
		uint64_t begin_ns = io_begin();                                                    \
		int value;                                                                         \
                                                                                                   \
		OWN_PROC_LOOK(value, IO_NEXT(int, name, parameters) arguments, has, to);           \
		if (begin_ns)                                                                      \
			io_end(begin_ns, io_##name.next,                                           \
			       &(struct io_event){                                                 \
				       .failed = value < 0, .type = IO_OTHER, __VA_ARGS__});       \
		return value;                                                                      \
	}

IO_LOOK_CALL(stat, own_proc_has_threads, (const char *path, void *to), (path, to), .fd = IO_NO_FD,
	     NAMED(path))
IO_LOOK_CALL(stat64, own_proc_has_threads, (const char *path, void *to), (path, to), .fd = IO_NO_FD,
	     NAMED(path))
IO_LOOK_CALL(lstat, own_proc_has_threads, (const char *path, void *to), (path, to), .fd = IO_NO_FD,
	     NAMED(path))
IO_LOOK_CALL(lstat64, own_proc_has_threads, (const char *path, void *to), (path, to),
	     .fd = IO_NO_FD, NAMED(path))
/* With an empty path these are about the descriptor. */
IO_LOOK_CALL(fstatat, own_proc_has_threads, (int fd, const char *path, void *to, int flags),
	     (fd, path, to, flags), .fd = fd, NAMED(path))
IO_LOOK_CALL(fstatat64, own_proc_has_threads, (int fd, const char *path, void *to, int flags),
	     (fd, path, to, flags), .fd = fd, NAMED(path))
IO_LOOK_CALL(statx, own_proc_has_threads_x,
	     (int fd, const char *path, int flags, unsigned mask, void *to),
	     (fd, path, flags, mask, to), .fd = fd, NAMED(path))
IO_LOOK_CALL(fstat, own_proc_has_threads, (int fd, void *to), (fd, to), .fd = fd)
IO_LOOK_CALL(fstat64, own_proc_has_threads, (int fd, void *to), (fd, to), .fd = fd)
/* The names under which glibc had them before 2.33: programs of then still call them. */
IO_LOOK_CALL(__xstat, own_proc_has_threads, (int version, const char *path, void *to),
	     (version, path, to), .fd = IO_NO_FD, NAMED(path))
IO_LOOK_CALL(__xstat64, own_proc_has_threads, (int version, const char *path, void *to),
	     (version, path, to), .fd = IO_NO_FD, NAMED(path))
IO_LOOK_CALL(__lxstat, own_proc_has_threads, (int version, const char *path, void *to),
	     (version, path, to), .fd = IO_NO_FD, NAMED(path))
IO_LOOK_CALL(__lxstat64, own_proc_has_threads, (int version, const char *path, void *to),
	     (version, path, to), .fd = IO_NO_FD, NAMED(path))
IO_LOOK_CALL(__fxstatat, own_proc_has_threads,
	     (int version, int fd, const char *path, void *to, int flags),
	     (version, fd, path, to, flags), .fd = fd, NAMED(path))
IO_LOOK_CALL(__fxstatat64, own_proc_has_threads,
	     (int version, int fd, const char *path, void *to, int flags),
	     (version, fd, path, to, flags), .fd = fd, NAMED(path))
IO_LOOK_CALL(__fxstat, own_proc_has_threads, (int version, int fd, void *to), (version, fd, to),
	     .fd = fd)
IO_LOOK_CALL(__fxstat64, own_proc_has_threads, (int version, int fd, void *to), (version, fd, to),
	     .fd = fd)
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
#define IO_READ_DIRECTORY(name)                                                                    \
	IO_FUNCTION(struct dirent *, name, (DIR * directory))                                      \
	{                                                                                          \
		uint64_t begin_ns = io_begin();                                                    \
		struct dirent *value;                                                              \
                                                                                                   \
		do                                                                                 \
			value = IO_NEXT(struct dirent *, name, (DIR *))(directory);                \
		while (value && own_proc_hides(dirfd(directory), value->d_name));                  \
		if (begin_ns)                                                                      \
			io_end(begin_ns, io_##name.next,                                           \
			       &(struct io_event){.type = IO_OTHER, .fd = fd_of(directory)});      \
		return value;                                                                      \
	}

IO_READ_DIRECTORY(readdir)
IO_READ_DIRECTORY(readdir64)

IO_FUNCTION(ssize_t, getdents64, (int fd, void *to, size_t size))
{
	uint64_t begin_ns = io_begin();
	ssize_t value =
		own_proc_entries(fd, to, size, IO_NEXT(ssize_t, getdents64, (int, void *, size_t)));

	if (begin_ns)
		io_end(begin_ns, io_getdents64.next,
		       &(struct io_event){.type = IO_READ,
					  .failed = value < 0,
					  .fd = fd,
					  .bytes = (uint64_t)value});
	return value;
}

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
