/* SPDX-License-Identifier: Apache-2.0 */
/* Requests being answered: their progress, and how they are cancelled. */
#include "base/json.h"
#include "serve/server.h"

#include <string.h>

struct running *running_begin(struct server *server, const struct request *request, const char *id)
{
	struct running *running = NULL;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < SERVER_RUNNING && !running; i++)
		if (!server->running[i].used)
			running = &server->running[i];
	if (running) {
		running->used = true;
		running->request = request;
		running->server = server;
		running->done = 0;
		running->cancelled = false;
		snprintf(running->id, sizeof(running->id), "%s", id ? id : "");
	}
	pthread_mutex_unlock(&server->lock);
	return running; /* there are as many as connections to both addresses */
}

void running_end(struct running *running)
{
	struct server *server = running->server;

	pthread_mutex_lock(&server->lock);
	running->used = false;
	pthread_mutex_unlock(&server->lock);
}

bool running_tell(void *data, double done)
{
	struct running *running = data;

	running->done = done;
	if (running->cancelled || running->server->ending || request_is_left(running->request))
		running->cancelled = true;
	return !running->cancelled;
}

/* With the lock. NULL: it has ended, or never was. */
static struct running *find(struct server *server, const char *id)
{
	for (size_t i = 0; id && *id && i < SERVER_RUNNING; i++)
		if (server->running[i].used && !strcmp(server->running[i].id, id))
			return &server->running[i];
	return NULL;
}

void serve_progress(struct server *server, const struct request *request, json_t *body,
		    struct reply *reply)
{
	char *id = request_argument(request, "id");
	double done = -1;

	pthread_mutex_lock(&server->lock);
	struct running *running = find(server, id);

	if (running)
		done = running->done;
	pthread_mutex_unlock(&server->lock);
	if (done < 0)
		reply_error(reply, HTTP_NOT_FOUND, "No request of that id is being answered");
	else
		reply_json(reply, json_pack("{s:f}", "done", done > 1 ? 1 : done));
	free(id);
}

void serve_cancel(struct server *server, const struct request *request, json_t *body,
		  struct reply *reply)
{
	pthread_mutex_lock(&server->lock);
	struct running *running = find(server, body_text(body, "id"));

	if (running)
		running->cancelled = true;
	pthread_mutex_unlock(&server->lock);
	reply_nothing(reply);
}
