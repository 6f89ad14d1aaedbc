/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a compiler's optimisation record: the first one says which compiler's. */
#include "object/lines/remarks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/helio-fuzz-XXXXXX";
static const char *const names[] = {"unit.c.opt-record.json.gz", "unit.opt.yaml"};

static void make_path(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", directory, name);
}

static void clean_up(void)
{
	char path[64];

	for (int i = 0; i < 2; i++) {
		make_path(path, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct remarks remarks = {0};
	static bool begun;
	char path[64];

	if (!begun && !mkdtemp(directory))
		abort();
	if (!begun)
		atexit(clean_up);
	begun = true;
	if (!size)
		return 0;
	make_path(path, names[data[0] & 1]);

	int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)size - 1)
		abort();
	close(file);
	remarks_read(&remarks, directory, "unit.c", NULL);
	remarks_sort(&remarks);
	remarks_fini(&remarks);
	unlink(path);
	return 0;
}
