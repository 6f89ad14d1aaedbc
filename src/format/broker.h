/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program asks `helio collect` for that has moved its root, or is no longer root: files that
 * it cannot reach any more.  It holds no descriptor that leads out of its jail, and what root has
 * made stays in directories of root's.
 *
 * The launcher listens on a datagram socket in the founder's directory.  A request is a struct
 * broker_request and a path with its NUL; with it comes one end of a socket pair (SOCK_SEQPACKET)
 * that the asking process has made itself, on which the answer is sent: a struct broker_answer,
 * then `size` bytes, and with it a descriptor, where one was asked for.
 */
#ifndef HELIO_FORMAT_BROKER_H
#define HELIO_FORMAT_BROKER_H

#include <stdint.h>

#define BROKER_SOCKET "broker" /* in the founder's directory, while the launcher runs */

enum {
	BROKER_PATH_MAX = 640,	/* the name of a member (PARAMS_LINEAGE_ROOM) and of its file */
	BROKER_DATA_MAX = 4096, /* that follow an answer */
};

/*
 * What only who asks knows, and root: where it has its vDSO.  Who executes another program cannot
 * foretell that program's.
 */
#define BROKER_IMAGE(vdso) ((uint32_t)((vdso) >> 12))

/* Paths are relative to the founder's directory; of those in /proc, to that: "self/maps". */
enum broker_kind {
	BROKER_OPEN,	       /* a file of the experiment, with the flags of open(2) */
	BROKER_MAKE_DIRECTORY, /* of a member */
	BROKER_REMOVE,	       /* a member's file */
	BROKER_STAT,	       /* a file's size */
	BROKER_OPEN_PROC,      /* a file of the asking process, to be read */
	BROKER_READ_LINK,      /* a link of it; its text follows */
	BROKER_STAT_PROC,      /* device and inode of a directory of it */
	BROKER_LIST_TASKS,     /* its threads but the first `number`, an int32_t each */
	BROKER_KINDS
};

struct broker_request {
	uint32_t kind;
	int32_t flags;
	uint32_t number; /* of BROKER_LIST_TASKS; else BROKER_IMAGE, or 0 */
	int32_t thread;	 /* that asks, by its number in its own namespace */
	uint64_t key[2]; /* that the launcher gave to those that it records */
};

struct broker_answer {
	int32_t result; /* 0, or a negative errno */
	uint32_t size;
	uint64_t device, inode, file_size;
};

#endif
