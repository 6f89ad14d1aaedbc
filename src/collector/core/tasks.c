/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/tasks.h"

#include "collector/core/sys.h"
#include "collector/core/text.h"

struct directory_entry { /* getdents64(2) */
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

void tasks_for_each(int dir, void (*visit)(int tid, void *arg), void *arg)
{
	char room[4096] __attribute__((aligned(8)));
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

bool task_is_traced(int tid)
{
	static const char label[] = "TracerPid:\t";
	char path_room[64], room[2048];
	struct text path = TEXT_ON(path_room);

	text_puts(&path, "/proc/self/task/");
	text_decimal(&path, tid);
	text_puts(&path, "/status");
	int fd = sys_open(path_room, O_RDONLY, 0);
	long got = fd < 0 ? 0 : sys_read(fd, room, sizeof(room) - 1);

	if (fd >= 0)
		sys_close(fd);
	room[got > 0 ? got : 0] = '\0';
	for (const char *at = room; *at; at++)
		if (text_starts(at, label))
			return at[sizeof(label) - 1] != '0';
	return false;
}
