/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a stopped thread may be made to call dlopen where it stands. */
#ifndef HELIO_LAUNCH_ATTACH_SAFE_POINT_H
#define HELIO_LAUNCH_ATTACH_SAFE_POINT_H

#include "launch/attach/remote.h"

struct safe_point;

/* What can be known before anything is stopped. NULL: the process cannot be read. */
struct safe_point *safe_point_new(const struct remote *remote);
void safe_point_free(struct safe_point *calm);

/*
 * True if no function on the call stack of the thread, which is ptrace-stopped by
 * the caller, can hold a lock that dlopen or the collector's start needs.
 * `in_call`: it was interrupted in a system call.
 */
bool safe_point_at(struct safe_point *calm, pid_t tid, bool in_call);

/* Whether a stopped thread is in a signal handler, as far as its frames can be told. */
bool safe_point_in_handler(struct safe_point *calm, pid_t tid);

/*
 * Whether a stopped thread is about to create another one, which gets the mask that it has now:
 * in pthread_create, or in the collector, once that is known.
 */
bool safe_point_creates_thread(struct safe_point *calm, pid_t tid);
void safe_point_note_collector(struct safe_point *calm, const struct remote_object *object);

#endif
