/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a request: a line with the method and the target, lines of headers, an empty line,
 * the body.  It is answered over a small experiment, but for what runs programs or writes files. No
 * data is given to who lacks the key or has come by another name, and what is answered is JSON.
 */
#include "print_golden.h"

#include "serve/server.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORT = 8080 };

static const char key[] = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";
static struct server server;

static void begin(void)
{
	static const char *const experiments[] = {"golden.1.er"};
	static const struct serve_config config = {.program = "helio view",
						   .experiments = (char *const *)experiments,
						   .experiment_count = 1};
	const struct timespec moment = {.tv_nsec = 1000000};

	golden_begin();
	if (!server_init(&server, &config))
		abort();
	server.port = PORT;
	memcpy(server.tokens.bearer, key, sizeof(key));
	memcpy(server.tokens.cookie, key, sizeof(key));
	struct view_session *view = sessions_open_later(&server, config.experiments, 1);

	for (bool open = false; !open; nanosleep(&moment, NULL)) {
		pthread_mutex_lock(&server.lock);
		open = view->answerer;
		pthread_mutex_unlock(&server.lock);
	}
}

static void take_header(struct request *request, char *line)
{
	const struct {
		const char *name;
		const char **value;
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
	char *value = strchr(line, ':');

	if (!value)
		return;
	*value++ = '\0';
	value += *value == ' ';
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!strcasecmp(line, wanted[i].name)) {
			request->repeated += *wanted[i].value != NULL;
			*wanted[i].value = value;
		}
}

/* The target without the part behind ?. */
static bool take_line(struct request *request, char *line)
{
	char *target = strchr(line, ' ');

	if (!target)
		return false;
	*target++ = '\0';
	target[strcspn(target, " ")] = '\0';
	request->method = line;
	request->path = target;
	char *question = strchr(target, '?');

	if (question) {
		*question = '\0';
		request->query = question + 1;
	}
	return true;
}

static bool runs_or_writes(const char *path)
{
	static const char *const names[] = {"record", "stop", "experiments", "doctor",
					    "notes",  "save", "quit"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(path, names[i]))
			return true;
	return false;
}

static bool may_have_data(const struct request *request)
{
	static const char *const hosts[] = {"127.0.0.1:8080", "localhost:8080", "[::1]:8080"};
	bool is_ours = false;

	for (int i = 0; i < 3; i++)
		is_ours |= request->host && !strcasecmp(request->host, hosts[i]);
	return is_ours && ((request->authorization && strstr(request->authorization, key)) ||
			   (request->cookie && strstr(request->cookie, key)));
}

static void check(const struct request *request, const struct reply *reply)
{
	bool is_data = !strncmp(request->path, "/api/", 5) &&
		       strcmp(request->path, "/api/v1/login") != 0 && reply->status < 300;

	if (!reply->status || (is_data && !may_have_data(request)))
		abort();
	if (reply->type && strstr(reply->type, "json")) {
		json_t *value =
			json_loadb(reply->body.text, reply->body.length, JSON_DECODE_ANY, NULL);

		if (!value)
			abort();
		json_decref(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	char *text = xstrndup((const char *)data, size), *rest = text, *line;
	struct request request = {.peer = -1};
	struct reply reply = {0};

	if (!begun)
		begin();
	begun = true;
	if (take_line(&request, strsep(&rest, "\n")) && !runs_or_writes(request.path)) {
		while ((line = strsep(&rest, "\n")) && *line)
			take_header(&request, line);
		request.body = rest;
		request.body_size = rest ? strlen(rest) : 0;
		server_answer(&server, &request, &reply);
		check(&request, &reply);
		reply_fini(&reply);
	}
	free(text);
	return 0;
}
