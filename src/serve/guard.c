/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a request is answered at all.
 *
 * Any page in the user's browser, and any other user of this machine, can send requests to a
 * loopback port.  Against pages of other sites: the address must be ours by name (a name of theirs
 * may be made to lead here), and what the browser says of where a request comes from must be this
 * page; nothing ever tells a browser to let others read an answer.  Against other users: a secret.
 */
#include "serve/server.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the address ---- */

/* The port of "127.0.0.1:PORT", "[::1]:PORT" or "localhost:PORT", 80 where there is none; 0: it is
 * none of them. */
static unsigned port_of(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "[::1]", "localhost"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);
		char *rest;

		if (strncasecmp(host, names[i], length) != 0)
			continue;
		if (!host[length])
			return 80;
		if (host[length] != ':' || !isdigit((unsigned char)host[length + 1]))
			return 0;
		unsigned long port = strtoul(host + length + 1, &rest, 10);

		return *rest || port > 65535 ? 0 : (unsigned)port;
	}
	return 0;
}

/* A socket may be forwarded from any port. */
static bool is_host(const struct server *server, const char *host)
{
	unsigned port = host ? port_of(host) : 0;

	return port && (!server->port || port == server->port);
}

/* "http://" and the very address that it came to. */
static bool is_origin(const char *origin, const char *host)
{
	return !strncasecmp(origin, "http://", 7) && !strcasecmp(origin + 7, host);
}

static bool is_word(const char *given, const char *word)
{
	return given && !strcmp(given, word);
}

/* A page may be gone to from anywhere, as from a file that the browser was told to open. */
static bool is_visit(const struct request *request)
{
	return !strcmp(request->method, "GET") && strncmp(request->path, "/api/", 5) != 0 &&
	       is_word(request->fetch_mode, "navigate") && is_word(request->fetch_dest, "document");
}

static bool comes_from_here(const struct request *request)
{
	if (request->origin && !is_origin(request->origin, request->host))
		return false;
	return !request->fetch_site || is_word(request->fetch_site, "same-origin") ||
	       is_word(request->fetch_site, "none") || is_visit(request);
}

/* ---- the form ---- */

static bool is_json(const char *type)
{
	static const char json[] = "application/json";
	size_t length = sizeof(json) - 1;

	if (!type || strncasecmp(type, json, length) != 0)
		return false;
	type += length;
	type += strspn(type, " \t");
	return !*type || *type == ';';
}

static bool is_one_of_ours(const char *method)
{
	return !strcmp(method, "GET") || !strcmp(method, "HEAD") || !strcmp(method, "POST");
}

/* ---- the secret ---- */

char *guard_cookie_name(const struct server *server, const struct request *request)
{
	unsigned port = server->port ? server->port : port_of(request->host ? request->host : "");

	return xasprintf("helio-%u", port);
}

/* Whether one of the cookies is ours: there may be several by that name. */
static bool has_cookie(const struct server *server, const struct request *request)
{
	char *name = guard_cookie_name(server, request);
	size_t length = strlen(name);
	bool has = false;

	for (const char *pair = request->cookie; pair && *pair;) {
		size_t size = strcspn(pair, ";");

		if (size > length && !strncmp(pair, name, length) && pair[length] == '=') {
			char *value = xstrndup(pair + length + 1, size - length - 1);

			has |= token_equals(server->tokens.cookie, value);
			free(value);
		}
		pair += size;
		pair += strspn(pair, "; ");
	}
	free(name);
	return has;
}

bool guard_knows(struct server *server, const struct request *request)
{
	static const char bearer[] = "Bearer ";
	const char *given = request->authorization;

	if (given && !strncasecmp(given, bearer, sizeof(bearer) - 1))
		return token_equals(server->tokens.bearer, given + sizeof(bearer) - 1);
	return has_cookie(server, request);
}

/* ---- all of it ---- */

static bool is_refused_by_form(const struct request *request, struct reply *reply)
{
	if (!is_one_of_ours(request->method)) {
		reply_error(reply, HTTP_NO_METHOD,
			    "The method %.20s is not allowed: use GET, HEAD or POST",
			    request->method);
		reply->allow = "GET, HEAD, POST";
	} else if (!strcmp(request->method, "POST") && !is_json(request->content_type)) {
		reply_error(reply, HTTP_NO_TYPE,
			    "The body of a request must have the Content-Type application/json");
	} else {
		return false;
	}
	return true;
}

bool guard_admits(struct server *server, const struct request *request, struct reply *reply)
{
	if (request->repeated)
		reply_error(reply, HTTP_BAD_REQUEST,
			    "A header that may be there once is there twice");
	else if (!is_host(server, request->host))
		reply_error(reply, HTTP_MISDIRECTED,
			    "This server is not at that address: use the one that helio view "
			    "printed");
	else if (!comes_from_here(request))
		reply_error(reply, HTTP_FORBIDDEN,
			    "Requests from pages of other sites are not answered");
	else if (is_refused_by_form(request, reply))
		return false;
	else if (!strncmp(request->path, "/api/", 5) &&
		 strcmp(request->path, "/api/v1/login") != 0 && !guard_knows(server, request))
		reply_error(reply, HTTP_UNAUTHORIZED,
			    "You are not logged in: open the address that helio view printed, or "
			    "start it again");
	else
		return true;
	return false;
}
