/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a child in every usual way, one after the other, each of which uses
 * a known amount of CPU and prints "NAME.cpu SECONDS".  `forktree burn NAME
 * SECONDS|ROUNDS` is what the children run.
 *
 *   fork            -> NAME fork
 *   vfork + execv   -> NAME vfork
 *   posix_spawn     -> NAME spawn
 *   system          -> a shell, then NAME system
 *   popen           -> a shell, then NAME popen
 */
#include "target.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static volatile uint64_t sink;
static const char *amount = "0.3s";

static NOINLINE void burn(const char *name)
{
	char *words[] = {NULL, (char *)amount, NULL};
	struct budget budget = budget_parse(2, words, amount);

	budget.seconds += budget.seconds > 0 ? cpu_now() : 0;
	for (long rounds = 0; budget_left(&budget, rounds); rounds++)
		sink += churn(sink | 1, 100000);
	printf("%s.cpu %.6f\n%s.pid %d\n", name, cpu_now(), name, (int)getpid());
	fflush(stdout);
}

static void await(pid_t child, const char *what)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status) {
		fprintf(stderr, "forktree: %s failed\n", what);
		exit(1);
	}
}

static void by_fork(void)
{
	pid_t child = fork();

	if (child == 0) {
		burn("fork");
		_exit(0);
	}
	await(child, "fork");
}

static void by_vfork(char *self)
{
	char *words[] = {self, "burn", "vfork", (char *)amount, NULL};
	pid_t child = vfork();

	if (child == 0) {
		execv(self, words);
		_exit(127);
	}
	await(child, "vfork");
}

static void by_spawn(char *self)
{
	char *words[] = {self, "burn", "spawn", (char *)amount, NULL};
	pid_t child;

	if (posix_spawn(&child, self, NULL, NULL, words, environ))
		child = -1;
	await(child, "posix_spawn");
}

static void by_shell(const char *self)
{
	char command[4400];
	char line[256];
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' burn system %s", self, amount);
	if (system(command))
		exit(1);
	snprintf(command, sizeof(command), "'%s' burn popen %s", self, amount);
	pipe = popen(command, "r");
	if (!pipe)
		exit(1);
	while (fgets(line, sizeof(line), pipe))
		fputs(line, stdout);
	if (pclose(pipe))
		exit(1);
}

int main(int argc, char **argv)
{
	double start = wall_now();
	char self[4096];
	ssize_t length;

	if (argc > 3 && !strcmp(argv[1], "burn")) {
		amount = argv[3];
		burn(argv[2]);
		return 0;
	}
	if (argc > 1)
		amount = argv[1];
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		return 1;
	self[length] = 0;
	by_fork();
	by_vfork(self);
	by_spawn(self);
	by_shell(self);
	burn("parent");
	print_usage(start);
	return 0;
}
