/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both loopback addresses are taken, where there are both: else "localhost" could lead to a server
 * of another user.
 */
#include "serve/listen.h"

#include "base/file_map.h"
#include "base/folder.h"
#include "base/memory.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 32, TRIES = 20 };

/* -1: errno says why. */
static int listen_at(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		return -1;
	if (address->sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind(fd, address, size) && !listen(fd, BACKLOG))
		return fd;
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

static int listen_v4(unsigned *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)*port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = listen_at((struct sockaddr *)&address, sizeof(address));

	if (fd >= 0 && !getsockname(fd, (struct sockaddr *)&address, &size))
		*port = ntohs(address.sin_port);
	return fd;
}

static int listen_v6(unsigned port)
{
	const struct sockaddr_in6 address = {.sin6_family = AF_INET6,
					     .sin6_port = htons((uint16_t)port),
					     .sin6_addr = IN6ADDR_LOOPBACK_INIT};

	return listen_at((const struct sockaddr *)&address, sizeof(address));
}

/* False: the port is another's on one of the addresses. */
static bool try(unsigned port, struct listeners *listeners)
{
	*listeners = (struct listeners){.port = port};
	listeners->fds[0] = listen_v4(&listeners->port);
	if (listeners->fds[0] < 0)
		return false;
	listeners->fds[1] = listen_v6(listeners->port);
	if (listeners->fds[1] < 0 && errno == EADDRINUSE) {
		close(listeners->fds[0]);
		errno = EADDRINUSE;
		return false;
	}
	listeners->count = listeners->fds[1] < 0 ? 1 : 2;
	return true;
}

enum status listen_loopback(unsigned port, struct listeners *listeners, struct diag_list *diags)
{
	int error;

	for (int i = 0; i < (port ? 1 : TRIES); i++)
		if (try(port, listeners))
			return STATUS_OK;
	error = errno;
	if (port && error == EADDRINUSE)
		diag_add(diags, DIAG_ERROR,
			 "Port %u is in use: leave --port out, and a free one is taken", port);
	else
		diag_add(diags, DIAG_ERROR, "Cannot listen on the loopback address: %s",
			 strerror(error));
	return STATUS_IO;
}

/* ---- a socket with a name ---- */

/* Its directory, which stays the same whatever its path leads to later; -1: diags says why. */
static int open_directory(const char *path, const char *name, struct diag_list *diags)
{
	char *before = name > path ? xstrndup(path, (size_t)(name - path)) : xstrdup(".");
	int folder = folder_make_named(before, 0);
	struct stat info;

	if (folder < 0) {
		diag_add(diags, DIAG_ERROR, "Cannot listen on %s: %s", path,
			 errno == EPERM ? "a link of another user's is in the path"
					: strerror(errno));
	} else if (fstat(folder, &info) || !file_keeps_its_names(&info)) {
		diag_add(diags, DIAG_ERROR,
			 "Cannot listen on %s: others could put a socket of theirs in its place; "
			 "name one in a directory of your own",
			 path);
		folder_close(folder);
		folder = -1;
	}
	free(before);
	return folder;
}

/* The same file by a path that nobody can change. */
static struct sockaddr_un address_of(int folder, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, name);
	return address;
}

/* Whether a socket is there that nobody listens on any more: it is removed. */
static bool remove_stale(int folder, const char *name)
{
	struct sockaddr_un address = address_of(folder, name);
	struct stat info;
	int fd;
	bool refused;

	if (!folder_stat(folder, name, &info) || !S_ISSOCK(info.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	refused = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) &&
		  errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused && !unlinkat(folder, name, 0);
}

/* -1: errno says why. */
static int listen_in(int folder, const char *name)
{
	struct sockaddr_un address = address_of(folder, name);
	mode_t mask = umask(0177); /* from the first moment on nobody else's */
	int fd = listen_at((struct sockaddr *)&address, sizeof(address));

	if (fd < 0 && errno == EADDRINUSE && remove_stale(folder, name))
		fd = listen_at((struct sockaddr *)&address, sizeof(address));
	int error = errno;

	umask(mask);
	errno = error;
	return fd;
}

enum status listen_unix(const char *path, struct listeners *listeners, struct diag_list *diags)
{
	/* clients connect by the whole path, this program by the name in /proc/self/fd/N/ */
	enum { LONGEST = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1, LONGEST_NAME = 80 };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat info = {0};

	if (strlen(path) > LONGEST || strlen(name) > LONGEST_NAME) {
		diag_add(diags, DIAG_ERROR,
			 "The path of a socket has at most %d bytes, %d of them behind the last "
			 "slash: %s",
			 LONGEST, LONGEST_NAME, path);
		return STATUS_INVALID;
	}
	int folder = open_directory(path, name, diags);
	int fd = folder < 0 ? -1 : listen_in(folder, name);

	if (folder < 0)
		return STATUS_IO;
	if (fd < 0) {
		diag_add(diags, DIAG_ERROR, "Cannot listen on %s: %s", path, strerror(errno));
		folder_close(folder);
		return STATUS_IO;
	}
	folder_stat(folder, name, &info);
	*listeners = (struct listeners){.fds = {fd},
					.count = 1,
					.path = path,
					.folder = folder,
					.device = info.st_dev,
					.inode = info.st_ino};
	return STATUS_OK;
}

void listen_end(struct listeners *listeners)
{
	const char *path = listeners->path, *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;
	struct stat info;

	if (!path)
		return;
	if (folder_stat(listeners->folder, name, &info) && info.st_dev == listeners->device &&
	    info.st_ino == listeners->inode)
		unlinkat(listeners->folder, name, 0);
	folder_close(listeners->folder);
}
