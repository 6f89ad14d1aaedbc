/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one file of an experiment; the others stay as the last input
 * for them left them, so that files that do not fit together are read as well.
 */
#include "experiment/experiment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {FORMAT_FILE_PROFILE, FORMAT_FILE_STACKS, FORMAT_FILE_OVERVIEW,
				    FORMAT_FILE_LOG,	 FORMAT_FILE_MAP,    FORMAT_FILE_DYNTEXT};
static const char log_text[] = "<?xml version=\"1.0\"?>\n<experiment version=\"1.0\">\n";
static char directory[] = "/tmp/helio-fuzz-XXXXXX";

static void write_file(const char *name, const void *data, size_t size)
{
	char path[sizeof(directory) + 32];
	int file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	close(file);
}

static void clean_up(void)
{
	char path[sizeof(directory) + 32];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	struct experiment *experiment = NULL;
	struct diag_list errors = {0};
	struct diag_list warnings = {0};

	if (!begun) {
		if (!mkdtemp(directory))
			abort();
		atexit(clean_up);
		write_file(FORMAT_FILE_LOG, log_text, sizeof(log_text) - 1);
		begun = true;
	}
	if (!size)
		return 0;
	write_file(names[data[0] % (sizeof(names) / sizeof(*names))], data + 1, size - 1);
	if (experiment_open(directory, &experiment, &errors, &warnings) == STATUS_OK) {
		experiment_check(experiment, &warnings);
		experiment_free(experiment);
	}
	diag_fini(&errors);
	diag_fini(&warnings);
	return 0;
}
