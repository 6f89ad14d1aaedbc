/* SPDX-License-Identifier: Apache-2.0 */
/* A scandir of /proc/self/task whose filter makes one of /proc/self/fd: each has its own filter. */
#include "target.h"

#include <dirent.h>

static int calls, inner_calls;

static int inner(const struct dirent *entry)
{
	inner_calls++;
	return entry->d_name[0] == '.';
}

static int outer(const struct dirent *entry)
{
	struct dirent **list;
	int count = scandir("/proc/self/fd", &list, inner, NULL);

	calls++;
	printf("inner kept %d\n", count);
	return entry->d_name[0] != '.';
}

int main(void)
{
	struct dirent **list;
	int count = scandir("/proc/self/task", &list, outer, NULL);

	printf("outer calls %d kept %d, inner called %d\n", calls, count, inner_calls > 0);
	return 0;
}
