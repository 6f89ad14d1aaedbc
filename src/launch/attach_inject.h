/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions in another process, in one of its threads, by ptrace. */
#ifndef HELIO_LAUNCH_ATTACH_INJECT_H
#define HELIO_LAUNCH_ATTACH_INJECT_H

#include "base/status.h"
#include "launch/attach_calm.h"
#include "launch/remote.h"

#include <sys/user.h>

enum { INJECT_XSTATE_MAX = 16384, INJECT_STACK = 256 * 1024 };

/* A thread that is held, and all that it must get back. */
struct inject {
	struct remote *remote;
	pid_t tid; /* 0: none */
	struct user_regs_struct registers;
	unsigned char xstate[INJECT_XSTATE_MAX];
	size_t xstate_size;
	uint64_t mask;
	uint64_t munmap;     /* the C library's */
	uint64_t stack;	     /* mapped in the process for the calls; 0: none */
	uint64_t strings_at; /* the next free byte above that stack */
	bool stop_owed;	     /* somebody's SIGSTOP came meanwhile */
};

/*
 * Takes a thread that stands where dlopen may be called, preferably the first
 * one, and gives it a stack for the calls to come.  Waits some seconds for such a moment.
 * mmap, munmap: addresses of these functions there.
 */
enum status inject_take(struct inject *inject, struct remote *remote, struct calm *calm,
			uint64_t mmap, uint64_t munmap, struct diag_list *diags);

/* Copies bytes to where the called functions may read them; 0: no room. */
uint64_t inject_put(struct inject *inject, const void *from, size_t size);

/* function(a, b); false if it crashed or did not return: the thread is as it was taken. */
bool inject_call(struct inject *inject, uint64_t function, uint64_t a, uint64_t b,
		 uint64_t *result);

/* The thread goes on where it was, as if nothing had happened. */
void inject_let_go(struct inject *inject);

/*
 * Visits every thread of the process and takes the collector's signals away that
 * are pending there.  No more must arise.
 */
void inject_sweep_signals(const struct inject *inject, pid_t pid);

#endif
