/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that the collector cannot enter.  `unrecorded burn MS` uses so much CPU time and says
 * how much; `unrecorded nest PROGRAM MS` does too, and runs PROGRAM between, which does as much.
 * `unrecorded under COUNT MS WORDS...` runs the command WORDS so many times at once and awaits all,
 * with half of MS before and half behind; COUNT 0: it leaves one child behind.  `unrecorded then MS
 * WORDS...` burns, and becomes the command WORDS, which is looked for in PATH.  `unrecorded vanish
 * MS` burns and ends by an instruction of its own, as Go does.
 * `unrecorded WAY PROGRAM MS` runs `PROGRAM burn MS` in one way, as a recorded parent.
 */
#include "target.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static volatile uint64_t sink;

static void work(double ms)
{
	double end = cpu_now() + ms / 1e3;

	while (cpu_now() < end)
		sink += churn(sink | 1, 10000);
}

static void burn(const char *ms)
{
	double start = cpu_now();

	work(atof(ms));
	printf("burnt %.6f %s\n", cpu_now() - start, program_invocation_short_name);
	fflush(stdout);
}

static void run_under(int count, double ms, char **words)
{
	double start = cpu_now();

	work(ms / 2);
	for (int i = 0; i < count || !i; i++)
		if (!fork()) {
			execv(words[0], words);
			_exit(127);
		}
	if (count)
		while (wait(NULL) > 0)
			;
	work(ms / 2);
	printf("burnt %.6f %s\n", cpu_now() - start, program_invocation_short_name);
}

static _Noreturn void become(char *program, char *ms)
{
	char *words[] = {program, "burn", ms, NULL};

	execv(program, words);
	_exit(127);
}

static void run_forked(char *program, char *ms, int options)
{
	pid_t child = fork();
	siginfo_t info;

	if (!child)
		become(program, ms);
	if (options)
		waitid(P_PID, (id_t)child, &info, options);
	else
		waitpid(child, NULL, 0);
}

static void run_spawned(char *program, char *ms)
{
	char *words[] = {program, "burn", ms, NULL};
	pid_t child;

	if (!posix_spawn(&child, program, NULL, NULL, words, environ))
		waitpid(child, NULL, 0);
}

static void run_by_shell(const char *program, const char *ms, bool by_popen)
{
	char command[4096], line[256];

	snprintf(command, sizeof(command), "%s burn %s", program, ms);
	FILE *stream = by_popen ? popen(command, "r") : NULL;

	if (!by_popen && system(command))
		exit(1);
	while (stream && fgets(line, sizeof(line), stream))
		fputs(line, stdout);
	if (stream)
		pclose(stream);
	fflush(stdout);
}

/* As runtimes do that make their system calls themselves. */
static void run_raw(char *program, char *ms)
{
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child)
		become(program, ms);
	syscall(SYS_wait4, child, NULL, 0, NULL);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "burn")) {
		burn(argv[2]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "vanish")) {
		burn(argv[2]);
		__asm__ volatile("syscall"
				 :
				 : "a"(SYS_exit_group), "D"(0)
				 : "rcx", "r11", "memory");
	}
	if (argc > 4 && !strcmp(argv[1], "under")) {
		run_under(atoi(argv[2]), atof(argv[3]), argv + 4);
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "then")) {
		burn(argv[2]);
		execvp(argv[3], argv + 3);
		return 127;
	}
	if (argc != 4)
		return 2;
	const char *way = argv[1];
	char *program = argv[2], *ms = argv[3];

	if (!strcmp(way, "nest")) {
		burn(ms);
		run_forked(program, ms, 0);
	} else if (!strcmp(way, "exec")) {
		become(program, ms);
	} else if (!strcmp(way, "fork")) {
		run_forked(program, ms, 0);
	} else if (!strcmp(way, "waitid")) {
		run_forked(program, ms, WEXITED);
	} else if (!strcmp(way, "vfork")) {
		pid_t child = vfork();

		if (!child)
			become(program, ms);
		waitpid(child, NULL, 0);
	} else if (!strcmp(way, "spawn")) {
		run_spawned(program, ms);
	} else if (!strcmp(way, "system") || !strcmp(way, "popen")) {
		run_by_shell(program, ms, way[0] == 'p');
	} else if (!strcmp(way, "raw")) {
		run_raw(program, ms);
	}
	return 0;
}
