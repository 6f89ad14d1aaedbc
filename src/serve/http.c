/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd, a thread for each connection: a request is long work, and the thread that asks is
 * the one that is told to stop.  Limits: 32 connections to each address, 16 of them without the
 * secret and a request, 10 s without a byte, 30 s for a request to arrive as a whole, 8 kB of
 * target, 16 kB of headers, 1 MB of body.
 */
#include "serve/http.h"

#include "base/array.h"
#include "base/late_library.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	/* Connections that have not shown the secret; any user of the machine can make them. */
	STRANGERS_MOST = SERVER_CONNECTIONS / 2,
	POOL = 40 << 10, /* bytes: the headers and what the library needs beside them */
	SILENCE_MOST = 10,
	REQUEST_MOST = 30,
};

#define LIBRARY "libmicrohttpd.so.12"
#define FUNCTIONS(X)                                                                               \
	X(MHD_add_response_header)                                                                 \
	X(MHD_create_response_from_buffer)                                                         \
	X(MHD_destroy_response)                                                                    \
	X(MHD_get_connection_info)                                                                 \
	X(MHD_get_connection_values)                                                               \
	X(MHD_lookup_connection_value)                                                             \
	X(MHD_queue_response)                                                                      \
	X(MHD_start_daemon)                                                                        \
	X(MHD_stop_daemon)

static struct {
	FUNCTIONS(LATE_POINTER)
} their;

#define ENTRY(name) {#name, &their.name},
static const struct late_function functions[] = {FUNCTIONS(ENTRY)};

/*
 * A connection, and since when the server has been waiting for a whole request.  Who has not shown
 * the secret may leave an answer unread for as long: it would hold a connection by that, too.
 */
struct client {
	int fd;
	double since; /* 0: a request with the secret is being answered */
	bool used;
	bool is_known;	/* a request has had the secret */
	bool is_ending; /* it has been shut down */
};

struct http {
	struct MHD_Daemon *daemon;
	struct server *server;
	pthread_mutex_t lock;
	struct client clients[SERVER_CONNECTIONS * 2];
};

/* A request that is being received. */
struct exchange {
	char *target;
	struct strbuf body;
	bool is_large, begun, at_work;
};

/* ---- connections ---- */

static int fd_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		their.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/*
 * With the lock.  Of too many strangers the one that has been silent for longest goes, so that
 * another user cannot hold all connections.
 */
static void limit_strangers(struct http *http)
{
	struct client *oldest = NULL;
	size_t strangers = 0;

	for (size_t i = 0; i < SERVER_CONNECTIONS * 2; i++) {
		struct client *client = &http->clients[i];

		if (!client->used || client->is_known || client->is_ending || client->since <= 0)
			continue;
		strangers++;
		if (!oldest || client->since < oldest->since)
			oldest = client;
	}
	if (strangers <= STRANGERS_MOST)
		return;
	oldest->is_ending = true;
	shutdown(oldest->fd, SHUT_RDWR);
}

static void note_connection(void *data, struct MHD_Connection *connection, void **socket_data,
			    enum MHD_ConnectionNotificationCode code)
{
	struct http *http = data;

	pthread_mutex_lock(&http->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket_data = NULL;
		for (size_t i = 0; i < SERVER_CONNECTIONS * 2 && !*socket_data; i++)
			if (!http->clients[i].used) {
				http->clients[i] = (struct client){.fd = fd_of(connection),
								   .since = server_now(),
								   .used = true};
				*socket_data = &http->clients[i];
			}
		limit_strangers(http);
	} else if (*socket_data) {
		((struct client *)*socket_data)->used = false;
	}
	pthread_mutex_unlock(&http->lock);
}

static struct client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		their.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* The server waits for the next request. */
static void note_waiting(struct http *http, struct MHD_Connection *connection)
{
	struct client *client = client_of(connection);

	pthread_mutex_lock(&http->lock);
	if (client)
		client->since = server_now();
	pthread_mutex_unlock(&http->lock);
}

/* A request is there, and will be answered. */
static void note_request(struct http *http, struct MHD_Connection *connection,
			 const struct request *request)
{
	struct client *client = client_of(connection);
	bool is_known = guard_knows(http->server, request);

	pthread_mutex_lock(&http->lock);
	if (client && is_known) {
		client->is_known = true;
		client->since = 0;
	}
	pthread_mutex_unlock(&http->lock);
}

void http_tend(struct http *http)
{
	double now = server_now();

	pthread_mutex_lock(&http->lock);
	for (size_t i = 0; i < SERVER_CONNECTIONS * 2; i++)
		if (http->clients[i].used && http->clients[i].since > 0 &&
		    now - http->clients[i].since > REQUEST_MOST)
			shutdown(http->clients[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&http->lock);
}

/* ---- headers of requests ---- */

struct headers {
	struct request *request;
	size_t bytes;
	unsigned seen;
};

static enum MHD_Result take_header(void *data, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct headers *headers = data;
	struct request *request = headers->request;
	const struct {
		const char *name, **value;
	} wanted[] = {
		{"Host", &request->host},
		{"Origin", &request->origin},
		{"Sec-Fetch-Site", &request->fetch_site},
		{"Sec-Fetch-Mode", &request->fetch_mode},
		{"Sec-Fetch-Dest", &request->fetch_dest},
		{"Content-Type", &request->content_type},
		{"Authorization", &request->authorization},
		{"Cookie", &request->cookie},
	};

	headers->bytes += strlen(name) + (value ? strlen(value) : 0) + 4;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (strcasecmp(name, wanted[i].name) != 0)
			continue;
		request->repeated += *wanted[i].value != NULL;
		*wanted[i].value = value ? value : "";
	}
	return MHD_YES;
}

/* ---- responses ---- */

static const struct {
	const char *name, *value;
} always[] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	 "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
	 "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
};

static void add_headers(struct MHD_Response *response, const struct reply *reply)
{
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		their.MHD_add_response_header(response, always[i].name, always[i].value);
	their.MHD_add_response_header(response, "Cache-Control",
				      reply->immutable ? "public, max-age=31536000, immutable"
						       : "no-store");
	if (reply->type)
		their.MHD_add_response_header(response, "Content-Type", reply->type);
	if (reply->gzipped)
		their.MHD_add_response_header(response, "Content-Encoding", "gzip");
	if (reply->cookie)
		their.MHD_add_response_header(response, "Set-Cookie", reply->cookie);
	if (reply->allow)
		their.MHD_add_response_header(response, "Allow", reply->allow);
	if (reply->status == HTTP_UNAUTHORIZED)
		their.MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct reply *reply)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	if (reply->constant)
		response = their.MHD_create_response_from_buffer(
			reply->constant_size, (void *)reply->constant, MHD_RESPMEM_PERSISTENT);
	else /* the text is the response's from now on */
		response = their.MHD_create_response_from_buffer(
			reply->body.length, reply->body.text, MHD_RESPMEM_MUST_FREE);
	if (!response)
		return MHD_NO;
	if (!reply->constant)
		reply->body = (struct strbuf){0};
	add_headers(response, reply);
	result = their.MHD_queue_response(connection, reply->status, response);
	their.MHD_destroy_response(response);
	return result;
}

/* ---- a request ---- */

static enum MHD_Result answer_request_of(struct http *http, struct MHD_Connection *connection,
					 const char *method, struct exchange *exchange)
{
	struct server *server = http->server;
	char *question = strchr(exchange->target, '?');
	struct request request = {.method = method,
				  .path = exchange->target,
				  .body = exchange->body.text,
				  .body_size = exchange->body.length,
				  .peer = fd_of(connection)};
	struct headers headers = {.request = &request};
	struct reply reply = {0};
	enum MHD_Result result;

	if (question) {
		*question = '\0';
		request.query = question + 1;
	}
	their.MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &headers);
	note_request(http, connection, &request);
	exchange->at_work = true;
	server->at_work++;
	if (headers.bytes > REQUEST_HEADERS_MOST)
		reply_error(&reply, HTTP_LARGE_HEADERS, "The headers are larger than %d bytes",
			    REQUEST_HEADERS_MOST);
	else if (exchange->is_large)
		reply_error(&reply, HTTP_TOO_LARGE, "The body is larger than %d bytes",
			    REQUEST_BODY_MOST);
	else
		server_answer(server, &request, &reply);
	result = send_reply(connection, &reply);
	reply_fini(&reply);
	return result;
}

/* The target as it came: what is encoded in it means nothing here. */
static void *begin_exchange(void *data, const char *target, struct MHD_Connection *connection)
{
	struct exchange *exchange = xcalloc(1, sizeof(*exchange));

	exchange->target = xstrdup(target);
	return exchange;
}

static void end_exchange(void *data, struct MHD_Connection *connection, void **own,
			 enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *own;
	struct http *http = data;

	if (!exchange)
		return;
	note_waiting(http, connection);
	if (exchange->at_work)
		http->server->at_work--;
	http->server->last_request = server_now();
	free(exchange->target);
	strbuf_fini(&exchange->body);
	free(exchange);
	*own = NULL;
}

static bool is_announced_large(struct MHD_Connection *connection)
{
	const char *length = their.MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							       MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > REQUEST_BODY_MOST;
}

/* libmicrohttpd calls it when the headers are there, for each piece of the body, and at its end. */
static enum MHD_Result take_request(void *data, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *piece,
				    size_t *piece_size, void **own)
{
	struct exchange *exchange = *own;
	struct reply reply = {0};
	enum MHD_Result result;

	if (!exchange->begun) {
		exchange->begun = true;
		if (strlen(exchange->target) > REQUEST_LINE_MOST) {
			reply_error(&reply, HTTP_LONG_TARGET, "The address is longer than %d bytes",
				    REQUEST_LINE_MOST);
			result = send_reply(connection, &reply);
			reply_fini(&reply);
			return result;
		}
		exchange->is_large = is_announced_large(connection);
		if (exchange->is_large)
			return answer_request_of(data, connection, method, exchange);
		return MHD_YES;
	}
	if (*piece_size) {
		exchange->is_large |= exchange->body.length + *piece_size > REQUEST_BODY_MOST;
		if (!exchange->is_large)
			strbuf_add(&exchange->body, piece, *piece_size);
		*piece_size = 0;
		return MHD_YES;
	}
	return answer_request_of(data, connection, method, exchange);
}

const char *http_load(void)
{
	return late_library_load(LIBRARY, functions, COUNT(functions));
}

struct http *http_start(struct server *server, int listener)
{
	struct http *http = xcalloc(1, sizeof(*http));

	http->server = server;
	pthread_mutex_init(&http->lock, NULL);
	http->daemon = their.MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC,
		0, NULL, NULL, take_request, http, MHD_OPTION_LISTEN_SOCKET, listener,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVER_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_MOST,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL, MHD_OPTION_URI_LOG_CALLBACK,
		begin_exchange, http, MHD_OPTION_NOTIFY_COMPLETED, end_exchange, http,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, http, MHD_OPTION_STRICT_FOR_CLIENT,
		0, MHD_OPTION_END);
	if (http->daemon)
		return http;
	pthread_mutex_destroy(&http->lock);
	free(http);
	return NULL;
}

void http_stop(struct http *http)
{
	if (!http)
		return;
	their.MHD_stop_daemon(http->daemon);
	pthread_mutex_destroy(&http->lock);
	free(http);
}
