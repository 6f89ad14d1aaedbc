/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of another process, stopped, with all that it must get back, and a way for it
 * to get that back by itself should we be killed: a signal frame.
 */
#ifndef HELIO_LAUNCH_ATTACH_THREAD_H
#define HELIO_LAUNCH_ATTACH_THREAD_H

#include "format/attach.h"
#include "launch/attach/remote.h"

#include <sys/user.h>

enum { HELD_XSTATE_MAX = 16384 };

struct held {
	pid_t pid, tid; /* tid 0: none is held */
	struct user_regs_struct registers;
	unsigned char xstate[HELD_XSTATE_MAX];
	size_t xstate_size;
	uint64_t mask;
	bool stop_owed;		   /* somebody's SIGSTOP came meanwhile */
	uint64_t spare, spare_end; /* memory of its stack that nothing uses */
	bool spare_fresh;	   /* … and nothing has used */
};

long held_trace(int request, pid_t tid, uint64_t address, uint64_t data);
/* Of a status of waitpid: stopped by our own PTRACE_INTERRUPT, or with its whole process. */
bool held_is_event_stop(int status);
/* The next stop of the thread; false if it is gone or none comes in time. */
bool held_wait_stop(pid_t tid, int *status, unsigned limit_ms);
/* Signals pending for a thread that are not blocked there. */
uint64_t held_pending(pid_t pid, pid_t tid, uint64_t mask);

/* Why a thread cannot be had. */
enum held_why { HELD_OK, HELD_DENIED, HELD_GONE, HELD_UNINTERRUPTIBLE };

/*
 * Stops a thread and keeps what it must get back; signals that are delivered on the way go
 * their way.  One that does not stop stays seized until this thread of ours ends.
 */
enum held_why held_take(struct held *held, pid_t pid, pid_t tid);
/* Lets it go as it was taken; its interrupted system call goes on. */
void held_let_go(struct held *held, const struct remote *remote);

/* System calls that end with EINTR when a thread is only stopped and continued, and have done
 * nothing then. */
bool held_is_begun_again(long call);
/* Whether it was interrupted in a system call. */
bool held_in_call(const struct held *held);
/* A handler or a thread of the collector's own, by its mask: not to be disturbed. */
bool held_is_collectors(const struct held *held);

/*
 * Finds memory of the thread's own stack that nothing uses: pages that were never touched, else
 * what lies below its stack pointer.  False: it stands on no stack of its own, or has no room.
 */
bool held_find_spare(struct held *held, struct remote *remote);

/*
 * Writes a signal frame below `top`, with `back` in front, where a function called
 * with the returned stack pointer returns to.  With rt_sigreturn there the thread goes on as it
 * was taken, in a system call that begins again.  0: it could not be written.
 */
uint64_t held_put_frame(const struct held *held, const struct remote *remote, uint64_t top,
			uint64_t back);

/* Bytes below `top` for a frame, and for a system call of the C library. */
uint64_t held_frame_room(const struct held *held);

#endif
