/* SPDX-License-Identifier: Apache-2.0 */
/* What the requests of one server share.  Private to this module. */
#ifndef HELIO_SERVE_SERVER_H
#define HELIO_SERVE_SERVER_H

#include "base/memory.h"
#include "print/answer.h"
#include "serve/recording.h"
#include "serve/request.h"
#include "serve/serve.h"
#include "serve/token.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
	SERVER_CONNECTIONS = 32,
	SERVER_SESSIONS = 24,	/* that are open at once */
	SERVER_RUNNING = 64,	/* requests with an id at work */
	SERVER_RECORDINGS = 64, /* that are remembered */
	REQUEST_ID_MOST = 64,
};

/* A session of the API: experiments that are open, or being opened. */
struct view_session {
	uint32_t id;
	char **paths;
	size_t path_count;
	struct answerer *answerer; /* NULL: being opened, or it failed */
	struct diag_list messages; /* of opening */
	bool failed;
	unsigned users; /* requests that use it */
	bool closed;	/* freed when the last of them has ended */
	_Atomic double done;
	size_t names_found; /* answer_names() as it was opened */
};

/* A request being answered, whose progress may be asked for. */
struct running {
	char id[REQUEST_ID_MOST + 1]; /* "": none */
	const struct request *request;
	struct server *server;
	_Atomic double done;
	atomic_bool cancelled;
	bool used;
};

struct server {
	const struct serve_config *config;
	struct tokens tokens;
	unsigned port;	       /* 0: a socket, which has any */
	char *directory;       /* of the start */
	int folder;	       /* … the same, open (base/folder.h) */
	pthread_mutex_t lock;  /* of all that follows */
	pthread_cond_t opened; /* a session has been opened, or has failed */
	VEC(struct view_session *) sessions;
	uint32_t last_session;
	struct running running[SERVER_RUNNING];
	VEC(struct recording) recordings;
	/* without the lock */
	pthread_mutex_t writing;     /* held while a file is written: one at a time */
	atomic_uint at_work;	     /* requests */
	_Atomic double last_request; /* s, monotonic */
	atomic_bool ending;
	int wake; /* written to when it shall end */
};

bool server_init(struct server *server, const struct serve_config *config);
void server_fini(struct server *server);
/* Ends it, from any thread or a signal's handler. */
void server_end(struct server *server);
double server_now(void);

/* sessions.c */
/* Opens experiments in another thread, as the first session: there is room for it. */
struct view_session *sessions_open_later(struct server *server, char *const *paths, size_t count);
/* The session, when it is open; to be put back. NULL: a reply has been made. */
struct view_session *sessions_get(struct server *server, uint32_t id, struct running *running,
				  struct reply *reply);
void sessions_put(struct server *server, struct view_session *view);

/* running.c */
/* Takes a request's id into the list, which has room for as many as there may be connections. */
struct running *running_begin(struct server *server, const struct request *request, const char *id);
void running_end(struct running *running);
/* For watches: how far it is; false: cancelled, the client has gone, or the server ends. */
bool running_tell(void *running, double done);

/* What a request of the table is answered by; body NULL: it had none. */
typedef void route_handler(struct server *server, const struct request *request, json_t *body,
			   struct reply *reply);

route_handler serve_login, serve_bootstrap, serve_print, serve_progress, serve_cancel, serve_open,
	serve_names, serve_refresh, serve_close, serve_experiments, serve_doctor, serve_options,
	serve_record, serve_recordings, serve_stop, serve_notes, serve_save, serve_quit;

/* router.c: guard, then the table. */
void server_answer(struct server *server, const struct request *request, struct reply *reply);
/* guard.c: false: a reply has been made. head: the body is not there yet. */
bool guard_admits(struct server *server, const struct request *request, struct reply *reply);
/* Whether a request has the cookie or the key. */
bool guard_knows(struct server *server, const struct request *request);
/* "helio-PORT" of the address that the request came by, the caller's to free. */
char *guard_cookie_name(const struct server *server, const struct request *request);

/* static.c */
/* What to do where the program was built without the page; NULL: it has one. */
const char *static_missing(void);
/* A file of the page. False: there is none by that path. */
bool static_answer(const char *path, struct reply *reply);

/* Of a body's member; NULL: it is not there, or of another type. */
const char *body_text(json_t *body, const char *name);
/* An array of texts as words, to be freed with words_free(). False: it is none. */
bool body_words(json_t *array, struct answer_words *words);
void words_free(struct answer_words *words);

#endif
