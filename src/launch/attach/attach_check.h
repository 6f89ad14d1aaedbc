/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a running process can be attached to: everything that can be known by looking. */
#ifndef HELIO_LAUNCH_ATTACH_CHECK_H
#define HELIO_LAUNCH_ATTACH_CHECK_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <sys/types.h>

/* STATUS_NOTFOUND: no such process; STATUS_INVALID: it cannot be; the error names the remedy. */
enum status attach_check(pid_t pid, struct diag_list *diags);

/* A process's memory is gone before its entry in /proc. */
bool attach_has_ended(pid_t pid);

/* What a failed ptrace(2) or /proc/PID/mem means for people. */
void attach_explain(pid_t pid, int error, struct diag_list *diags);

/* The command line of a process, NULL-terminated; its name in brackets where it has none. */
char **attach_arguments(struct arena *arena, pid_t pid);

/* Says that it has executed another program meanwhile, or is about to. */
void attach_becomes_another(pid_t pid, struct diag_list *diags);

#endif
