/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: lists of experiments that are open.  The first is opened while the server already
 * answers; others in the request that asks for them.  A session lives until it is closed and the
 * last request over it has ended.
 */
#include "base/json.h"
#include "serve/server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void view_session_free(struct view_session *view)
{
	answerer_close(view->answerer);
	for (size_t i = 0; i < view->path_count; i++)
		free(view->paths[i]);
	free(view->paths);
	diag_fini(&view->messages);
	free(view);
}

/* With the lock. NULL: there are too many. The first user is the caller. */
static struct view_session *add(struct server *server, char *const *paths, size_t count)
{
	struct view_session *view;

	if (server->sessions.count >= SERVER_SESSIONS)
		return NULL;
	view = xcalloc(1, sizeof(*view));
	view->id = ++server->last_session;
	view->path_count = count;
	view->users = 1;
	view->paths = xcalloc(count + 1, sizeof(*view->paths));
	for (size_t i = 0; i < count; i++)
		view->paths[i] = xstrdup(paths[i]);
	*vec_push(&server->sessions) = view;
	return view;
}

/* With the lock. */
static struct view_session *find(struct server *server, uint32_t id)
{
	for (size_t i = 0; i < server->sessions.count; i++)
		if (server->sessions.items[i]->id == id && !server->sessions.items[i]->closed)
			return server->sessions.items[i];
	return NULL;
}

/* With the lock. */
static void remove_unused(struct server *server, struct view_session *view)
{
	if (!view->closed || view->users)
		return;
	for (size_t i = 0; i < server->sessions.count; i++)
		if (server->sessions.items[i] == view)
			server->sessions.items[i] =
				server->sessions.items[--server->sessions.count];
	view_session_free(view);
}

void sessions_put(struct server *server, struct view_session *view)
{
	pthread_mutex_lock(&server->lock);
	view->users--;
	remove_unused(server, view);
	pthread_mutex_unlock(&server->lock);
}

/* ---- opening ---- */

struct opening {
	struct server *server;
	struct view_session *view;
	struct running *running; /* or NULL */
};

static bool tell(void *data, double done)
{
	struct opening *opening = data;

	opening->view->done = done;
	if (opening->running)
		return running_tell(opening->running, done);
	return !opening->server->ending;
}

/* Fills in the session. False: it cannot be opened, or nobody waits for it. */
static bool open_session(struct opening *opening)
{
	struct server *server = opening->server;
	struct view_session *view = opening->view;
	struct watch watch = {.tell = tell, .data = opening};
	struct diag_list messages = {0};
	struct answerer *answerer;
	size_t names_found = answer_names().found;
	enum status status =
		answerer_open(view->paths, view->path_count, &watch, &answerer, &messages);

	pthread_mutex_lock(&server->lock);
	view->messages = messages;
	view->names_found = names_found;
	view->answerer = status == STATUS_OK ? answerer : NULL;
	view->failed = status != STATUS_OK;
	pthread_cond_broadcast(&server->opened);
	pthread_mutex_unlock(&server->lock);
	return status == STATUS_OK;
}

static void *open_in_thread(void *data)
{
	struct opening *opening = data;

	open_session(opening);
	sessions_put(opening->server, opening->view);
	free(opening);
	return NULL;
}

struct view_session *sessions_open_later(struct server *server, char *const *paths, size_t count)
{
	struct opening *opening = xcalloc(1, sizeof(*opening));
	pthread_attr_t detached;
	pthread_t thread;

	pthread_mutex_lock(&server->lock);
	*opening = (struct opening){.server = server, .view = add(server, paths, count)};
	pthread_mutex_unlock(&server->lock);
	struct view_session *view = opening->view;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &detached, open_in_thread, opening))
		open_in_thread(opening);
	pthread_attr_destroy(&detached);
	return view;
}

/* ---- using ---- */

/* With the lock: waits until it is open. False: nobody waits any more. */
static bool wait_until_open(struct server *server, struct view_session *view,
			    struct running *running)
{
	while (!view->answerer && !view->failed) {
		struct timespec until;

		if (!running_tell(running, 0))
			return false;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 100000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&server->opened, &server->lock, &until);
	}
	return true;
}

static void say_failed(const struct view_session *view, struct reply *reply)
{
	for (size_t i = 0; i < view->messages.count; i++)
		if (view->messages.items[i].level == DIAG_ERROR) {
			reply_error(reply, HTTP_UNPROCESSABLE, "%s", view->messages.items[i].text);
			return;
		}
	reply_error(reply, HTTP_UNPROCESSABLE, "These experiments cannot be opened");
}

struct view_session *sessions_get(struct server *server, uint32_t id, struct running *running,
				  struct reply *reply)
{
	pthread_mutex_lock(&server->lock);
	struct view_session *view = find(server, id);
	bool waited = false;

	if (view) {
		view->users++;
		waited = wait_until_open(server, view, running);
	}
	bool is_there = waited && view->answerer;

	if (!view)
		reply_error(reply, HTTP_NOT_FOUND, "There is no session %u: open one", id);
	else if (!waited)
		reply_error(reply, HTTP_CONFLICT, "Cancelled");
	else if (!is_there)
		say_failed(view, reply);
	if (view && !is_there) {
		view->users--;
		remove_unused(server, view);
	}
	pthread_mutex_unlock(&server->lock);
	return is_there ? view : NULL;
}

/* ---- requests ---- */

/* Opens experiments in this thread and answers with the number. */
static void open_now(struct server *server, const struct request *request, const char *id,
		     char *const *paths, size_t count, struct reply *reply)
{
	struct opening opening = {.server = server};

	pthread_mutex_lock(&server->lock);
	opening.view = add(server, paths, count);
	pthread_mutex_unlock(&server->lock);
	if (!opening.view) {
		reply_error(reply, HTTP_TOO_MANY,
			    "%d sessions are open, and no more can be: close some",
			    SERVER_SESSIONS);
		return;
	}
	opening.running = running_begin(server, request, id);
	if (open_session(&opening)) {
		reply_json(reply, json_pack("{s:i}", "session", (int)opening.view->id));
	} else {
		pthread_mutex_lock(&server->lock);
		opening.view->closed = true;
		pthread_mutex_unlock(&server->lock);
		if (opening.running->cancelled)
			reply_error(reply, HTTP_CONFLICT, "Cancelled");
		else
			say_failed(opening.view, reply);
	}
	running_end(opening.running);
	sessions_put(server, opening.view);
}

/* Those that lie below the directory of the start, by a path without tricks; or that were named
 * then. */
static bool may_open(const struct server *server, const char *path)
{
	for (size_t i = 0; i < server->config->experiment_count; i++)
		if (!strcmp(path, server->config->experiments[i]))
			return true;
	if (!*path || *path == '/')
		return false;
	for (const char *part = path; *part;) {
		size_t length = strcspn(part, "/");

		if (!strncmp(part, "..", length) && length == 2)
			return false;
		part += length + (part[length] == '/');
	}
	return true;
}

void serve_open(struct server *server, const struct request *request, json_t *body,
		struct reply *reply)
{
	struct answer_words paths;

	if (!body_words(json_object_get(body, "experiments"), &paths) || !paths.count) {
		reply_error(reply, HTTP_BAD_REQUEST, "open takes \"experiments\", a list of paths");
		return;
	}
	for (size_t i = 0; i < paths.count; i++)
		if (!may_open(server, paths.items[i])) {
			reply_error(reply, HTTP_FORBIDDEN,
				    "%s is not in the directory in which helio view was started; "
				    "start it with that experiment",
				    paths.items[i]);
			words_free(&paths);
			return;
		}
	open_now(server, request, body_text(body, "id"), paths.items, paths.count, reply);
	words_free(&paths);
}

static uint32_t session_of(json_t *body)
{
	return (uint32_t)json_integer_value(json_object_get(body, "session"));
}

void serve_refresh(struct server *server, const struct request *request, json_t *body,
		   struct reply *reply)
{
	struct answer_words paths = {0};

	pthread_mutex_lock(&server->lock);
	struct view_session *view = find(server, session_of(body));

	for (size_t i = 0; view && i < view->path_count; i++) {
		paths.items = xrealloc(paths.items, (i + 1) * sizeof(*paths.items));
		paths.items[paths.count++] = xstrdup(view->paths[i]);
	}
	pthread_mutex_unlock(&server->lock);
	if (paths.count)
		open_now(server, request, body_text(body, "id"), paths.items, paths.count, reply);
	else
		reply_error(reply, HTTP_NOT_FOUND, "There is no session %u: open one",
			    session_of(body));
	words_free(&paths);
}

void serve_close(struct server *server, const struct request *request, json_t *body,
		 struct reply *reply)
{
	pthread_mutex_lock(&server->lock);
	struct view_session *view = find(server, session_of(body));

	if (view) {
		view->closed = true;
		remove_unused(server, view);
	}
	pthread_mutex_unlock(&server->lock);
	reply_nothing(reply);
}

/* ---- names that are still asked for ---- */

void serve_names(struct server *server, const struct request *request, json_t *body,
		 struct reply *reply)
{
	const struct answer_names names = answer_names();

	reply_json(reply, json_pack("{s:I, s:o, s:I}", "waiting", (json_int_t)names.waiting, "name",
				    json_text(names.name), "found", (json_int_t)names.found));
}

/* ---- bootstrap ---- */

static json_t *json_messages(const struct diag_list *messages)
{
	json_t *list = json_array();

	for (size_t i = 0; i < messages->count; i++)
		json_array_append_new(list, json_pack("{s:s, s:o}", "level",
						      diag_level_name(messages->items[i].level),
						      "text", json_text(messages->items[i].text)));
	return list;
}

static json_t *json_session(const struct view_session *view)
{
	json_t *paths = json_array(), *session;
	struct answer_experiment experiment;
	bool growing = false;

	for (size_t i = 0; i < view->path_count; i++)
		json_array_append_new(paths, json_text(view->paths[i]));
	for (size_t i = 0; view->answerer && answerer_experiment(view->answerer, i, &experiment);
	     i++)
		growing |= experiment.growing;
	session = json_pack("{s:i, s:o, s:b, s:o, s:I}", "id", (int)view->id, "experiments", paths,
			    "growing", (int)growing, "messages", json_messages(&view->messages),
			    "names_found", (json_int_t)view->names_found);
	if (!view->answerer && !view->failed)
		json_object_set_new(session, "opening", json_real(view->done));
	if (view->failed)
		json_object_set_new(session, "failed", json_true());
	return session;
}

static json_t *json_commands(struct answerer *answerer)
{
	json_t *list = json_array();
	struct answer_command command;

	for (size_t i = 0; answer_command_at(answerer, i, &command); i++) {
		json_t *row = json_pack(
			"{s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:o}", "name", command.name, "group",
			command.group, "arguments", command.arguments ? command.arguments : "",
			"options", command.options ? command.options : "", "help",
			command.help ? command.help : "", "refused", (int)command.refused,
			"available", !command.missing, "why", json_text(command.missing));

		json_array_append_new(list, row);
		free(command.missing);
	}
	return list;
}

void serve_bootstrap(struct server *server, const struct request *request, json_t *body,
		     struct reply *reply)
{
	json_t *sessions = json_array(), *commands;

	pthread_mutex_lock(&server->lock);
	struct answerer *first = NULL;

	for (size_t i = 0; i < server->sessions.count; i++) {
		struct view_session *view = server->sessions.items[i];

		if (view->closed)
			continue;
		json_array_append_new(sessions, json_session(view));
		first = first ? first : view->answerer;
	}
	commands = json_commands(first);
	pthread_mutex_unlock(&server->lock);
	reply_json(reply, json_pack("{s:s, s:o, s:o, s:b, s:o}", "version", HELIO_VERSION,
				    "sessions", sessions, "directory", json_text(server->directory),
				    "readonly", 0, "commands", commands));
}
