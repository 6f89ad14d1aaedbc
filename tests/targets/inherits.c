/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal mask that is handed on: by exec, by posix_spawn with and without a mask of its own, by
 * vfork, and by an exec that fails.  The argument names the way; what comes out of it
 * says what it finds blocked and pending, sends itself what is blocked, and takes it by hand.
 */
#include "target.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const int numbers[] = {SIGBUS, SIGTRAP, 63, SIGUSR1};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static volatile uint64_t sink;

static void work(double seconds)
{
	double end = cpu_now() + seconds;

	while (cpu_now() < end)
		sink += churn(sink | 1, 1000);
}

static void say_sets(const char *when)
{
	sigset_t blocked, pending;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	sigpending(&pending);
	for (int i = 0; i < NUMBERS; i++)
		printf("%s: %d blocked %d, pending %d\n", when, numbers[i],
		       sigismember(&blocked, numbers[i]), sigismember(&pending, numbers[i]));
}

/* Each waits where it is blocked, whatever else happens, until it is taken. */
static void send_and_take(void)
{
	const struct timespec at_once = {0};
	sigset_t blocked;
	siginfo_t info;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 0; i < NUMBERS; i++)
		if (sigismember(&blocked, numbers[i]))
			kill(getpid(), numbers[i]);
	work(0.05);
	say_sets("sent");
	for (int i = 0; i < NUMBERS; i++) {
		sigset_t one;

		sigemptyset(&one);
		sigaddset(&one, numbers[i]);
		if (sigismember(&blocked, numbers[i]))
			printf("taken: %d\n", sigtimedwait(&one, &info, &at_once));
	}
	say_sets("taken");
	work(0.05);
}

static int wait_for(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	printf("status %d\n", status);
	return status != 0;
}

static int spawn(char *self, const sigset_t *mask)
{
	char *words[] = {self, NULL};
	posix_spawnattr_t attributes;
	pid_t child;

	posix_spawnattr_init(&attributes);
	if (mask) {
		posix_spawnattr_setsigmask(&attributes, mask);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	}
	return posix_spawn(&child, self, NULL, &attributes, words, environ) || wait_for(child);
}

static int run(char *self, const char *way)
{
	const char *no_program = "/nonexistent/program";
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	if (strcmp(way, "spawn_mask"))
		sigprocmask(SIG_SETMASK, &all, NULL);
	if (!strcmp(way, "pending"))
		kill(getpid(), SIGBUS);
	if (!strcmp(way, "exec") || !strcmp(way, "pending"))
		execl(self, self, (char *)NULL);
	if (!strcmp(way, "spawn"))
		return spawn(self, NULL);
	if (!strcmp(way, "spawn_mask"))
		return spawn(self, &all);
	if (!strcmp(way, "spawn_open"))
		return spawn(self, &none);
	if (!strcmp(way, "vfork")) {
		pid_t child = vfork();

		if (!child) {
			execl(self, self, (char *)NULL);
			_exit(127);
		}
		return wait_for(child);
	}
	execl(no_program, no_program, (char *)NULL);
	say_sets("failed");
	send_and_take();
	return errno == ENOENT;
}

int main(int count, char **words)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count > 1)
		return run(words[0], words[1]);
	say_sets("born");
	send_and_take();
	return 0;
}
