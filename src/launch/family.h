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

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct member {
	char *name;	    /* directory within the founder; "" is the founder itself */
	pid_t pid;	    /* 0: its log does not say yet */
	uint64_t tstamp_ns; /* when recording began, from the founder's start */
	bool ended;	    /* its process image was seen to be gone; stays so */
};

struct family {
	int folder;	  /* descriptor of the founder's directory, owned */
	uint64_t mono_ns; /* CLOCK_MONOTONIC at time 0 */
	VEC(struct member) members;
	struct string_table names;
	bool founder_is_child; /* of ours: its process id is its own until it is reaped */
	bool founder_reaped;   /* set by the owner when the founder's process id is free again */
};

/* pid: the founder's process, a child of ours; 0: ask the log. False if the directory cannot be
 * opened. */
bool family_open(struct family *family, const char *path, pid_t pid, uint64_t mono_ns);
/*
 * Finds new members, and which members have ended: their process is gone, or
 * another member runs in it now (exec keeps the process id).
 */
void family_scan(struct family *family);
void family_close(struct family *family);

/* A member's file, relative to family->folder; false if the name is too long. */
bool family_file_path(const struct member *member, const char *file, char *path, size_t size);
/* A member's whole log, NUL-terminated, or NULL; to be freed. */
char *family_read_log(const struct family *family, const struct member *member);
/* Opens a member's file, or returns -1; flags as open(2) has them. */
int family_open_file(const struct family *family, const struct member *member, const char *file,
		     int flags);

#endif
