/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one file of an experiment, ours or gprofng's; the others but the log stay as the
 * last input for them left them, so that files that do not fit together are read as well.
 */
#include "experiment/experiment.h"
#include "format/archive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char log_text[] = "<?xml version=\"1.0\"?>\n<experiment version=\"1.0\">\n";

#define COMMON_FIELDS                                                                              \
	"<field name=\"LWPID\" offset=\"8\" type=\"INT64\"/>\n"                                    \
	"<field name=\"CPUID\" offset=\"24\" type=\"INT32\"/>\n"                                   \
	"<field name=\"TSTAMP\" offset=\"32\" type=\"INT64\"/>\n"                                  \
	"<field name=\"FRINFO\" offset=\"40\" type=\"INT64\"/>\n"
#define PROFILE(name, kind)                                                                        \
	"<profile name=\"" name "\" ptimer=\"10007\">\n"                                           \
	"<profdata fname=\"" name "\"/>\n<profpckt kind=\"" kind "\">\n" COMMON_FIELDS
static const char gprofng_log_text[] =
	"<experiment version=\"12.4\">\n<event kind=\"run\" tstamp=\"1.0\"/>\n" PROFILE(
		"profile",
		"8") "<field name=\"MSTATE\" offset=\"48\" type=\"INT32\"/>\n"
		     "<field name=\"NTICK\" offset=\"52\" type=\"INT32\"/>\n" PROFILE(
			     "heaptrace",
			     "5") "<field name=\"HTYPE\" offset=\"48\" type=\"INT32\"/>\n"
				  "<field name=\"HSIZE\" offset=\"56\" type=\"UINT64\"/>\n"
				  "<field name=\"HVADDR\" offset=\"64\" type=\"UINT64\"/>\n"
				  "<field name=\"HOVADDR\" offset=\"72\" "
				  "type=\"UINT64\"/>\n" PROFILE(
					  "synctrace",
					  "2") "<field name=\"SRQST\" offset=\"48\" "
					       "type=\"INT64\"/>\n"
					       "<field name=\"SOBJ\" offset=\"56\" "
					       "type=\"INT64\"/>\n" PROFILE(
						       "iotrace",
						       "19") "<field name=\"IOTYPE\" offset=\"48\" "
							     "type=\"INT32\"/>\n"
							     "<field name=\"IOFD\" offset=\"52\" "
							     "type=\"INT32\"/>\n"
							     "<field name=\"IOFNAME\" "
							     "offset=\"80\" type=\"STRING\"/>\n";

static const struct {
	const char *name, *log;
} files[] = {
	{FORMAT_FILE_PROFILE, log_text},
	{FORMAT_FILE_STACKS, log_text},
	{FORMAT_FILE_OVERVIEW, log_text},
	{FORMAT_FILE_LOG, log_text},
	{FORMAT_FILE_MAP, log_text},
	{FORMAT_FILE_DYNTEXT, log_text},
	{"profile", gprofng_log_text},
	{"data.frameinfo", gprofng_log_text},
	{"heaptrace", gprofng_log_text},
	{"synctrace", gprofng_log_text},
	{"iotrace", gprofng_log_text},
	{FORMAT_FILE_OVERVIEW, gprofng_log_text},
	{FORMAT_FILE_MAP, gprofng_log_text},
	{"heaptrace", log_text},
	{"synctrace", log_text},
	{"iotrace", log_text},
	{"hwcounters", log_text},
	{FORMAT_FILE_MOUNTS, log_text},
	{"mpitrace", log_text},
	{"omptrace", log_text},
	{FORMAT_FILE_ARCHIVE_LOG, log_text},
};
enum { FILES = sizeof(files) / sizeof(*files) };
static char directory[] = "/tmp/helio-fuzz-XXXXXX";

static void write_file(const char *name, const void *data, size_t size)
{
	char path[sizeof(directory) + 32];
	int file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path); /* a file that is cut to nothing may be written to the disk on closing */
	file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	close(file);
}

static void clean_up(void)
{
	char path[sizeof(directory) + 32];

	for (size_t i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, files[i].name);
		unlink(path);
	}
	rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	static const char *log; /* that is there */
	struct experiment *experiment = NULL;
	struct diag_list errors = {0};
	struct diag_list warnings = {0};

	if (!begun) {
		if (!mkdtemp(directory))
			abort();
		atexit(clean_up);
		begun = true;
	}
	if (!size)
		return 0;

	size_t which = data[0] % FILES;

	if (log != files[which].log)
		write_file(FORMAT_FILE_LOG, files[which].log, strlen(files[which].log));
	log = strcmp(files[which].name, FORMAT_FILE_LOG) ? files[which].log : NULL;
	write_file(files[which].name, data + 1, size - 1);
	if (experiment_open(directory, &experiment, &errors, &warnings) == STATUS_OK) {
		experiment_check(experiment, &warnings);
		experiment_free(experiment);
	}
	diag_fini(&errors);
	diag_fini(&warnings);
	return 0;
}
