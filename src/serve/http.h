/* SPDX-License-Identifier: Apache-2.0 */
/* The wire: libmicrohttpd. */
#ifndef HELIO_SERVE_HTTP_H
#define HELIO_SERVE_HTTP_H

#include "serve/server.h"

struct http;

/* Loads the library that serves, before all else. NULL, or why that cannot be, for a message. */
const char *http_load(void);
/* Serves on a socket that listens, which it takes over. NULL: it cannot. */
struct http *http_start(struct server *server, int listener);
/* Ends connections that take too long for a request. To be called every second or so. */
void http_tend(struct http *http);
/* Requests at work have ended when it returns. */
void http_stop(struct http *http);

#endif
