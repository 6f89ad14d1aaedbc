/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/file.h"

#include "base/folder.h"

#include <errno.h>

enum status file_open_regular(const char *path, int *fd, struct stat *info)
{
	*fd = folder_open_named(path, info);
	if (*fd >= 0)
		return STATUS_OK;
	return errno == EINVAL ? STATUS_INVALID : STATUS_IO;
}
