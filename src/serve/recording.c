/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is recorded goes on when the server ends: its output is a file in memory, and no pipe that
 * breaks; its process group is its own, so that Ctrl-C is not for it.
 */
#include "serve/recording.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char own_file[] = "/proc/self/exe";

/* words: argv, the first one "helio". errors: whether stderr goes to the output, too. */
static bool spawn(char *const *words, int output, bool errors, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	char file[4096];
	ssize_t length = readlink(own_file, file, sizeof(file) - 1);

	if (length < 0)
		return false;
	file[length] = '\0';
	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (errors)
		posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	bool ok = !posix_spawn(pid, file, &actions, &attributes, words, environ);

	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return ok;
}

static char **with_name(char *const *argv)
{
	size_t count = 0;
	char **words;

	while (argv[count])
		count++;
	words = xcalloc(count + 2, sizeof(*words));
	words[0] = "helio";
	memcpy(words + 1, argv, count * sizeof(*words));
	return words;
}

bool recording_start(struct recording *recording, char **argv)
{
	int output = memfd_create("recording", MFD_CLOEXEC);
	char **words = with_name(argv);
	bool ok = false;

	*recording = (struct recording){.output = output, .argv = argv};
	if (output >= 0) {
		fcntl(output, F_SETFL, O_APPEND);
		ok = spawn(words, output, true, &recording->pid);
	}
	if (!ok && output >= 0)
		close(output);
	free(words);
	return ok;
}

void recording_look(struct recording *recording)
{
	int status;

	if (recording->ended || waitpid(recording->pid, &status, WNOHANG) != recording->pid)
		return;
	recording->ended = true;
	recording->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void recording_trim(const struct recording *recording)
{
	enum { PAGE = 1 << 16 };
	off_t size = lseek(recording->output, 0, SEEK_END);
	off_t end = (size - 2 * RECORDING_OUTPUT_MOST) / PAGE * PAGE;

	/* the begin has the name of the experiment */
	if (end > PAGE)
		fallocate(recording->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE,
			  end - PAGE);
}

void recording_output(const struct recording *recording, struct strbuf *out)
{
	off_t size = lseek(recording->output, 0, SEEK_END);
	off_t begin = size > RECORDING_OUTPUT_MOST ? size - RECORDING_OUTPUT_MOST : 0;
	char *text = xmalloc(RECORDING_OUTPUT_MOST);
	ssize_t got = pread(recording->output, text, RECORDING_OUTPUT_MOST, begin);

	strbuf_add(out, text, got > 0 ? (size_t)got : 0);
	free(text);
}

/* Of a line "helio collect: NAME: recording PROGRAM (pid 1), ..." */
char *recording_experiment(const struct recording *recording)
{
	static const char mark[] = ": recording ";
	char text[4097];
	ssize_t got = pread(recording->output, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end ? 1 : 0;
		char *name = strncmp(line, "helio ", 6) ? NULL : strstr(line, ": ");
		char *last = name ? strstr(name + 2, mark) : NULL;

		if (last && last < end)
			return xstrndup(name + 2, (size_t)(last - name) - 2);
	}
	return NULL;
}

void recording_fini(struct recording *recording)
{
	for (size_t i = 0; recording->argv && recording->argv[i]; i++)
		free(recording->argv[i]);
	free(recording->argv);
	close(recording->output);
}

bool recording_ask(const char *const *words, struct strbuf *out)
{
	int pipe_ends[2], status = -1;
	char **all = with_name((char *const *)(const void *)words);
	char text[4096];
	ssize_t got;
	pid_t pid;

	if (pipe2(pipe_ends, O_CLOEXEC)) {
		free(all);
		return false;
	}
	bool ok = spawn(all, pipe_ends[1], false, &pid);

	close(pipe_ends[1]);
	while (ok &&
	       ((got = read(pipe_ends[0], text, sizeof(text))) > 0 || (got < 0 && errno == EINTR)))
		if (got > 0)
			strbuf_add(out, text, (size_t)got);
	close(pipe_ends[0]);
	while (ok && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(all);
	return ok && WIFEXITED(status) && !WEXITSTATUS(status);
}
