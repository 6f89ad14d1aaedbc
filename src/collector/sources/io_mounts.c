/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems of a process in a mount namespace, or below a root, that is not the family's: those
 * of the family the launcher writes down.  Both when the recording begins and when it ends, since
 * mounts come after the namespace.
 */
#include "collector/arch/sys.h"
#include "collector/sources/io.h"
#include "collector/storage/experiment.h"
#include "collector/storage/file.h"
#include "collector/storage/text.h"

static uint64_t family_namespace; /* 0: not known */

void io_mounts_of_family(const char *number)
{
	family_namespace = text_number(number, NULL);
}

static bool are_the_family_s(void)
{
	char link[64];
	long length = file_readlink_proc("/proc/self/ns/mnt", link, sizeof(link) - 1);

	if (!family_namespace || length <= 0)
		return true;
	link[length] = '\0';
	return text_starts(link, "mnt:[") &&
	       text_number(link + sizeof("mnt:[") - 1, NULL) == family_namespace &&
	       !file_has_moved();
}

void io_mounts_note(void)
{
	static char room[4096];
	long got;

	if (are_the_family_s())
		return;
	int from = file_open_proc("/proc/self/mountinfo", O_RDONLY);
	int to = from >= 0 ? experiment_open_file(FORMAT_FILE_MOUNTS_OWN, O_CREAT) : -1;

	while (to >= 0 && (got = sys_read(from, room, sizeof(room))) > 0)
		if (file_append(to, room, (size_t)got))
			break;
	if (to >= 0)
		sys_close(to);
	if (from >= 0)
		sys_close(from);
}
