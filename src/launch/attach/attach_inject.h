/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions in another process, in one of its threads, by ptrace. */
#ifndef HELIO_LAUNCH_ATTACH_INJECT_H
#define HELIO_LAUNCH_ATTACH_INJECT_H

#include "base/status.h"
#include "launch/arch/arch.h"
#include "launch/attach/attach_safe_point.h"
#include "launch/attach/attach_thread.h"
#include "launch/attach/remote.h"

enum { INJECT_STACK = 256 * 1024 };

/* What the calls go by, in the process's C library. */
struct inject_library {
	uint64_t mmap, munmap;
	uint64_t sigreturn; /* its instructions of rt_sigreturn */
};

/* A thread that is held, and what is mapped for the calls. */
struct inject {
	struct remote *remote;
	struct inject_library library;
	struct held held;
	uint64_t stack;		    /* 0: none */
	uint64_t code;		    /* what the functions return to; 0: none */
	uint64_t strings_at;	    /* the next free byte above that stack */
	uint64_t disbelieve;	    /* of the collector's table; 0: nobody believes anything */
	uint64_t hooks[ARCH_HOOKS]; /* where functions begin that jump to the collector; 0: none */
};

/*
 * Takes a thread that stands where dlopen may be called, preferably the first
 * one, and gives it a stack for the calls to come.  Waits some seconds for such a moment.
 */
enum status inject_take(struct inject *inject, struct remote *remote, struct safe_point *calm,
			const struct inject_library *library, struct diag_list *diags);

/* Copies bytes to where the called functions may read them; 0: no room. */
uint64_t inject_put(struct inject *inject, const void *from, size_t size);

/* function(a, b); false if it crashed or did not return: the thread is as it was taken. */
bool inject_call(struct inject *inject, uint64_t function, uint64_t a, uint64_t b,
		 uint64_t *result);

/* Maps a page of code, to be written by us, at an address or (0) anywhere; 0: none. */
uint64_t inject_map_code(struct inject *inject, uint64_t at);

/* The thread goes on where it was, as if nothing had happened. */
void inject_let_go(struct inject *inject);

/*
 * Sees to it that every thread that becomes another program from now on comes by the hooks: waits
 * until each was outside of execve once.  False: one stays there.
 */
bool inject_await_execs(struct inject *inject);

/*
 * Opens the collector's signals in all threads that have them blocked, where `believe`, a function
 * of its table, takes note of that.  Not in a handler, whose mask is not the thread's own.
 */
void inject_open_signals(struct inject *inject, struct safe_point *calm, uint64_t believe);
/* Where that cannot be: whether there are such threads. */
bool inject_has_blocked(struct inject *inject);

/*
 * Visits every thread of the process and takes the collector's signals away that
 * are pending there.  No more must arise.  What the thread believes blocked is so again.
 */
void inject_sweep_signals(struct inject *inject, pid_t pid);

#endif
