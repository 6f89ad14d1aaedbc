/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/browser.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/terminal.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORWARDED_PORT = 8080 }; /* what is proposed for a socket */

char *browser_address(const struct listeners *listeners, const struct tokens *tokens)
{
	return xasprintf("http://127.0.0.1:%u/#t=%s",
			 listeners->port ? listeners->port : FORWARDED_PORT, tokens->login);
}

/* "USER@HOST", as the other end of this ssh session knows it. */
static char *own_login(const char *connection)
{
	const struct passwd *user = getpwuid(getuid());
	char here[256] = "";

	sscanf(connection, "%*s %*s %255s", here); /* client, its port, server, its port */
	return xasprintf("%s%s%s", user ? user->pw_name : "", user ? "@" : "",
			 *here ? here : "THIS-MACHINE");
}

/* How one comes here from another machine. */
static void tell_ssh(const char *program, const struct listeners *listeners, const char *connection)
{
	char *login = connection ? own_login(connection) : xstrdup("USER@THIS-MACHINE");
	char *real = listeners->path ? realpath(listeners->path, NULL) : NULL;

	if (listeners->path)
		terminal_printf(
			stdout,
			"%s: on the machine with the browser, run first: ssh -N -L %d:%s %s\n",
			program, FORWARDED_PORT, real ? real : listeners->path, login);
	else
		terminal_printf(stdout,
				"%s: on the machine with the browser, run first: ssh -N -L "
				"%u:127.0.0.1:%u %s\n",
				program, listeners->port, listeners->port, login);
	free(login);
	free(real);
}

void browser_tell(const char *program, const struct listeners *listeners,
		  const struct tokens *tokens, bool key)
{
	const char *connection = getenv("SSH_CONNECTION");
	char *address = browser_address(listeners, tokens);

	terminal_printf(stdout, "%s: %s\n", program, address);
	if (listeners->path || (connection && *connection))
		tell_ssh(program, listeners, connection);
	if (key)
		terminal_printf(stdout,
				"%s: for other programs, the header: Authorization: Bearer %s\n",
				program, tokens->bearer);
	terminal_printf(stdout, "%s: Ctrl-C ends it\n", program);
	fflush(stdout);
	free(address);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

bool browser_is_there(void)
{
	return is_set("BROWSER") ||
	       (!is_set("SSH_CONNECTION") && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")));
}

/* Digits and letters: nothing in it means anything to HTML. */
static bool write_page(int fd, const char *address)
{
	FILE *file = fdopen(fd, "w");

	if (!file) {
		close(fd);
		return false;
	}
	fprintf(file,
		"<!doctype html>\n<meta charset=\"utf-8\">\n<title>helio view</title>\n"
		"<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<a href=\"%s\">helio "
		"view</a>\n",
		address, address);
	return !fclose(file);
}

static bool spawn(const char *program, const char *file)
{
	char *words[] = {(char *)program, (char *)file, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	bool ok = !posix_spawnp(&pid, program, &actions, &attributes, words, environ);

	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return ok;
}

char *browser_open(const char *address)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
	const char *browsers[] = {is_set("BROWSER") ? getenv("BROWSER") : "xdg-open", "xdg-open",
				  "sensible-browser", "x-www-browser"};
	char *file =
		xasprintf("%s/helio-view-XXXXXX.html", runtime && *runtime == '/'	? runtime
						       : temporary && *temporary == '/' ? temporary
											: "/tmp");
	int fd = mkostemps(file, 5, O_CLOEXEC); /* 0600 */

	if (fd < 0) {
		free(file);
		return NULL;
	}
	if (write_page(fd, address))
		for (size_t i = 0; i < COUNT(browsers); i++)
			if (spawn(browsers[i], file))
				return file;
	browser_forget(file);
	return NULL;
}

void browser_forget(char *file)
{
	if (file)
		unlink(file);
	free(file);
}
