/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client for all questions: it keeps its connection.  Its library brings
 * curl and a score of others, which is why it is not linked with.
 *
 * A server may be far away, or hostile: who waits is told of it, an answer that is too large is
 * refused, and a server that gives none is not asked again.  The library's own limits are wide (90
 * s for each file, any size), and its limit of the size believes what the server says of it.
 */
#include "object/elf/debuginfod.h"

#include "base/terminal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
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

struct client {
	void *handle;
	debug_file_call *find_debug_file;
	source_call *find_source;
	unsigned long long most; /* bytes of an answer */
};

/* What is being asked for; the library gives its callback nothing of ours in old versions. */
struct question {
	const char *name;
	time_t begin; /* s */
	bool was_told;
	bool is_endless, is_large, is_cancelled; /* why it was given up */
};

static struct client client;
static struct question question;
static bool (*is_cancelled)(void);

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

/* Called several times a second.  `done`: bytes of an answer that has begun.  1: to be given up. */
static int watch(void *handle, long done, long all)
{
	enum { PATIENCE_S = 2 };

	(void)handle;
	if (!question.was_told && now_s() - question.begin >= PATIENCE_S) {
		question.was_told = true;
		erase_progress();
		terminal_printf(stderr,
				"Asking debuginfod at %s for %s; Ctrl-C ends that, an empty "
				"DEBUGINFOD_URLS asks nobody\n",
				getenv("DEBUGINFOD_URLS"), question.name);
	}
	question.is_large = all > 0 && (unsigned long long)all > client.most;
	question.is_endless =
		!question.is_large && done > 0 && (unsigned long long)done > client.most;
	question.is_cancelled = is_cancelled && is_cancelled();
	return question.is_large || question.is_endless || question.is_cancelled;
}

/* What the user has not said. */
static void set_limits(void)
{
	setenv("DEBUGINFOD_MAXSIZE", "1073741824", 0);
	setenv("DEBUGINFOD_TIMEOUT", "30", 0); /* s for 100 KB, or for the first word */
	setenv("DEBUGINFOD_MAXTIME", "300", 0);
	setenv("DEBUGINFOD_RETRY_LIMIT", "1", 0);
	client.most = strtoull(getenv("DEBUGINFOD_MAXSIZE"), NULL, 10);
	if (!client.most)
		client.most = ~0ull;
}

/*
 * Version 0.188 of the library prints what it does to descriptor -1, where nobody has asked for it:
 * the C library then loses 8 KB at each question.
 */
static void print_nowhere(void *library)
{
	verbose_call *set_verbose = (verbose_call *)dlsym(library, "debuginfod_set_verbose_fd");
	int nowhere = set_verbose && !getenv("DEBUGINFOD_VERBOSE")
			      ? open("/dev/null", O_WRONLY | O_CLOEXEC)
			      : -1;

	if (nowhere >= 0)
		set_verbose(client.handle, nowhere);
}

static void start(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *library = urls && *urls ? dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;
	begin_call *begin = library ? (begin_call *)dlsym(library, "debuginfod_begin") : NULL;

	if (begin)
		set_limits();
	client.handle = begin ? begin() : NULL;
	if (!client.handle)
		return;
	watch_call *set_watch = (watch_call *)dlsym(library, "debuginfod_set_progressfn");

	client.find_debug_file = (debug_file_call *)dlsym(library, "debuginfod_find_debuginfo");
	client.find_source = (source_call *)dlsym(library, "debuginfod_find_source");
	if (set_watch)
		set_watch(client.handle, watch);
	print_nowhere(library);
}

static void begin_question(const char *name)
{
	static bool has_started;

	if (!has_started)
		start();
	has_started = true;
	question = (struct question){.name = name, .begin = now_s()};
}

/* Closes what was opened, only the path in the cache is wanted; or sees why there is no answer. */
static char *end_question(int fd, char *path)
{
	bool is_late = fd == -ETIME || fd == -ETIMEDOUT;

	if (fd >= 0) {
		close(fd);
		return path;
	}
	if (!is_late && !question.is_large && !question.is_endless)
		return NULL;
	erase_progress();
	terminal_printf(
		stderr, "Warning: %s: the answer of debuginfod %s\n", question.name,
		is_late ? "did not come in time (DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME): "
			  "no more questions are asked"
		: question.is_large
			? "would be larger than DEBUGINFOD_MAXSIZE: it is refused"
			: "was larger than DEBUGINFOD_MAXSIZE, which it did not say: no more "
			  "questions are asked");
	if (!question.is_large) {
		client.find_debug_file = NULL;
		client.find_source = NULL;
	}
	return NULL;
}

/* One question at a time: the library's client and what is known of a question are one. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

char *debuginfod_debug_file(const char *build_id, const char *name)
{
	char *path = NULL;
	int fd = -1;

	pthread_mutex_lock(&turn);
	begin_question(name);
	/* length 0: the build-id is text */
	if (client.find_debug_file)
		fd = client.find_debug_file(client.handle, (const unsigned char *)build_id, 0,
					    &path);
	path = end_question(fd, path);
	pthread_mutex_unlock(&turn);
	return path;
}

char *debuginfod_source(const char *build_id, const char *path)
{
	char *found = NULL;
	int fd = -1;

	pthread_mutex_lock(&turn);
	begin_question(path);
	if (client.find_source)
		fd = client.find_source(client.handle, (const unsigned char *)build_id, 0, path,
					&found);
	found = end_question(fd, found);
	pthread_mutex_unlock(&turn);
	return found;
}

void debuginfod_watch(bool (*cancelled)(void))
{
	is_cancelled = cancelled;
}
