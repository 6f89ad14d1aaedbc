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
