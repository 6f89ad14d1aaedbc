/* SPDX-License-Identifier: Apache-2.0 */
#include "object/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum status file_open_regular(const char *path, int *fd, struct stat *info)
{
	enum status status = STATUS_IO;

	/* Without O_NONBLOCK a pipe of that name would stop us for good. */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return STATUS_IO;
	if (!fstat(*fd, info))
		status = S_ISREG(info->st_mode) ? STATUS_OK : STATUS_INVALID;
	if (status) {
		int saved = errno;

		close(*fd);
		errno = saved;
	}
	return status;
}
