/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/scarcity.h"

#include "format/params.h"
#include "launch/proc.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	LEAST_FILE = 16 << 10, /* bytes: what is written before the program runs, and some room */
	FEW_PROCESSES = 64,    /* a limit above leaves room for one more */
	OUR_PROCESSES = 4,     /* we, a thread of the collector's, and what is made for a moment */
	OUR_FILES = 8,	       /* 6 are open while the program is begun; and some room */
};

static bool is_below(__rlimit_resource_t resource, uint64_t bytes)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur < bytes;
}

bool scarce_memory(void)
{
	return is_below(RLIMIT_DATA, PARAMS_LEAST_DATA) ||
	       is_below(RLIMIT_AS, PARAMS_LEAST_SPACE) ||
	       is_below(RLIMIT_STACK, PARAMS_LEAST_STACK);
}

/* The threads of all processes of this user, as the kernel counts them against the limit. */
static uint64_t own_threads(void)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	uint64_t threads = 0;
	char text[PROC_TEXT];

	while (directory && (entry = readdir(directory))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && proc_read_text(pid, 0, "status", text) &&
		    proc_number(text, "Uid", 10) == getuid())
			threads += proc_number(text, "Threads", 10);
	}
	if (directory)
		closedir(directory);
	return threads;
}

/* By a try: how many are open already, this process was not told. */
static bool are_files_scarce(void)
{
	int fds[OUR_FILES], count = 0;

	while (count < OUR_FILES && (fds[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
		count++;
	bool scarce = count < OUR_FILES && errno == EMFILE;

	while (count)
		close(fds[--count]);
	return scarce;
}

const char *scarce_room(void)
{
	struct rlimit files, processes;

	if (are_files_scarce())
		return "A limit of open files (ulimit -n) leaves no room for helio";

	if (!getrlimit(RLIMIT_FSIZE, &files) && files.rlim_cur < LEAST_FILE)
		return "A limit of the size of files (ulimit -f) leaves no room for an experiment";
	/* Root is not bound by it. */
	if (getuid() && !getrlimit(RLIMIT_NPROC, &processes) &&
	    processes.rlim_cur < FEW_PROCESSES &&
	    own_threads() + OUR_PROCESSES > processes.rlim_cur)
		return "A limit of processes (ulimit -u) leaves no room for helio beside the "
		       "program";
	return NULL;
}
