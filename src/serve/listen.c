/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both loopback addresses are taken, where there are both: else "localhost" could lead to a server
 * of another user.
 */
#include "serve/listen.h"

#include <errno.h>
#include <netinet/in.h>
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

/* Whether a socket is there that nobody listens on any more: it is removed. */
static bool remove_stale(const struct sockaddr_un *address)
{
	struct stat info;
	int fd;
	bool refused;

	if (lstat(address->sun_path, &info) || !S_ISSOCK(info.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
		  errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused && !unlink(address->sun_path);
}

enum status listen_unix(const char *path, struct listeners *listeners, struct diag_list *diags)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		diag_add(diags, DIAG_ERROR, "The path of a socket has at most %zu bytes: %s",
			 sizeof(address.sun_path) - 1, path);
		return STATUS_INVALID;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	mask = umask(0177); /* from the first moment on nobody else's */
	fd = listen_at((struct sockaddr *)&address, sizeof(address));
	if (fd < 0 && errno == EADDRINUSE && remove_stale(&address))
		fd = listen_at((struct sockaddr *)&address, sizeof(address));
	int error = errno;

	umask(mask);
	if (fd < 0) {
		diag_add(diags, DIAG_ERROR, "Cannot listen on %s: %s", path, strerror(error));
		return STATUS_IO;
	}
	*listeners = (struct listeners){.fds = {fd}, .count = 1, .path = path};
	return STATUS_OK;
}

void listen_end(struct listeners *listeners)
{
	if (listeners->path)
		unlink(listeners->path);
}
