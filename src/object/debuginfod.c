/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client for all questions: it keeps its connection.  Its library brings
 * curl and a score of others, which is why it is not linked with.
 */
#include "object/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"

typedef void *begin_call(void);
typedef int debug_file_call(void *client, const unsigned char *build_id, int length, char **path);
typedef int source_call(void *client, const unsigned char *build_id, int length, const char *name,
			char **path);

struct client {
	void *handle;
	debug_file_call *find_debug_file;
	source_call *find_source;
};

static struct client start(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *library = urls && *urls ? dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;
	begin_call *begin = library ? (begin_call *)dlsym(library, "debuginfod_begin") : NULL;
	struct client client = {.handle = begin ? begin() : NULL};

	if (client.handle) {
		client.find_debug_file =
			(debug_file_call *)dlsym(library, "debuginfod_find_debuginfo");
		client.find_source = (source_call *)dlsym(library, "debuginfod_find_source");
	}
	return client;
}

static struct client *get_client(void)
{
	static struct client client;
	static int has_started;

	if (!has_started)
		client = start();
	has_started = 1;
	return &client;
}

/* Closes what was opened; only the path in the cache is wanted. */
static char *take_path(int fd, char *path)
{
	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}

char *debuginfod_debug_file(const char *build_id)
{
	struct client *client = get_client();
	char *path = NULL;
	int fd = -1;

	/* length 0: the build-id is text */
	if (client->find_debug_file)
		fd = client->find_debug_file(client->handle, (const unsigned char *)build_id, 0,
					     &path);
	return take_path(fd, path);
}

char *debuginfod_source(const char *build_id, const char *path)
{
	struct client *client = get_client();
	char *found = NULL;
	int fd = -1;

	if (client->find_source)
		fd = client->find_source(client->handle, (const unsigned char *)build_id, 0, path,
					 &found);
	return take_path(fd, found);
}
