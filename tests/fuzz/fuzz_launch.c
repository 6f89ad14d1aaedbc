/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `helio collect` reads of a program at its end: its data files, to be packed, the files in
 * which compilers at run time tell of their functions, and logs, the founder's and a rank's.  The
 * first byte says which one it is.
 */
#include "base/folder.h"
#include "launch/run/family.h"
#include "launch/run/jit.h"
#include "launch/run/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROFILE, STACKS, TRACE, PERF_MAP, DUMP, LOG, KINDS };

static char directory[] = "/tmp/helio-fuzz-XXXXXX";
static char outside[64]; /* the map or dump of this process */

static void write_file(const char *path, const void *data, size_t size)
{
	unlink(path);
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	close(file);
}

static void write_member(const char *name, const void *data, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	write_file(path, data, size);
}

static void clean_up(void)
{
	int parent = folder_open("/tmp", 0);

	folder_remove(parent, directory + strlen("/tmp/"));
	close(parent);
	if (*outside)
		unlink(outside);
}

static void begin(void)
{
	char rank[64];
	static bool begun;

	if (begun)
		return;
	if (!mkdtemp(directory))
		abort();
	atexit(clean_up);
	snprintf(rank, sizeof(rank), "%s/_r1.er", directory);
	if (mkdir(rank, 0700))
		abort();
	setenv("HOME", directory, 1);
	unsetenv("JITDUMPDIR");
	begun = true;
}

static void read_outside(const char *before, const char *behind, const uint8_t *data, size_t size)
{
	static const char map[] = "<?xml version=\"1.0\"?>\n<maps>\n</maps>\n";
	struct diag_list diags = {0};
	struct family family;

	snprintf(outside, sizeof(outside), "%s%d%s", before, (int)getpid(), behind);
	write_file(outside, data, size);
	write_member(FORMAT_FILE_MAP, map, strlen(map));
	write_member(FORMAT_FILE_DYNTEXT, "", 0);
	family_open(&family, folder_open(directory, 0), getpid(), 0);
	family.members.items[0].pid = getpid();
	char *log = family_read_log(&family, &family.members.items[0]);

	jit_add_functions(&family, &family.members.items[0], log, &diags);
	free(log);
	family_close(&family);
	diag_fini(&diags);
	unlink(outside);
}

static void read_log(const uint8_t *data, size_t size)
{
	struct family family;

	write_member(FORMAT_FILE_LOG, data, size);
	write_member("_r1.er/" FORMAT_FILE_LOG, data, size);
	family_open(&family, folder_open(directory, 0), 0, 0);
	family_scan(&family);
	for (size_t i = 0; i < family.members.count; i++)
		free(family_read_log(&family, &family.members.items[i]));
	family_close(&family);
}

static void pack(const char *name, const uint8_t *data, size_t size,
		 enum pack_result (*function)(int, const char *, uint64_t *, uint64_t *))
{
	uint64_t before = 0, after = 0;
	int folder = folder_open(directory, 0);

	write_member(name, data, size);
	/* what was packed can be packed again, and is no larger then */
	if (function(folder, name, &before, &after) == PACK_DONE &&
	    (function(folder, name, &before, &after) != PACK_DONE))
		abort();
	close(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	begin();
	if (!size)
		return 0;
	switch (data[0] % KINDS) {
	case PROFILE:
		pack(FORMAT_FILE_PROFILE, data + 1, size - 1, pack_blocks);
		break;
	case STACKS:
		pack(FORMAT_FILE_STACKS, data + 1, size - 1, pack_stacks);
		break;
	case TRACE:
		pack("heaptrace", data + 1, size - 1, pack_traces);
		break;
	case PERF_MAP:
		read_outside("/tmp/perf-", ".map", data + 1, size - 1);
		break;
	case DUMP:
		read_outside("/tmp/jit-", ".dump", data + 1, size - 1);
		break;
	default:
		read_log(data + 1, size - 1);
	}
	return 0;
}
