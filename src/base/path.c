/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <string.h>

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

bool path_ends_with(const char *path, const char *ending)
{
	size_t length = strlen(path), wanted = strlen(ending);

	while (length && path[length - 1] == '/')
		length--;
	return length > wanted && path[length - wanted - 1] != '/' &&
	       !strncmp(path + length - wanted, ending, wanted);
}

bool path_is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}
