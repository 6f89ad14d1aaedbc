/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/file.h"

#include "collector/core/sys.h"

#include <sys/resource.h>
#include <unistd.h>

bool file_may_reach(uint64_t end)
{
	struct rlimit limit;

	if (sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit))
		return true;
	return limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

int file_append(int fd, const void *from, size_t size)
{
	long end = sys_call(SYS_lseek, fd, 0, SEEK_END, 0);

	if (end < 0)
		return (int)end;
	if (!file_may_reach((uint64_t)end + size))
		return -EFBIG;
	long written = sys_write(fd, from, size);

	if (written == (long)size)
		return 0;
	return written < 0 ? (int)written : -ENOSPC;
}
