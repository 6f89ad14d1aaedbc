/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a server: it listens, opens the experiments, tells where it is, waits for its end. */
#include "serve/serve.h"

#include "base/folder.h"
#include "base/terminal.h"
#include "serve/browser.h"
#include "serve/http.h"
#include "serve/listen.h"
#include "serve/server.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 1000, PATIENCE_MS = 500, EXIT_FAILED = 1 };

double server_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bool server_init(struct server *server, const struct serve_config *config)
{
	*server = (struct server){.config = config, .last_request = server_now()};
	pthread_mutex_init(&server->lock, NULL);
	pthread_mutex_init(&server->writing, NULL);
	pthread_cond_init(&server->opened, NULL);
	server->directory = realpath(".", NULL);
	if (!server->directory)
		server->directory = xstrdup(".");
	server->folder = folder_open(".", 0);
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return tokens_make(&server->tokens) && server->wake >= 0;
}

void server_end(struct server *server)
{
	server->ending = true;
	eventfd_write(server->wake, 1);
}

/* Who still opens experiments is told to end, and waited for. */
static void close_sessions(struct server *server)
{
	const struct timespec moment = {.tv_nsec = 10000000};

	for (bool waits = true; waits;) {
		waits = false;
		pthread_mutex_lock(&server->lock);
		for (size_t i = 0; i < server->sessions.count; i++)
			waits |= server->sessions.items[i]->users > 0;
		pthread_mutex_unlock(&server->lock);
		if (waits)
			nanosleep(&moment, NULL);
	}
	while (server->sessions.count) {
		struct view_session *view = server->sessions.items[0];

		view->closed = true;
		view->users = 1;
		sessions_put(server, view);
	}
}

void server_fini(struct server *server)
{
	close_sessions(server);
	vec_fini(&server->sessions);
	for (size_t i = 0; i < server->recordings.count; i++)
		recording_fini(&server->recordings.items[i]);
	vec_fini(&server->recordings);
	pthread_mutex_destroy(&server->lock);
	pthread_mutex_destroy(&server->writing);
	pthread_cond_destroy(&server->opened);
	free(server->directory);
	folder_close(server->folder);
	if (server->wake >= 0)
		close(server->wake);
}

/* ---- the first session ---- */

static void say(const struct serve_config *config, const struct diag_list *diags)
{
	for (size_t i = 0; i < diags->count; i++)
		if (diags->items[i].level == DIAG_ERROR)
			terminal_printf(stderr, "%s: %s\n", config->program, diags->items[i].text);
}

/* False: it has failed by now, and that has been said. */
static bool wait_a_little(struct server *server, struct view_session *view)
{
	double begin = server_now();
	bool failed = false, opened = false;

	while (!failed && !opened && server_now() - begin < PATIENCE_MS / 1e3) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_mutex_lock(&server->lock);
		if (!view->failed && !view->answerer)
			pthread_cond_timedwait(&server->opened, &server->lock, &until);
		failed = view->failed;
		opened = view->answerer;
		pthread_mutex_unlock(&server->lock);
	}
	if (failed)
		say(server->config, &view->messages);
	return !failed;
}

static bool open_first(struct server *server)
{
	const struct serve_config *config = server->config;

	return !config->experiment_count ||
	       wait_a_little(server, sessions_open_later(server, config->experiments,
							 config->experiment_count));
}

/* ---- waiting ---- */

static bool is_idle(struct server *server)
{
	return server->config->idle_s > 0 && !server->at_work &&
	       server_now() - server->last_request > server->config->idle_s;
}

static bool is_logged_in(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	bool used = !*server->tokens.login;

	pthread_mutex_unlock(&server->lock);
	return used;
}

static void trim_recordings(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < server->recordings.count; i++)
		recording_trim(&server->recordings.items[i]);
	pthread_mutex_unlock(&server->lock);
}

static void wait_for_end(struct server *server, struct http *const *https, unsigned count,
			 int signals, char **page)
{
	struct pollfd events[] = {{.fd = signals, .events = POLLIN},
				  {.fd = server->wake, .events = POLLIN}};

	while (!server->ending) {
		if (poll(events, 2, TICK_MS) > 0 && events[0].revents)
			server->ending = true;
		for (unsigned i = 0; i < count; i++)
			http_tend(https[i]);
		trim_recordings(server);
		if (*page && is_logged_in(server)) {
			browser_forget(*page);
			*page = NULL;
		}
		if (is_idle(server)) {
			terminal_printf(stdout, "%s: no request for %g s: ended\n",
					server->config->program, server->config->idle_s);
			server->ending = true;
		}
	}
}

/* Replies that are on their way arrive; what is at work is told to end. */
static void wait_for_replies(struct server *server)
{
	const struct timespec moment = {.tv_nsec = 10000000};

	for (int i = 0; i < 200 && server->at_work; i++)
		nanosleep(&moment, NULL);
}

/* The page and the opening experiments are at work beside this thread: signals are for it alone. */
static int take_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* who starts us may ignore it: the status of children was lost */
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int serve(struct server *server, struct listeners *listeners, int signals)
{
	const struct serve_config *config = server->config;
	struct http *https[LISTENERS_MOST] = {0};
	char *page = NULL;
	const char *missing = http_load();
	bool ok = !missing;

	server->port = listeners->port;
	for (unsigned i = 0; ok && i < listeners->count; i++) {
		https[i] = http_start(server, listeners->fds[i]);
		ok &= https[i] != NULL;
	}
	if (!ok)
		terminal_printf(stderr, "%s: The server cannot be started%s%s\n", config->program,
				missing ? ": " : "", missing ? missing : "");
	ok = ok && open_first(server);
	if (ok) {
		bool opens = !config->no_open && !config->socket && browser_is_there();

		if (static_missing())
			terminal_printf(stderr, "%s: %s\n", config->program, static_missing());
		browser_tell(config->program, listeners, &server->tokens, config->no_open);
		if (opens) {
			char *address = browser_address(listeners, &server->tokens);

			page = browser_open(address);
			free(address);
		}
		wait_for_end(server, https, listeners->count, signals, &page);
	}
	server->ending = true;
	wait_for_replies(server);
	for (unsigned i = 0; i < listeners->count; i++)
		http_stop(https[i]);
	browser_forget(page);
	return ok ? 0 : EXIT_FAILED;
}

int serve_run(const struct serve_config *config)
{
	struct listeners listeners = {0};
	struct diag_list diags = {0};
	struct server server;
	int signals = take_signals(), status = EXIT_FAILED;

	answer_without_waiting();
	if (!server_init(&server, config))
		terminal_printf(stderr, "%s: The system has no random numbers\n", config->program);
	else if ((config->socket ? listen_unix(config->socket, &listeners, &diags)
				 : listen_loopback(config->port, &listeners, &diags)) == STATUS_OK)
		status = serve(&server, &listeners, signals);
	say(config, &diags);
	diag_fini(&diags);
	listen_end(&listeners);
	answer_without_waiting_end();
	server_fini(&server);
	if (signals >= 0)
		close(signals);
	return status;
}
