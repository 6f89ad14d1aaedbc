/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client keeps its connection.  Its library brings curl and a score of others, which is why it is
 * not linked with.
 *
 * A server may be far away, or hostile: who waits is told of it, an answer that is too large is
 * refused, and a server that gives none is not asked again.  The library's own limits are wide (90
 * s for each file, any size), and its limit of the size believes what the server says of it.
 */
#include "object/elf/debuginfod.h"

#include "base/memory.h"
#include "base/terminal.h"
#include "object/elf/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"

typedef void *begin_call(void);
typedef int progress_call(void *client, long done, long all);
typedef void watch_call(void *client, progress_call *progress);
typedef void verbose_call(void *client, int fd);
typedef int debug_file_call(void *client, const unsigned char *build_id, int length, char **path);
typedef int source_call(void *client, const unsigned char *build_id, int length, const char *name,
			char **path);

/* Who asks, and what; the library gives its callback nothing of ours in old versions. */
struct question {
	const char *name;
	time_t begin; /* s */
	bool was_told;
	bool is_endless, is_large, is_cancelled; /* why it was given up */
};

struct client {
	void *handle;
	debug_file_call *find_debug_file;
	source_call *find_source;
	unsigned long long most; /* bytes of an answer */
	bool has_started;
	bool (*is_cancelled)(void);
	struct question question;
	pthread_mutex_t turn; /* one question at a time */
};

/* One for who waits for an answer, one for who does not: neither has to wait for the other's. */
static struct client waiting = {.turn = PTHREAD_MUTEX_INITIALIZER};
static struct client later = {.turn = PTHREAD_MUTEX_INITIALIZER};

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The line that says how far long work is may stand there. */
static void erase_progress(void)
{
	if (isatty(STDERR_FILENO))
		terminal_control(stderr, "\r\033[K");
}

static void tell(struct question *question)
{
	enum { PATIENCE_S = 2 };

	if (question->was_told || now_s() - question->begin < PATIENCE_S)
		return;
	question->was_told = true;
	erase_progress();
	terminal_printf(stderr,
			"Asking debuginfod at %s for %s; Ctrl-C ends that, an empty "
			"DEBUGINFOD_URLS asks nobody\n",
			getenv("DEBUGINFOD_URLS"), question->name);
}

/* Called several times a second.  `done`: bytes of an answer that has begun.  1: to be given up. */
static int watch(void *handle, long done, long all)
{
	struct client *client = handle == later.handle ? &later : &waiting;
	struct question *question = &client->question;

	if (client == &waiting)
		tell(question);
	question->is_large = all > 0 && (unsigned long long)all > client->most;
	question->is_endless =
		!question->is_large && done > 0 && (unsigned long long)done > client->most;
	question->is_cancelled = client->is_cancelled && client->is_cancelled();
	return question->is_large || question->is_endless || question->is_cancelled;
}

/* What the user has not said. */
static void set_limits(void)
{
	setenv("DEBUGINFOD_MAXSIZE", "1073741824", 0);
	setenv("DEBUGINFOD_TIMEOUT", "30", 0); /* s for 100 KB, or for the first word */
	setenv("DEBUGINFOD_MAXTIME", "300", 0);
	setenv("DEBUGINFOD_RETRY_LIMIT", "1", 0);
}

static unsigned long long most_bytes(void)
{
	unsigned long long most = strtoull(getenv("DEBUGINFOD_MAXSIZE"), NULL, 10);

	return most ? most : ~0ull;
}

/*
 * Version 0.188 of the library prints what it does to descriptor -1, where nobody has asked for it:
 * the C library then loses 8 KB at each question.
 */
static void print_nowhere(void *library, void *handle)
{
	verbose_call *set_verbose = (verbose_call *)dlsym(library, "debuginfod_set_verbose_fd");
	int nowhere = set_verbose && !getenv("DEBUGINFOD_VERBOSE")
			      ? open("/dev/null", O_WRONLY | O_CLOEXEC)
			      : -1;

	if (nowhere >= 0)
		set_verbose(handle, nowhere);
}

static bool has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

static void start(struct client *client)
{
	void *library = has_servers() ? dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;
	begin_call *begin = library ? (begin_call *)dlsym(library, "debuginfod_begin") : NULL;

	if (begin)
		set_limits();
	client->handle = begin ? begin() : NULL;
	if (!client->handle)
		return;
	watch_call *set_watch = (watch_call *)dlsym(library, "debuginfod_set_progressfn");

	client->most = most_bytes();
	client->find_debug_file = (debug_file_call *)dlsym(library, "debuginfod_find_debuginfo");
	client->find_source = (source_call *)dlsym(library, "debuginfod_find_source");
	if (set_watch)
		set_watch(client->handle, watch);
	print_nowhere(library, client->handle);
}

/* Takes the client, which end_question() gives back. */
static void begin_question(struct client *client, const char *name)
{
	pthread_mutex_lock(&client->turn);
	if (!client->has_started)
		start(client);
	client->has_started = true;
	client->question = (struct question){.name = name, .begin = now_s()};
}

static void say_failed(const struct question *question, bool is_late)
{
	erase_progress();
	terminal_printf(
		stderr, "Warning: %s: the answer of debuginfod %s\n", question->name,
		is_late ? "did not come in time (DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME): "
			  "no more questions are asked"
		: question->is_large
			? "would be larger than DEBUGINFOD_MAXSIZE: it is refused"
			: "was larger than DEBUGINFOD_MAXSIZE, which it did not say: no more "
			  "questions are asked");
}

/* Closes what was opened, only the path in the cache is wanted; or sees why there is no answer. */
static char *end_question(struct client *client, int fd, char *path)
{
	const struct question *question = &client->question;
	bool is_late = fd == -ETIME || fd == -ETIMEDOUT;

	if (fd >= 0) {
		close(fd);
	} else {
		path = NULL;
		if (is_late || question->is_large || question->is_endless)
			say_failed(question, is_late);
		if (is_late || question->is_endless) {
			client->find_debug_file = NULL;
			client->find_source = NULL;
		}
	}
	pthread_mutex_unlock(&client->turn);
	return path;
}

static char *ask_debug_file(struct client *client, const char *build_id, const char *name)
{
	char *path = NULL;
	int fd = -1;

	begin_question(client, name);
	/* length 0: the build-id is text */
	if (client->find_debug_file)
		fd = client->find_debug_file(client->handle, (const unsigned char *)build_id, 0,
					     &path);
	return end_question(client, fd, path);
}

char *debuginfod_source(const char *build_id, const char *path)
{
	char *found = NULL;
	int fd = -1;

	begin_question(&waiting, path);
	if (waiting.find_source)
		fd = waiting.find_source(waiting.handle, (const unsigned char *)build_id, 0, path,
					 &found);
	return end_question(&waiting, fd, found);
}

void debuginfod_watch(bool (*cancelled)(void))
{
	waiting.is_cancelled = cancelled;
}

/* ---- questions that are put off ---- */

struct wanted {
	char *build_id, *name;
	char *path; /* the answer: in the library's cache, or NULL */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_t thread;
	bool is_on, has_thread;
	_Atomic bool is_ending;
	VEC(struct wanted) wanted; /* each build-id once */
	size_t answered;	   /* the first of them */
	struct debuginfod_awaited state;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static bool is_ending(void)
{
	return queue.is_ending;
}

/* A path's file, if it has anything in it: an empty one says that no server has it. */
static char *if_full(char *path)
{
	struct stat status;
	int fd;

	if (!file_open_regular(path, &fd, &status)) {
		close(fd);
		if (status.st_size > 0)
			return path;
	}
	free(path);
	return NULL;
}

/* What the library got before, where its manual says that it is: debuginfod_find_debuginfo(3). */
static char *kept_file(const char *build_id)
{
	const char *path = getenv("DEBUGINFOD_CACHE_PATH"), *user = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *old;

	if (!*build_id || build_id[strspn(build_id, "0123456789abcdefABCDEF")])
		return NULL;
	home = home ? home : "";
	if (path && *path)
		return if_full(xasprintf("%s/%s/debuginfo", path, build_id));
	old = if_full(xasprintf("%s/.debuginfod_client_cache/%s/debuginfo", home, build_id));
	if (old)
		return old;
	if (user && *user)
		return if_full(xasprintf("%s/debuginfod_client/%s/debuginfo", user, build_id));
	return if_full(xasprintf("%s/.cache/debuginfod_client/%s/debuginfo", home, build_id));
}

/* With the lock: the next question is answered. */
static void ask_next(void)
{
	struct wanted wanted = queue.wanted.items[queue.answered];

	pthread_mutex_unlock(&queue.lock);
	wanted.path = ask_debug_file(&later, wanted.build_id, wanted.name);
	pthread_mutex_lock(&queue.lock);
	queue.wanted.items[queue.answered++].path = wanted.path;
	queue.state.found += wanted.path != NULL;
}

static void *ask_all(void *unused)
{
	pthread_mutex_lock(&queue.lock);
	while (!queue.is_ending) {
		if (queue.answered < queue.wanted.count)
			ask_next();
		else
			pthread_cond_wait(&queue.more, &queue.lock);
	}
	pthread_mutex_unlock(&queue.lock);
	return unused;
}

/* With the lock. */
static void add_question(const char *build_id, const char *name)
{
	*vec_push(&queue.wanted) =
		(struct wanted){.build_id = xstrdup(build_id), .name = xstrdup(name)};
	if (!queue.has_thread)
		queue.has_thread = !pthread_create(&queue.thread, NULL, ask_all, NULL);
	pthread_cond_signal(&queue.more);
}

/* With the lock. */
static char *answer_or_put_off(const char *build_id, const char *name)
{
	size_t i = 0;

	while (i < queue.wanted.count && strcmp(queue.wanted.items[i].build_id, build_id) != 0)
		i++;
	if (i < queue.answered)
		return queue.wanted.items[i].path ? xstrdup(queue.wanted.items[i].path) : NULL;
	if (i == queue.wanted.count)
		add_question(build_id, name);
	queue.state.put_off++;
	return NULL;
}

char *debuginfod_debug_file(const char *build_id, const char *name)
{
	char *path;

	if (!queue.is_on)
		return ask_debug_file(&waiting, build_id, name);
	path = kept_file(build_id);
	if (path)
		return path;
	pthread_mutex_lock(&queue.lock);
	path = queue.is_ending ? NULL : answer_or_put_off(build_id, name);
	pthread_mutex_unlock(&queue.lock);
	return path;
}

void debuginfod_put_off(void)
{
	if (!has_servers())
		return;
	set_limits();
	later.is_cancelled = is_ending;
	queue.is_on = true;
}

struct debuginfod_awaited debuginfod_awaited(void)
{
	struct debuginfod_awaited state;

	pthread_mutex_lock(&queue.lock);
	state = queue.state;
	state.waiting = queue.has_thread ? queue.wanted.count - queue.answered : 0;
	state.name = state.waiting ? queue.wanted.items[queue.answered].name : "";
	pthread_mutex_unlock(&queue.lock);
	return state;
}

void debuginfod_put_off_end(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.is_ending = true;
	pthread_cond_signal(&queue.more);
	pthread_mutex_unlock(&queue.lock);
	if (queue.has_thread)
		pthread_join(queue.thread, NULL);
	queue.has_thread = false;
}
