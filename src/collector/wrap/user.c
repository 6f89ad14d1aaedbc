/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that stop being root.
 *
 * The files of this process are given to the user that the program goes on as, who has to grow
 * them, and taken back when it is root again.  The directories stay root's: who owned one could
 * exchange what root writes later.  What is new there the launcher makes (storage/file.c).  glibc
 * changes the user of the threads that it knows; ours steps aside, and must not remain root.
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/wrappers.h"
#include "collector/storage/experiment.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"
#include "format/files.h"

#include <sys/stat.h>
#include <unistd.h>

static void give_file(const char *file, uid_t user)
{
	int fd = experiment_open_file(file, O_NOFOLLOW);

	if (fd < 0)
		return;
	sys_call(SYS_fchown, fd, user, -1, 0);
	sys_close(fd);
}

static void give_experiment(uid_t user)
{
	for (int i = 0; i < FORMAT_FILES; i++)
		if (format_files[i].is & FILE_BY_PROCESS)
			give_file(format_files[i].name, user);
}

/* To be undone by after_change. `user`: the effective one to come, or -1 for the same. */
static bool before_change(uid_t user)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return false;
	stacktable_make_file();
	if (user && user != (uid_t)-1 && !sys_call(SYS_geteuid, 0, 0, 0, 0)) {
		file_reach_launcher(); /* the way there may be closed to others */
		file_let_pass();
		give_experiment(user);
	}
	return namespace_step_aside();
}

/* The user has changed, or not: as `result` says. */
static int after_change(bool aside, int result)
{
	namespace_come_back(aside);
	if (aside && !result && !sys_call(SYS_geteuid, 0, 0, 0, 0))
		give_experiment(0);
	return result;
}

COLLECTOR_EXPORT int setuid(uid_t user)
{
	bool aside = before_change(user);

	return after_change(aside, NEXT(setuid)(user));
}

COLLECTOR_EXPORT int seteuid(uid_t user)
{
	bool aside = before_change(user);

	return after_change(aside, NEXT(seteuid)(user));
}

COLLECTOR_EXPORT int setreuid(uid_t real, uid_t user)
{
	bool aside = before_change(user);

	return after_change(aside, NEXT(setreuid)(real, user));
}

COLLECTOR_EXPORT int setresuid(uid_t real, uid_t user, uid_t saved)
{
	bool aside = before_change(user);

	return after_change(aside, NEXT(setresuid)(real, user, saved));
}
