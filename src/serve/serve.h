/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of `helio view`: a page, and answers to its requests, on the loopback address or a
 * socket of this user's.  docs/internals/serve.md has the requests.
 */
#ifndef HELIO_SERVE_SERVE_H
#define HELIO_SERVE_SERVE_H

#include "base/option.h"

#include <stdbool.h>
#include <stddef.h>

/* A subcommand that records, for the page that asks for its options. */
struct serve_recorder {
	const char *name; /* "collect" */
	const struct option_syntax *syntax;
};

struct serve_config {
	const char *program;	  /* "helio view": begins the messages */
	char *const *experiments; /* to open; none: the page lists those of the directory */
	size_t experiment_count;
	unsigned port;	    /* 0: any */
	const char *socket; /* a path: serve there in place of a port; or NULL */
	bool no_open;	    /* print the address, and a key for other programs; no browser */
	double idle_s;	    /* ends after so long without a request; 0: never */
	const struct serve_recorder *recorders;
	size_t recorder_count;
};

/* Until it is ended: by a signal, by the page, by --idle. Returns an exit status. */
int serve_run(const struct serve_config *config);

#endif
