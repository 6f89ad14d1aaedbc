/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_map.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes: a sparse file costs its author nothing, and its copy all that it seems to have. */
static const off_t copy_limit = (off_t)4 << 30;
static atomic_bool was_cut;

/* Puts a page of zeros where a page of the file is gone.  Any other fault ends the process. */
static void replace_lost_page(int signal_number, siginfo_t *info, void *context)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t place = (uintptr_t)info->si_addr & ~(uintptr_t)(page - 1);
	int saved = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)place, page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(signal_number, SIG_DFL); /* the fault comes again */
	atomic_store_explicit(&was_cut, true, memory_order_relaxed);
	errno = saved;
}

void file_map_guard(void)
{
	struct sigaction action = {.sa_sigaction = replace_lost_page,
				   .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(SIGBUS, &action, NULL);
}

bool file_map_was_cut(void)
{
	return atomic_load_explicit(&was_cut, memory_order_relaxed);
}

bool file_is_trusted(const struct stat *info)
{
	return (!info->st_uid || info->st_uid == geteuid()) &&
	       !(info->st_mode & (S_IWGRP | S_IWOTH));
}

/* A group for each user, of the same number: with it files are often made that the group can write.
 */
static bool is_private(gid_t group)
{
	struct group entry, *found = NULL;
	char texts[4096]; /* a group that needs more has members */

	return group == geteuid() && !getgrgid_r(group, &entry, texts, sizeof(texts), &found) &&
	       found && !entry.gr_mem[0];
}

bool file_keeps_its_names(const struct stat *info)
{
	mode_t others = info->st_mode & S_ISVTX ? 0 : info->st_mode & (S_IWGRP | S_IWOTH);

	return (!info->st_uid || info->st_uid == geteuid()) && !(others & S_IWOTH) &&
	       (!(others & S_IWGRP) || is_private(info->st_gid));
}

bool file_gives_commands(int fd)
{
	struct stat info;

	if (fd < 0 || fstat(fd, &info) || (info.st_uid && info.st_uid != geteuid()))
		return false;
	if (S_ISDIR(info.st_mode))
		return !(info.st_mode & S_IWOTH) || info.st_mode & S_ISVTX;
	return !(info.st_mode & S_IWOTH) && (!(info.st_mode & S_IWGRP) || is_private(info.st_gid));
}

/* Reads at most map->size bytes into memory of its own. */
static bool read_copy(int fd, struct file_map *map)
{
	size_t done = 0;
	ssize_t got = 1;

	while (done < map->size && got > 0) {
		got = pread(fd, map->data + done, map->size - done, (off_t)done);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			done += (size_t)got;
	}
	return got >= 0;
}

static struct file_map map_file(int fd, const struct stat *info, bool copy)
{
	struct file_map map = {.size = (size_t)info->st_size, .is_copy = copy};
	void *data;

	if (!map.size)
		return (struct file_map){0};
	if (map.is_copy && info->st_size > copy_limit) {
		errno = EFBIG;
		return (struct file_map){0};
	}
	file_map_guard();
	data = map.is_copy ? mmap(NULL, map.size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
			   : mmap(NULL, map.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return (struct file_map){0};
	map.data = data;
	if (map.is_copy && !read_copy(fd, &map)) {
		int saved = errno;

		munmap(data, map.size);
		errno = saved;
		return (struct file_map){0};
	}
	return map;
}

struct file_map file_map(int fd, const struct stat *info)
{
	return map_file(fd, info, !file_is_trusted(info));
}

struct file_map file_map_copy(int fd, const struct stat *info)
{
	static _Atomic off_t copied;
	bool fits = info->st_size <= copy_limit &&
		    atomic_fetch_add(&copied, info->st_size) <= copy_limit - info->st_size;

	return map_file(fd, info, fits || !file_is_trusted(info));
}
