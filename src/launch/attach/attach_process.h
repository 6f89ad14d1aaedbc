/* SPDX-License-Identifier: Apache-2.0 */
/* The collector in a process that runs: brought in, started, ended. */
#ifndef HELIO_LAUNCH_ATTACH_PROCESS_H
#define HELIO_LAUNCH_ATTACH_PROCESS_H

#include "base/status.h"

#include <sys/types.h>

struct attach_request {
	const char *library;
	char **words; /* what the collector is to know, NAME=value, NULL at the end */
};

/*
 * The collector records the process when this returns STATUS_OK; else it is as it was, but for
 * the library, if it came to be loaded.
 */
enum status attach_process_begin(pid_t pid, const struct attach_request *request,
				 struct diag_list *diags);

/*
 * Ends the recording and leaves nothing behind but the loaded library, which sleeps.
 * STATUS_NOTFOUND: the process has ended, or nothing was recorded any more.
 */
enum status attach_process_end(pid_t pid, struct diag_list *diags);

#endif
