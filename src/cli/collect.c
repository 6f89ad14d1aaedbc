/* SPDX-License-Identifier: Apache-2.0 */
/* `helio collect` and `helio attach`: the run itself is launch's, what is kept with the experiment
 * afterwards manage's. */
#include "cli/collect.h"

#include "base/memory.h"
#include "cli/view.h"
#include "launch/attach/attach.h"
#include "launch/run/launch.h"
#include "launch/run/show.h"
#include "manage/ending.h"
#include "manage/manage.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options of `helio archive`, for what is kept by itself. */
static const char more_options[] = "SP_ARCHIVE_ARGS";

static void archive(const struct launch_call *call)
{
	struct manage_archive_request request = {
		.command = "helio collect", .folder = call->folder, .is_open = true};
	struct diag_list diags = {0};
	const char *more = getenv(more_options);
	char *words = more ? xstrdup(more) : NULL;
	bool known = call->archive_newer ? manage_archive_mode(call->archive, &request)
					 : manage_archive_collect_mode(call->archive, &request);

	signal(SIGXFSZ, SIG_IGN); /* what a limit keeps from being copied is told */
	if (known && request.objects != MANAGE_OBJECTS_NONE) {
		if (words)
			manage_archive_options(more_options, words, &request);
		manage_archive(call->experiment, &request, &diags);
	}
	show_diags(stderr, &diags);
	free(words);
}

/* Last, when it is known what was kept. */
static void sum_up(struct launch_call *call)
{
	struct manage_ending ending = {0};

	if (call->experiment && !call->quiet)
		manage_ending_read(call->folder, call->experiment, &ending);

	struct show_more more = {.archive_bytes = ending.archive_bytes,
				 .unrecorded = ending.unrecorded,
				 .failed = ending.failed,
				 .uncounted = ending.uncounted,
				 .uncounted_us = ending.uncounted_us,
				 .uncounted_own_us = ending.uncounted_own_us};

	memcpy(more.uncounted_traced, ending.uncounted_traced, sizeof(more.uncounted_traced));

	launch_sum_up(call, &more);
	manage_ending_fini(&ending);
}

static int run(char **argv, bool old_name)
{
	struct launch_call call = {.old_name = old_name,
				   .attached = sum_up,
				   .replace = manage_make_room,
				   .folder = -1};
	int status = launch_collect(argv, &call);

	if (call.experiment)
		archive(&call);
	sum_up(&call);
	if (call.folder >= 0)
		close(call.folder);
	if (call.experiment && call.view)
		view_experiment(call.experiment);
	free(call.experiment);
	return status;
}

int collect_main(int argc, char **argv)
{
	return run(argv, false);
}

int attach_main(int argc, char **argv)
{
	return launch_attach(argc, argv, sum_up, manage_make_room);
}

int collect_main_old(int argc, char **argv)
{
	return run(argv, true);
}
