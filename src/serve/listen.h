/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that only this machine, or only this user, can reach. */
#ifndef HELIO_SERVE_LISTEN_H
#define HELIO_SERVE_LISTEN_H

#include "base/status.h"

#include <sys/types.h>

enum { LISTENERS_MOST = 2 };

struct listeners {
	int fds[LISTENERS_MOST];
	unsigned count;
	unsigned port;	  /* 0: a socket */
	const char *path; /* of that, the caller's; or NULL */
	int folder;	  /* … its directory (base/folder.h) */
	dev_t device;	  /* … what was made there */
	ino_t inode;
};

/* On 127.0.0.1 and, where there is one, ::1; port 0: any that is free. STATUS_IO: diags says why.
 */
enum status listen_loopback(unsigned port, struct listeners *listeners, struct diag_list *diags);
/*
 * On a socket of that path, for this user alone; one that nobody listens on any more goes.  A
 * directory that others could change, or reach by a link of theirs, is refused.
 */
enum status listen_unix(const char *path, struct listeners *listeners, struct diag_list *diags);
/* Removes the socket; the descriptors are whose who serve. */
void listen_end(struct listeners *listeners);

#endif
