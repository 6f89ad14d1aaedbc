/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program finds of us in its own /proc: our threads in a listing of task and in its
 * number of links, our descriptors in a listing of fd.  Programs that are about to enter a
 * sandbox look there whether they have one thread, and give up if not (Chromium, Firefox); others
 * close all that they find open, or send each thread a signal and wait for its answer.
 *
 * The number is right because our threads end before it is asked for again; entries of
 * listings are left out.  The functions that are also traced are weak here: the library for
 * tracing has its own, which do the same.  What remains: "Threads" in status and stat, and what
 * is read by a system call instruction of the program's own.
 */
#include "collector/wrap/own_proc.h"

#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/rawthread.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { LINKS_ALONE = 3 }; /* of task with one thread: ".", ".." and that */

static bool is_own(const char *path, dev_t device, ino_t inode)
{
	struct stat own;

	return !file_stat_proc(path, &own) && own.st_dev == device && own.st_ino == inode;
}

/* A directory in /proc has no size and no device. */
static bool may_be_tasks(mode_t mode, uint64_t links, uint64_t size, unsigned device_major)
{
	return S_ISDIR(mode) && links > LINKS_ALONE && !size && !device_major &&
	       atomic_load_explicit(&collector.recording, memory_order_relaxed) &&
	       rawthread_any() && collector_is_ours();
}

bool own_proc_has_threads(const void *stat)
{
	const struct stat *found = stat;

	return may_be_tasks(found->st_mode, found->st_nlink, (uint64_t)found->st_size,
			    major(found->st_dev)) &&
	       is_own("/proc/self/task", found->st_dev, found->st_ino);
}

bool own_proc_has_threads_x(const void *statx)
{
	const struct statx *found = statx;

	return may_be_tasks(found->stx_mode, found->stx_nlink, found->stx_size,
			    found->stx_dev_major) &&
	       is_own("/proc/self/task", makedev(found->stx_dev_major, found->stx_dev_minor),
		      found->stx_ino);
}

/* The number that a name is, if it is one of ours somewhere; or 0. */
static int number_of_ours(const char *name)
{
	const char *end;

	if (*name < '1' || *name > '9')
		return 0;
	int number = (int)text_number(name, &end);

	return !*end && (rawthread_is(number) || descriptor_is_hidden(number)) &&
			       collector_is_ours()
		       ? number
		       : 0;
}

bool own_proc_hides(int directory, const char *name)
{
	int number = number_of_ours(name);
	struct stat listed;

	if (!number || sys_call(SYS_fstat, directory, &listed, 0, 0))
		return false;
	if (rawthread_is(number) && is_own("/proc/self/task", listed.st_dev, listed.st_ino))
		return true;
	return descriptor_is_hidden(number) &&
	       is_own("/proc/self/fd", listed.st_dev, listed.st_ino);
}

/* ---- what is also traced ---- */

#define WEAK_LOOK(name, has, parameters, arguments)                                                \
	COLLECTOR_EXPORT int wrapped_##name parameters __asm__(#name) __attribute__((weak));       \
	int wrapped_##name parameters                                                              \
	{                                                                                          \
		int value;                                                                         \
                                                                                                   \
		OWN_PROC_LOOK(value, NEXT(name) arguments, has, to);                               \
		return value;                                                                      \
	}

#define LINKS own_proc_has_threads

WEAK_LOOK(stat, LINKS, (const char *path, void *to), (path, to))
WEAK_LOOK(stat64, LINKS, (const char *path, void *to), (path, to))
WEAK_LOOK(lstat, LINKS, (const char *path, void *to), (path, to))
WEAK_LOOK(lstat64, LINKS, (const char *path, void *to), (path, to))
WEAK_LOOK(fstatat, LINKS, (int fd, const char *path, void *to, int flags), (fd, path, to, flags))
WEAK_LOOK(fstatat64, LINKS, (int fd, const char *path, void *to, int flags), (fd, path, to, flags))
WEAK_LOOK(statx, own_proc_has_threads_x,
	  (int fd, const char *path, int flags, unsigned mask, void *to),
	  (fd, path, flags, mask, to))
/* The names under which glibc had them before 2.33: programs of then still call them. */
WEAK_LOOK(__xstat, LINKS, (int version, const char *path, void *to), (version, path, to))
WEAK_LOOK(__xstat64, LINKS, (int version, const char *path, void *to), (version, path, to))
WEAK_LOOK(__lxstat, LINKS, (int version, const char *path, void *to), (version, path, to))
WEAK_LOOK(__lxstat64, LINKS, (int version, const char *path, void *to), (version, path, to))
WEAK_LOOK(__fxstatat, LINKS, (int version, int fd, const char *path, void *to, int flags),
	  (version, fd, path, to, flags))
WEAK_LOOK(__fxstatat64, LINKS, (int version, int fd, const char *path, void *to, int flags),
	  (version, fd, path, to, flags))

WEAK_LOOK(fstat, LINKS, (int fd, void *to), (fd, to))
WEAK_LOOK(fstat64, LINKS, (int fd, void *to), (fd, to))
WEAK_LOOK(__fxstat, LINKS, (int version, int fd, void *to), (version, fd, to))
WEAK_LOOK(__fxstat64, LINKS, (int version, int fd, void *to), (version, fd, to))

#define WEAK_READ(name)                                                                            \
	COLLECTOR_EXPORT struct dirent *wrapped_##name(DIR *directory) __asm__(#name)              \
		__attribute__((weak));                                                             \
	struct dirent *wrapped_##name(DIR *directory)                                              \
	{                                                                                          \
		struct dirent *entry;                                                              \
                                                                                                   \
		do                                                                                 \
			entry = NEXT(name)(directory);                                             \
		while (entry && own_proc_hides(dirfd(directory), entry->d_name));                  \
		return entry;                                                                      \
	}

WEAK_READ(readdir)
WEAK_READ(readdir64)

/* ---- listings that the C library or the program reads itself ---- */

/* The C library reads the directory out of our sight: it is given a filter of ours. */
static int scan_filter_of_ours(const struct dirent *entry)
{
	const struct thread *thread = thread_current_if_known();
	int number = number_of_ours(entry->d_name);

	if (!thread)
		return 1;
	if (number &&
	    (thread->listing.of_tasks ? rawthread_is(number) : descriptor_is_hidden(number)))
		return 0;
	return thread->listing.filter ? thread->listing.filter(entry) : 1;
}

static scandir_filter *filter_for(const char *path, scandir_filter *filter)
{
	struct thread *thread = thread_current_if_known();
	struct stat listed;

	if (!thread || !atomic_load(&collector.recording) || !collector_is_ours() ||
	    sys_call(SYS_newfstatat, AT_FDCWD, path, &listed, 0))
		return filter;
	thread->listing.of_tasks = is_own("/proc/self/task", listed.st_dev, listed.st_ino);
	if (!thread->listing.of_tasks && !is_own("/proc/self/fd", listed.st_dev, listed.st_ino))
		return filter;
	thread->listing.filter = filter;
	return scan_filter_of_ours;
}

#define SCAN(name)                                                                                 \
	COLLECTOR_EXPORT int wrapped_##name(const char *path, struct dirent ***entries,            \
					    scandir_filter *filter,                                \
					    scandir_order *order) __asm__(#name);                  \
	int wrapped_##name(const char *path, struct dirent ***entries, scandir_filter *filter,     \
			   scandir_order *order)                                                   \
	{                                                                                          \
		struct thread *thread = thread_current_if_known();                                 \
		/* This may be called by the filter of another one. */                             \
		struct listing before = thread ? thread->listing : (struct listing){0};            \
		int count = NEXT(name)(path, entries, filter_for(path, filter), order);            \
                                                                                                   \
		if (thread)                                                                        \
			thread->listing = before;                                                  \
		return count;                                                                      \
	}

SCAN(scandir)
SCAN(scandir64)

/* Entries are multiples of 8 bytes.  Not by memmove, which this library does without. */
static void move_down(char *to, const char *from, long size)
{
	for (long i = 0; i < size; i += 8) {
		uint64_t word;

		memcpy(&word, from + i, sizeof(word));
		memcpy(to + i, &word, sizeof(word));
		__asm__ volatile("" ::: "memory");
	}
}

/* Takes ours out of what getdents64(2) has put into the buffer. */
static long squeeze(int fd, char *buffer, long got)
{
	long kept = 0;

	for (long at = 0; at < got;) {
		const struct dirent *entry = (const void *)(buffer + at);
		unsigned short size = entry->d_reclen;

		if (!own_proc_hides(fd, entry->d_name)) {
			move_down(buffer + kept, buffer + at, size);
			kept += size;
		}
		at += size;
	}
	return kept;
}

ssize_t own_proc_entries(int fd, void *buffer, size_t size, getdents_function *next)
{
	long got, kept;

	do {
		got = next(fd, buffer, size);
		kept = got > 0 ? squeeze(fd, buffer, got) : got;
	} while (got > 0 && !kept); /* nothing left is not the end */
	return kept;
}

COLLECTOR_EXPORT ssize_t wrapped_getdents64(int fd, void *to, size_t size) __asm__("getdents64")
	__attribute__((weak));

ssize_t wrapped_getdents64(int fd, void *to, size_t size)
{
	return own_proc_entries(fd, to, size, NEXT(getdents64));
}
