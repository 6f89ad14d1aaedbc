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

#define FORMAT_ATTACH_NAME "helio_collector_attach_3"

/* The signals of the engines: of perf events, and of the monitor and of threads' timers. */
enum { FORMAT_SIGNAL_PERF = SIGTRAP, FORMAT_SIGNAL_MONITOR = __SIGRTMAX - 1 };
/* A set of signals, as the kernel has it in a word. */
#define FORMAT_SIGNAL_BIT(signal) ((uint64_t)1 << ((signal)-1))
#define FORMAT_ENGINE_SIGNALS                                                                      \
	(FORMAT_SIGNAL_BIT(FORMAT_SIGNAL_PERF) | FORMAT_SIGNAL_BIT(FORMAT_SIGNAL_MONITOR))

/*
 * How the C library's pthread_create goes on behind the instruction that is replaced, which makes
 * room of so many bytes on the stack.
 */
struct format_attach_create {
	uint64_t go_on;
	uint64_t room;
};

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
	 * interrupted at pc with the stack pointer sp.  0, or -ESRCH where nothing is recorded;
	 * -EAGAIN: later, as a thread is in an exec, or a runtime's names are still being written.
	 */
	int64_t (*end)(uint64_t pc, uint64_t sp);
	/*
	 * When no signal of ours is pending in any thread: the program has its signals back.
	 * -EBUSY: a thread of ours has not noticed yet that the recording is over.
	 */
	int64_t (*release)(void);
	/*
	 * Of a thread that is stopped, by its number: it blocks signals of ours, `set`, which are
	 * open from now on; the program believes that they are blocked.  0, or -ESRCH: leave them.
	 * With tid 0 the log says that such threads are there, and stay so.
	 */
	int64_t (*believe)(int64_t tid, int64_t set);
	/* After `end`: what such a thread believes, to be blocked again. */
	int64_t (*disbelieve)(int64_t tid);
	const _Atomic bool *recording; /* already: then leave the program alone */
	/* Takes the place of pthread_sigmask: what the program reads there is what it has set. */
	int (*sigmask)(int how, const uint64_t *set, uint64_t *old);
	/* Take the place of the C library's functions, which would let events fire inside exec. */
	int (*execve)(const char *path, char *const argv[], char *const env[]);
	int (*execveat)(int dir, const char *path, char *const argv[], char *const env[],
			int flags);
	/*
	 * Takes the place of that instruction of pthread_create.  `*created` is written before that
	 * leads here, and stays.
	 */
	void (*create)(void);
	struct format_attach_create *created;
};

#endif
