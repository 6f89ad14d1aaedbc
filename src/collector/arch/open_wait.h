/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that a handler continues with signals open (wrap/wait_restart.c).  Each processor's file
 * provides
 *
 *   void arch_wait_open(struct open_wait *, const uint64_t *open, uint64_t *closed)
 *     says where its code is, sets the mask `open`, calls restart_syscall, says what that has
 *     returned, and sets the mask that was there before, which it has put into *closed.  In one
 *     piece: where in it a signal has come tells how far the call is.
 */
#ifndef HELIO_COLLECTOR_ARCH_OPEN_WAIT_H
#define HELIO_COLLECTOR_ARCH_OPEN_WAIT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* A call that goes on in our handler, with our signals open (wait_restart.c). */
struct open_wait {
	void *program;		     /* where our handler came: its context; NULL: there is none */
	uint64_t begin, behind, end; /* the code that waits, and behind the call in it */
	long result;
	void *again[5]; /* of __builtin_setjmp: from a handler of ours on top */
};

#if defined(__x86_64__)
#include "collector/arch/x86_64/open_wait.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/open_wait.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
