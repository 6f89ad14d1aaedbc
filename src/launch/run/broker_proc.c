/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths are compared with what the collector asks for, and with nothing else: none of them leads
 * through a link, and no directory is given away.
 */
#include "launch/run/broker_proc.h"

#include "base/array.h"
#include "format/broker.h"
#include "launch/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_ROOM = 64, TASKS_MOST = 4096, AUXV_MOST = 64 };

static const char *const of_process[] = {"io", "maps", "mountinfo", "stat", "statm", "status"};
/* For `wchan` the kernel asks who reads it for rights, not who opens it. */
static const char *const of_thread[] = {"sched", "schedstat", "stat", "status", "syscall", "wchan"};

static bool is_listed(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A number that begins at *at, and goes behind it; 0: there is none. */
static int read_number(const char **at)
{
	char *end;
	long number = **at >= '1' && **at <= '9' ? strtol(*at, &end, 10) : 0;

	if (number <= 0 || number > INT32_MAX)
		return 0;
	*at = end;
	return (int)number;
}

/* Goes behind `prefix`; false: it is not there. */
static bool skip(const char **at, const char *prefix)
{
	size_t length = strlen(prefix);
	bool found = !strncmp(*at, prefix, length);

	*at += found ? length : 0;
	return found;
}

/* ---- threads ---- */

/* The last of "NSpid:\t4711\t17": what a thread is called in its own namespace. */
static int innermost_number(const char *text)
{
	const char *field = proc_field(text, "NSpid");
	int number = 0;

	while (field && *field >= '0' && *field <= '9') {
		char *end;

		number = (int)strtol(field, &end, 10);
		field = end + strspn(end, "\t ");
	}
	return number;
}

/*
 * By the thread's own number in /proc, not below its process: why is told in the collector's
 * clock_look.c.  inner: the number is of its own namespace; else the one here is as good.
 */
static bool is_task(pid_t pid, int task, int number, bool inner)
{
	char text[PROC_TEXT];

	return proc_read_text(task, 0, "status", text) &&
	       proc_number(text, "Tgid", 10) == (uint64_t)pid &&
	       ((!inner && task == number) || innermost_number(text) == number);
}

/* Whether its threads may have other numbers in its own namespace than here. */
static bool is_in_namespace(pid_t pid)
{
	char text[PROC_TEXT];
	const char *field = proc_read_text(pid, 0, "status", text) ? proc_field(text, "NSpid") : "";

	field += field ? strspn(field, "0123456789") : 0;
	return field && *field == '\t';
}

/* What a thread is called here; 0: there is no such one. */
static int find_task(pid_t pid, int number, bool inner)
{
	int32_t tasks[TASKS_MOST];

	if (!number || is_task(pid, number, number, inner))
		return number;
	if (!is_in_namespace(pid))
		return 0;
	ssize_t count = broker_proc_tasks(pid, 0, tasks, TASKS_MOST);

	for (ssize_t i = 0; i < count; i++)
		if (is_task(pid, tasks[i], number, true))
			return tasks[i];
	return 0;
}

ssize_t broker_proc_tasks(pid_t pid, uint32_t from, int32_t *to, size_t count)
{
	char path[NAME_ROOM];
	size_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *directory = opendir(path);

	if (!directory)
		return -errno;
	for (struct dirent *entry; found < count && (entry = readdir(directory));) {
		const char *name = entry->d_name;
		int number = read_number(&name);

		if (number && from)
			from--;
		else if (number)
			to[found++] = number;
	}
	closedir(directory);
	return (ssize_t)found;
}

bool broker_proc_is_of(pid_t pid, uid_t user)
{
	char text[PROC_TEXT];
	const char *field = proc_read_text(pid, 0, "status", text) ? proc_field(text, "Uid") : NULL;
	char *end;

	if (!field)
		return false;
	strtoul(field, &end, 10); /* the real one; then the effective one */
	return strtoul(end, NULL, 10) == user;
}

int broker_proc_umask(pid_t pid)
{
	char text[PROC_TEXT];

	if (!proc_read_text(pid, 0, "status", text) || !proc_field(text, "Umask"))
		return -1;
	return (int)proc_number(text, "Umask", 8) & 0777;
}

/* ---- files ---- */

static int open_regular(const char *path)
{
	struct stat info;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &info) && S_ISREG(info.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

bool broker_proc_is_image(pid_t pid, uid_t user, uint32_t image)
{
	ElfW(auxv_t) values[AUXV_MOST];
	char path[NAME_ROOM];
	struct stat info;
	bool is = false;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	int fd = open_regular(path);

	if (fd < 0)
		return false;
	if (!image)
		is = !fstat(fd, &info) && info.st_uid == user;
	ssize_t size = image ? read(fd, values, sizeof(values)) : 0;

	for (size_t i = 0; i < (size_t)(size > 0 ? size : 0) / sizeof(values[0]); i++)
		is = is || (values[i].a_type == AT_SYSINFO_EHDR &&
			    BROKER_IMAGE(values[i].a_un.a_val) == image);
	close(fd);
	return is;
}

/* A thread's number may be another process's when it is used: it is asked for afterwards. */
static int open_of_thread(pid_t pid, int task, const char *name, bool below)
{
	char path[NAME_ROOM];

	if (!task || !is_listed(name, of_thread, COUNT(of_thread)))
		return -EPERM;
	if (below)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, task, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", task, name);
	int fd = open_regular(path);

	if (fd < 0 || below || is_task(pid, task, task, false))
		return fd;
	close(fd);
	return -ESRCH;
}

int broker_proc_open(pid_t pid, int thread, const char *path)
{
	char name[NAME_ROOM];
	const char *at = path;
	bool below = skip(&at, "self/task/");

	if (skip(&at, "thread-self/"))
		return open_of_thread(pid, find_task(pid, thread, true), at, false);
	if (below || read_number(&(const char *){at})) {
		int number = read_number(&at);

		return skip(&at, "/")
			       ? open_of_thread(pid, find_task(pid, number, false), at, below)
			       : -EPERM;
	}
	if (!skip(&at, "self/") || !is_listed(at, of_process, COUNT(of_process)))
		return -EPERM;
	snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, at);
	return open_regular(name);
}

/* ---- links and directories ---- */

/* "self/fd/5" */
static bool is_descriptor(const char *path)
{
	if (!skip(&path, "self/fd/"))
		return false;
	return !strcmp(path, "0") || (read_number(&path) && !*path);
}

ssize_t broker_proc_link(pid_t pid, int thread, const char *path, char *to, size_t size)
{
	char place[NAME_ROOM];

	if (!strcmp(path, "self"))
		return snprintf(to, size, "%d", (int)pid);
	if (!strcmp(path, "thread-self")) {
		int task = find_task(pid, thread, true);

		return task ? snprintf(to, size, "%d/task/%d", (int)pid, task) : -ESRCH;
	}
	if (!is_descriptor(path) && strcmp(path, "self/ns/mnt"))
		return -EPERM;
	snprintf(place, sizeof(place), "/proc/%d/%s", (int)pid, path + strlen("self/"));
	ssize_t length = readlink(place, to, size);

	return length < 0 ? -errno : length;
}

int broker_proc_stat(pid_t pid, const char *path, struct stat *info)
{
	char place[NAME_ROOM];

	if (strcmp(path, "self/task") && strcmp(path, "self/fd"))
		return -EPERM;
	snprintf(place, sizeof(place), "/proc/%d/%s", (int)pid, path + strlen("self/"));
	return stat(place, info) ? -errno : 0;
}
