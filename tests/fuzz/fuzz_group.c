/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a group of experiments, NAME.erg: which paths it names, and which of them are one.
 */
#include "experiment/group.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/helio-fuzz-XXXXXX";

static void clean_up(void)
{
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	struct experiment_paths paths = {0};
	struct diag_list diags = {0};

	if (file < 0) {
		file = mkstemp(path);
		if (file < 0)
			abort();
		atexit(clean_up);
	}
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	bool is_group = experiment_is_group(path);

	experiment_paths_add(&paths, path);
	/* what is no group is a path itself */
	if (!is_group && (paths.count != 1 || strcmp(paths.items[0], path) != 0))
		abort();
	if (paths.count < 64)
		experiment_paths_drop_twins(&paths, &diags);
	experiment_paths_fini(&paths);
	diag_fini(&diags);
	return 0;
}
