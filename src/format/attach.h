/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `helio attach` calls in a program that runs already.  It loads the
 * collector with the program's own dlopen, finds this table under its name, and
 * calls the functions from outside, in a thread that it has stopped.
 */
#ifndef HELIO_FORMAT_ATTACH_H
#define HELIO_FORMAT_ATTACH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define FORMAT_ATTACH_NAME "helio_collector_attach_1"

/* The signals of the engines: of perf events, and of the monitor and of threads' timers. */
enum { FORMAT_SIGNAL_PERF = SIGTRAP, FORMAT_SIGNAL_MONITOR = __SIGRTMAX - 1 };
/* A set of signals, as the kernel has it in a word. */
#define FORMAT_SIGNAL_BIT(signal) ((uint64_t)1 << ((signal)-1))
#define FORMAT_ENGINE_SIGNALS                                                                      \
	(FORMAT_SIGNAL_BIT(FORMAT_SIGNAL_PERF) | FORMAT_SIGNAL_BIT(FORMAT_SIGNAL_MONITOR))

struct format_attach {
	/*
	 * Begins a recording: `words` are the variables of params.h as NAME=value, one after
	 * the other, each with its NUL, and an empty one at the end.  `attacher` is the process
	 * that watches over it.  The engine starts when nobody traces the calling thread any more.
	 * 0, or a negative errno; -EBUSY: the program is recorded already.
	 */
	int64_t (*begin)(const char *words, int64_t attacher);
	/*
	 * Ends it: all time is accounted for, no event arises from now on.  The calling thread was
	 * interrupted at pc with the stack pointer sp.  0, or -ESRCH where nothing is recorded.
	 */
	int64_t (*end)(uint64_t pc, uint64_t sp);
	/* When no signal of ours is pending in any thread: the program has its signals back. */
	int64_t (*release)(void);
	const _Atomic bool *recording; /* already: then leave the program alone */
	/* Take the place of the C library's functions, which would let events fire inside exec. */
	int (*execve)(const char *path, char *const argv[], char *const env[]);
	int (*execveat)(int dir, const char *path, char *const argv[], char *const env[],
			int flags);
};

#endif
