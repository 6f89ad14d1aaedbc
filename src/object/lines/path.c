/* SPDX-License-Identifier: Apache-2.0 */
#include "object/lines/path.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

char *path_join(const char *directory, const char *name)
{
	if (name[0] == '/' || !directory || !*directory)
		return xstrdup(name);
	return xasprintf("%s/%s", directory, name);
}

/* Whether the last part of what has been written is one that ".." takes back. */
static bool has_part(const char *path, const char *out)
{
	bool is_up = out - path >= 2 && !strncmp(out - 2, "..", 2) &&
		     (out - path == 2 || out[-3] == '/');

	return out > path && !is_up;
}

void path_normalize(char *path)
{
	char *out = path;
	bool is_absolute = path[0] == '/';

	for (const char *in = path; *in;) {
		size_t slashes = strspn(in, "/");
		size_t length = strcspn(in + slashes, "/");
		const char *part = in + slashes;

		in = part + length;
		if (!length || (length == 1 && part[0] == '.'))
			continue;
		if (length == 2 && !strncmp(part, "..", 2)) {
			if (has_part(path, out)) {
				while (out > path && *--out != '/')
					;
				continue;
			}
			if (is_absolute)
				continue;
		}
		if (is_absolute || out > path)
			*out++ = '/';
		memmove(out, part, length);
		out += length;
	}
	*out = '\0';
}
