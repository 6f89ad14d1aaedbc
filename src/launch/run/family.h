/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experiments of a run, seen from outside: the founder and its
 * descendants' directories, with the process behind each.
 */
#ifndef HELIO_LAUNCH_FAMILY_H
#define HELIO_LAUNCH_FAMILY_H

#include "base/hash.h"
#include "base/memory.h"
#include "format/format.h"
#include "format/own_use.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct member {
	char *name;	    /* directory within the founder; "" is the founder itself */
	pid_t pid;	    /* 0: its log does not say yet */
	pid_t own_pid;	    /* as the process knows it */
	uint64_t tstamp_ns; /* when recording began, from the founder's start */
	uid_t owner;	    /* of its log, who says which process it is */
	bool ended;	    /* its process image was seen to be gone, or is elsewhere; stays so */
	struct format_io children_io; /* what the kernel has added to its own, so far */
};

struct family {
	int folder;	  /* descriptor of the founder's directory, owned */
	uint64_t mono_ns; /* CLOCK_MONOTONIC at time 0 */
	VEC(struct member) members;
	struct string_table names;
	bool founder_is_child; /* of ours: its process id is its own until it is reaped */
	bool founder_reaped;   /* set by the owner when the founder's process id is free again */
};

/*
 * folder: a descriptor of the founder's directory, which the family takes over.  pid: the founder's
 * process, a child of ours; 0: ask the log.
 */
void family_open(struct family *family, int folder, pid_t pid, uint64_t mono_ns);
/*
 * Finds new members, and which members have ended: their process is gone, or
 * another member runs in it now (exec keeps the process id).
 */
void family_scan(struct family *family);
/* The same when the founder has ended.  In a namespace of process ids the first process may tell
 * the founder of its end (bwrap) a moment before that: it has a fifth of a second. */
void family_await_apart(struct family *family);
void family_close(struct family *family);

/* A descriptor of a member's directory, the caller's to close, or -1. */
int family_open_member(const struct family *family, const struct member *member);
/* A member's whole log, NUL-terminated, or NULL; to be freed. */
char *family_read_log(const struct family *family, const struct member *member);
/* Opens a member's file as folder_open_file does; flags as open(2) has them. */
int family_open_file(const struct family *family, const struct member *member, const char *file,
		     int flags);

#endif
