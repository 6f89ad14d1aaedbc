/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request and its reply, apart from how they travel: http.c has what came over the wire,
 * guard.c says whether it is answered at all, router.c by whom.
 */
#ifndef HELIO_SERVE_REQUEST_H
#define HELIO_SERVE_REQUEST_H

#include "base/strbuf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REQUEST_LINE_MOST = 8 << 10, /* bytes of the target */
	REQUEST_HEADERS_MOST = 16 << 10,
	REQUEST_BODY_MOST = 1 << 20,
	/* … of who has not shown the secret: as JSON it may take a hundred times as much */
	REQUEST_STRANGER_MOST = 4 << 10,
};

enum http_status {
	HTTP_OK = 200,
	HTTP_NO_CONTENT = 204,
	HTTP_BAD_REQUEST = 400,
	HTTP_UNAUTHORIZED = 401,
	HTTP_FORBIDDEN = 403,
	HTTP_NOT_FOUND = 404,
	HTTP_NO_METHOD = 405,
	HTTP_CONFLICT = 409, /* cancelled */
	HTTP_TOO_LARGE = 413,
	HTTP_LONG_TARGET = 414,
	HTTP_NO_TYPE = 415,
	HTTP_MISDIRECTED = 421,
	HTTP_UNPROCESSABLE = 422,
	HTTP_TOO_MANY = 429,
	HTTP_LARGE_HEADERS = 431,
	HTTP_FAILED = 500,
	HTTP_UNAVAILABLE = 503,
};

/* Headers that matter. NULL: not there.  What may be there once only and is there twice counts in
 * `repeated`. */
struct request {
	const char *method; /* "GET" */
	const char *path;   /* without the part from ? on; never NULL */
	const char *query;  /* behind ?, as it came; or NULL */
	const char *host, *origin, *fetch_site, *fetch_mode, *fetch_dest, *content_type;
	const char *authorization, *cookie;
	unsigned repeated;
	const char *body;
	size_t body_size;
	int peer; /* the connection's descriptor, to see whether the client is there; -1: none */
};

struct reply {
	unsigned status;
	const char *type;     /* of the body; NULL: it has none */
	struct strbuf body;   /* or … */
	const void *constant; /* … what lives as long as the program */
	size_t constant_size;
	bool gzipped, immutable; /* the constant is */
	char *cookie;		 /* to be set, or NULL */
	const char *allow;	 /* methods, with 405 */
};

void reply_fini(struct reply *reply);
/* {"error": {"text"}}: a sentence with what to do. */
void reply_error(struct reply *reply, enum http_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Takes over the value. */
void reply_json(struct reply *reply, json_t *value);
void reply_nothing(struct reply *reply);

/* The value of a name in the part behind ?, unescaped, the caller's to free; or NULL. */
char *request_argument(const struct request *request, const char *name);
/* Whether the client has closed the connection. */
bool request_is_left(const struct request *request);

#endif
