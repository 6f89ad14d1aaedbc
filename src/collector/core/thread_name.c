/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/thread_name.h"

#include "collector/arch/sys.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/writer.h"
#include "collector/storage/recording.h"

#include <stddef.h>
#include <sys/prctl.h>

enum { NAME_ROOM = 17 }; /* the kernel's have 15 bytes; in /proc a line feed follows */

static char first_name[NAME_ROOM];

static void read_own(char name[NAME_ROOM])
{
	*name = '\0';
	sys_prctl(PR_GET_NAME, (unsigned long)name);
}

static void read_of(int tid, char name[NAME_ROOM])
{
	int fd = tasks_open_file(TASKS_BY_PATH, tid, "comm");
	long got = fd < 0 ? 0 : sys_read(fd, name, NAME_ROOM - 1);

	name[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		sys_close(fd);
}

static size_t length_of(const char *name, size_t room)
{
	size_t length = 0;

	while (length < room && name[length] && name[length] != '\n')
		length++;
	return length;
}

static bool is_first_name(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (name[i] != first_name[i])
			return false;
	return !first_name[length];
}

/* The caller holds the thread's lock. */
static void put(struct thread *thread, const char *name)
{
	size_t length = length_of(name, NAME_ROOM);

	if (!thread->is_named && length && length < NAME_ROOM && !is_first_name(name, length))
		writer_thread_name(thread, FORMAT_TAG_NAME, name, length);
}

/* A character of several bytes is not cut. */
static size_t cut(const char *name, size_t length)
{
	if (length < FORMAT_NAME_ROOM)
		return length;
	length = FORMAT_NAME_ROOM - 1;
	while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static void put_own(enum format_tag tag, const char *name)
{
	struct thread *thread = thread_current();

	if (!thread || !atomic_load(&collector.recording))
		return;
	thread_lock(thread);
	thread->is_named |= tag == FORMAT_TAG_NAME;
	writer_thread_name(thread, tag, name, cut(name, length_of(name, FORMAT_NAME_ROOM)));
	thread_unlock(thread);
}

void thread_name_is(const char *name)
{
	put_own(FORMAT_TAG_NAME, name);
}

void thread_name_group(const char *group, const char *parent)
{
	put_own(FORMAT_TAG_GROUP, group);
	put_own(FORMAT_TAG_PARENT, parent);
}

void thread_name_begin(void)
{
	read_own(first_name);
}

void thread_name_end(struct thread *thread)
{
	char name[NAME_ROOM];

	if (!atomic_load(&collector.recording)) /* a filter may forbid the question by now */
		return;
	read_own(name);
	put(thread, name);
}

/* Another thread may end meanwhile, and then has written its name itself. */
static void put_other(struct thread *thread, void *unused)
{
	char name[NAME_ROOM];
	int tid = atomic_load(&thread->tid);

	(void)unused;
	if (thread == thread_current_if_known())
		read_own(name);
	else
		read_of(thread->proc_tid, name);
	thread_lock(thread);
	if (atomic_load(&thread->tid) == tid)
		put(thread, name);
	thread_unlock(thread);
}

void thread_name_all(void)
{
	thread_for_each(put_other, NULL);
}
