/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program and waits for it, being as little in the way as a shell. */
#ifndef HELIO_LAUNCH_RUN_H
#define HELIO_LAUNCH_RUN_H

#include "base/status.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct broker;

struct run_request {
	const char *path; /* for execve */
	char **argv;
	char **environment;
	/* In the program's process, just before it runs. */
	void (*announce)(void *context, pid_t pid);
	/* Here, when it has begun to run. */
	void (*started)(void *context, pid_t pid);
	unsigned tick_s; /* call tick every so many seconds; 0: never */
	void (*tick)(void *context, pid_t pid);
	void *context;
	struct broker *broker; /* for programs that move their root; or NULL */
};

struct run_result {
	pid_t pid;
	int wait_status;     /* as waitpid gives it */
	int exec_errno;	     /* why the program could not be executed; 0: it ran */
	uint64_t end_ns;     /* CLOCK_MONOTONIC when its end was seen */
	struct rusage usage; /* its own, and that of the children that it awaited, with theirs */
	const char *warning; /* for the log; or NULL */
};

/* A file that reaches the limit (ulimit -f) is an error from now on; the program's action stays. */
void run_ignore_file_limit(void);
/* The action that it had, for a program that takes our place. */
void run_restore_file_limit(void);
/* STATUS_IO: no process could be made; the error is in diags. */
enum status run_program(const struct run_request *request, struct run_result *result,
			struct diag_list *diags);

/* CLOCK_MONOTONIC now. */
uint64_t run_now_ns(void);

#endif
