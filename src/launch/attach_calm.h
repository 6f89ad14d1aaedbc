/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a stopped thread may be made to call dlopen where it stands. */
#ifndef HELIO_LAUNCH_ATTACH_CALM_H
#define HELIO_LAUNCH_ATTACH_CALM_H

#include "launch/remote.h"

struct calm;

/* What can be known before anything is stopped. NULL: the process cannot be read. */
struct calm *calm_new(const struct remote *remote);
void calm_free(struct calm *calm);

/*
 * True if no function on the call stack of the thread, which is ptrace-stopped by
 * the caller, can hold a lock that dlopen or the collector's start needs.
 * `in_call`: it was interrupted in a system call.
 */
bool calm_at(struct calm *calm, pid_t tid, bool in_call);

/* Whether a stopped thread is in a signal handler, as far as its frames can be told. */
bool calm_in_handler(struct calm *calm, pid_t tid);

#endif
