/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that stop being root.
 *
 * What was made as root has to stay writable: the files of this process are given to the
 * group that the program goes on in, and the directories are opened to everybody as /tmp
 * is, where nobody removes or replaces what is another's.  glibc changes the user of the
 * threads that it knows; ours steps aside, and must not remain root.
 */
#include "collector/core/core.h"
#include "collector/core/file.h"
#include "collector/core/sys.h"
#include "collector/core/text.h"
#include "collector/wrap/next.h"
#include "format/trace.h"

#include <unistd.h>

enum { SHARED_DIRECTORY = 01777, SHARED_FILE = 0664 };

static void share_file(const char *file)
{
	int fd = log_open_file(file, O_NOFOLLOW);

	if (fd < 0)
		return;
	sys_call(SYS_fchown, fd, -1, sys_call(SYS_getegid, 0, 0, 0, 0), 0);
	sys_call(SYS_fchmod, fd, SHARED_FILE, 0, 0);
	sys_close(fd);
}

static void share_directory(const char *path)
{
	int fd = file_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	if (fd < 0)
		return;
	sys_call(SYS_fchmod, fd, SHARED_DIRECTORY, 0, 0);
	sys_close(fd);
}

static void share_experiment(void)
{
	static const char *const files[] = {FORMAT_FILE_LOG,	  FORMAT_FILE_MAP,
					    FORMAT_FILE_OVERVIEW, FORMAT_FILE_PROFILE,
					    FORMAT_FILE_STACKS,	  FORMAT_FILE_DYNTEXT};

	share_directory(collector.founder);
	share_directory(collector.directory);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		share_file(files[i]);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		share_file(format_traces[kind].file);
}

/* To be undone by namespace_come_back. `user`: the effective one to come, or -1 for the same. */
static bool before_change(uid_t user)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return false;
	if (user && user != (uid_t)-1 && !sys_call(SYS_geteuid, 0, 0, 0, 0)) {
		namespace_keep_place(); /* the way there may be closed to others */
		share_experiment();
	}
	return namespace_step_aside();
}

COLLECTOR_EXPORT int setuid(uid_t user)
{
	bool aside = before_change(user);
	int result = NEXT(setuid)(user);

	namespace_come_back(aside);
	return result;
}

COLLECTOR_EXPORT int seteuid(uid_t user)
{
	bool aside = before_change(user);
	int result = NEXT(seteuid)(user);

	namespace_come_back(aside);
	return result;
}

COLLECTOR_EXPORT int setreuid(uid_t real, uid_t user)
{
	bool aside = before_change(user);
	int result = NEXT(setreuid)(real, user);

	namespace_come_back(aside);
	return result;
}

COLLECTOR_EXPORT int setresuid(uid_t real, uid_t user, uid_t saved)
{
	bool aside = before_change(user);
	int result = NEXT(setresuid)(real, user, saved);

	namespace_come_back(aside);
	return result;
}
