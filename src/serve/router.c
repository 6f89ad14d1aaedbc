/* SPDX-License-Identifier: Apache-2.0 */
/* Which request is answered by whom. */
#include "base/array.h"
#include "serve/server.h"

#include <string.h>

#define API "/api/v1/"

static const struct route {
	const char *method, *path;
	route_handler *answer;
} routes[] = {
	{"POST", API "login", serve_login},   {"GET", API "bootstrap", serve_bootstrap},
	{"POST", API "print", serve_print},   {"GET", API "progress", serve_progress},
	{"POST", API "cancel", serve_cancel}, {"GET", API "names", serve_names},
	{"POST", API "open", serve_open},     {"POST", API "refresh", serve_refresh},
	{"POST", API "close", serve_close},   {"GET", API "experiments", serve_experiments},
	{"GET", API "doctor", serve_doctor},  {"GET", API "options", serve_options},
	{"POST", API "record", serve_record}, {"GET", API "recordings", serve_recordings},
	{"POST", API "stop", serve_stop},     {"POST", API "notes", serve_notes},
	{"POST", API "save", serve_save},     {"POST", API "quit", serve_quit},
};

/* HEAD is a GET whose body is not sent. */
static bool is_method(const struct request *request, const char *method)
{
	return !strcmp(request->method, method) ||
	       (!strcmp(request->method, "HEAD") && !strcmp(method, "GET"));
}

/* NULL: a reply has been made. */
static json_t *read_body(const struct request *request, struct reply *reply)
{
	json_error_t error;
	json_t *body = json_loadb(request->body ? request->body : "", request->body_size,
				  JSON_REJECT_DUPLICATES, &error);

	if (json_is_object(body))
		return body;
	if (body)
		reply_error(reply, HTTP_BAD_REQUEST, "The body must be a JSON object");
	else
		reply_error(reply, HTTP_BAD_REQUEST, "The body is not JSON: %s (line %d)",
			    error.text, error.line);
	json_decref(body);
	return NULL;
}

static void answer_route(struct server *server, const struct route *route,
			 const struct request *request, struct reply *reply)
{
	if (request->body_size > REQUEST_STRANGER_MOST && !guard_knows(server, request)) {
		reply_error(reply, HTTP_TOO_LARGE,
			    "The body is larger than %d bytes, the most before one is logged in",
			    REQUEST_STRANGER_MOST);
		return;
	}
	bool has_body = !strcmp(route->method, "POST");
	json_t *body = has_body ? read_body(request, reply) : NULL;

	if (!has_body || body)
		route->answer(server, request, body, reply);
	json_decref(body);
}

void server_answer(struct server *server, const struct request *request, struct reply *reply)
{
	const struct route *found = NULL;

	if (!guard_admits(server, request, reply))
		return;
	for (size_t i = 0; i < COUNT(routes) && !found; i++)
		if (!strcmp(request->path, routes[i].path))
			found = &routes[i];
	if (found && is_method(request, found->method)) {
		answer_route(server, found, request, reply);
	} else if (found) {
		reply_error(reply, HTTP_NO_METHOD, "%s takes %s", found->path, found->method);
		reply->allow = !strcmp(found->method, "GET") ? "GET, HEAD" : "POST";
	} else if (!strcmp(request->method, "POST") || !static_answer(request->path, reply)) {
		reply_error(reply, HTTP_NOT_FOUND, "There is nothing at this address");
	}
}
