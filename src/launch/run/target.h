/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program to be measured: found as execvp(3) finds it, and looked at
 * before anything runs.  A program that the collector cannot get into is
 * refused, because it would run unmeasured.
 */
#ifndef HELIO_LAUNCH_TARGET_H
#define HELIO_LAUNCH_TARGET_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

struct target {
	struct arena arena; /* holds all that follows */
	char *path;	    /* to be given to execve */
	char **argv;	/* NULL-terminated; differs from the command line where a runner was put in
			   front */
	bool is_script; /* an interpreter runs it */
	int exit_code;	/* enum launch_exit, where target_find refuses */
};

/* How a Go program becomes one that can be recorded. */
#define TARGET_GO_REMEDY                                                                           \
	"build it with cgo: CGO_ENABLED=1, and import _ \"runtime/cgo\" in one of its files"

#define TARGET_PAST_LIBC                                                                           \
	"makes its threads and signal handlers without the C library, as Go does without cgo, "    \
	"and an event of the collector's would end it (Go: " TARGET_GO_REMEDY ")"

/* Whether the program open as fd is such a one; see base/own_calls.h. */
bool target_goes_past_libc(int fd);

/* Whether Go has made the program; false too if it cannot be read. */
bool target_is_go(const char *path);
/* What is to be known of the call stacks of such a one. */
#define TARGET_GO_STACKS                                                                           \
	"Go: call stacks of goroutines are whole; the runtime's own work (garbage collection, "    \
	"scheduler) and functions in assembler are under <Stack-unwind-failed>, with right "       \
	"exclusive times: see helio print -functions"

/* The refusal's exit code; the status that goes with it. */
enum status target_refuse(struct target *target, int exit_code);

/*
 * Checks that the program image open as fd is one that the collector can be
 * loaded into: ELF for this machine, 64-bit, dynamically linked against
 * glibc, no rights of its own.  path is for messages.
 */
enum status target_check_elf(struct target *target, int fd, const char *path,
			     struct diag_list *diags);

/*
 * words: the program and its arguments, which must outlive the target.
 * STATUS_NOTFOUND, STATUS_INVALID: exit_code is set and an error says cause and remedy.
 */
enum status target_find(struct target *target, char **words, struct diag_list *diags);
void target_fini(struct target *target);

#endif
