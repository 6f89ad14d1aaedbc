/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/tasks.h"

#include "collector/arch/sys.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/broker.h"

struct directory_entry { /* getdents64(2) */
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

int tasks_open(void)
{
	struct stat info;

	/* That an attached program moves its root is out of our sight. */
	if (!file_has_moved() && !collector.late)
		return file_open_proc("/proc/self/task", O_RDONLY | O_DIRECTORY);
	int result = file_stat_proc("/proc/self/task", &info);

	return result ? result : TASKS_BY_PATH;
}

bool tasks_are_open(int dir)
{
	return dir >= 0 || dir == TASKS_BY_PATH;
}

static void close_all_but(int one, int other)
{
	int low = one < other ? one : other, high = one < other ? other : one;

	if (low > 0)
		sys_call(SYS_close_range, 0, low - 1, 0, 0);
	if (high > low + 1)
		sys_call(SYS_close_range, low < 0 ? 0 : low + 1, high - 1, 0, 0);
	sys_call(SYS_close_range, high < 0 ? 0 : high + 1, ~0u, 0, 0);
}

int tasks_open_alone(void)
{
	int dir = tasks_open();

	close_all_but(dir < 0 ? -1 : dir, descriptor_number(&file_broker));
	/* A full table had no room. */
	return tasks_are_open(dir) ? dir : tasks_open();
}

static void visit_listed(int dir, void (*visit)(int tid, void *arg), void *arg)
{
	char room[256] __attribute__((aligned(8))); /* it may be a small stack; names are numbers */
	long got;

	sys_call(SYS_lseek, dir, 0, 0, 0);
	while ((got = sys_call(SYS_getdents64, dir, room, sizeof(room), 0)) > 0) {
		for (long at = 0; at < got;) {
			struct directory_entry *entry = (void *)(room + at);

			at += entry->size;
			if (entry->name[0] != '.')
				visit((int)text_number(entry->name, NULL), arg);
		}
	}
}

static bool visit_asked(void (*visit)(int tid, void *arg), void *arg)
{
	int32_t tids[64];
	uint32_t from = 0;
	long got;

	while ((got = file_list_tasks(from, tids, sizeof(tids) / sizeof(*tids))) > 0) {
		for (long i = 0; i < got; i++)
			visit(tids[i], arg);
		from += (uint32_t)got;
	}
	return from;
}

bool tasks_for_each(int dir, void (*visit)(int tid, void *arg), void *arg)
{
	int own =
		dir == TASKS_BY_PATH ? sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0) : dir;

	if (own < 0)
		return visit_asked(visit, arg);
	visit_listed(own, visit, arg);
	if (own != dir)
		sys_close(own);
	return true;
}

int tasks_process_number(void)
{
	char room[24] = "";
	long length = file_readlink_proc("/proc/self", room, sizeof(room) - 1);

	return length > 0 ? (int)text_number(room, NULL) : sys_getpid();
}

int tasks_own_number(void)
{
	static const char before[] = "/task/"; /* PID/task/TID */
	char room[48] = "";
	const char *at;

	if (file_readlink_proc("/proc/thread-self", room, sizeof(room) - 1) <= 0)
		return sys_gettid();
	text_number(room, &at);
	return text_starts(at, before) ? (int)text_number(at + sizeof(before) - 1, NULL)
				       : sys_gettid();
}

/*
 * A thread's files have two paths: below its process, and by its own number in /proc.  What was
 * looked up below the process is discarded when the thread ends, and if the process is reaped just
 * then, wait4 of its parent spins in the kernel until that is done: seconds on a busy machine.
 * So the other one is taken, where the numbers in /proc are ours.
 */
bool tasks_have_own_place(void)
{
	return collector.proc_pid == atomic_load(&collector.pid);
}

static void put_task_file(struct text *path, bool by_path, int tid, const char *name)
{
	if (tasks_have_own_place())
		text_puts(path, by_path ? "/proc/" : "../../");
	else if (by_path)
		text_puts(path, "/proc/self/task/");
	text_decimal(path, tid);
	text_putc(path, '/');
	text_puts(path, name);
}

int tasks_open_file(int dir, int tid, const char *name)
{
	char path_room[64];
	struct text path = TEXT_ON(path_room);
	int fd = -EACCES;

	if (dir != TASKS_BY_PATH) {
		put_task_file(&path, false, tid, name);
		fd = sys_openat(dir, path_room, O_RDONLY);
	}
	if (fd != -EACCES)
		return fd;
	path = (struct text)TEXT_ON(path_room);
	put_task_file(&path, true, tid, name);
	return file_open_proc(path_room, O_RDONLY);
}

static void read_and_close(int fd, char *text, size_t size)
{
	long got = fd < 0 ? 0 : sys_read(fd, text, size - 1);

	if (fd >= 0)
		sys_close(fd);
	text[got > 0 ? got : 0] = '\0';
}

void tasks_read(int tid, const char *file, char *text, size_t size)
{
	char path_room[64];
	struct text path = TEXT_ON(path_room);

	text_puts(&path, "/proc/self/task/");
	text_decimal(&path, tid);
	text_putc(&path, '/');
	text_puts(&path, file);
	read_and_close(file_open_proc(path_room, O_RDONLY), text, size);
}

/* "TID (NAME) STATE … STATUS"; the name may contain anything. The status is as wait has it. */
bool task_has_ended(int tid, int *status)
{
	enum { STATUS_SHIFT = 8 };
	char stat[1024];
	const char *state = NULL, *last = stat;

	tasks_read(tid, "stat", stat, sizeof(stat));
	for (const char *at = stat; *at; at++) {
		if (text_starts(at, ") "))
			state = at + 2;
		if (*at == ' ')
			last = at + 1;
	}
	if (!state || (*state != 'Z' && *state != 'X'))
		return false;
	*status = (int)(text_number(last, NULL) >> STATUS_SHIFT);
	return true;
}

bool task_is_traced(int tid)
{
	static const char label[] = "TracerPid:\t";
	char status[256]; /* it is the eighth line */

	/* Not below the process's tasks: two directories less for the kernel to make and to forget.
	 */
	read_and_close(tasks_open_file(TASKS_BY_PATH, tid, "status"), status, sizeof(status));
	for (const char *at = status; *at; at++)
		if (text_starts(at, label))
			return at[sizeof(label) - 1] != '0';
	return false;
}
