/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-libs: object base */
/* Any bytes as an archive in which sources are sought. */
#include "object/lines/archive.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(const char *path, const char *name)
{
	size_t size;

	free(archive_read(path, name, &size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	char path[64];

	if (file < 0)
		file = memfd_create("archive", 0);
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);

	char *name = archive_find(path, "pkg/A.java");

	if (name)
		read_file(path, name);
	free(name);
	read_file(path, "B.java");
	return 0;
}
