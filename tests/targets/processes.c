/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes processes and programs in every way there is.  `processes CASE...` runs the cases of
 * those names.  What is printed is the same in every run, but for lines that begin with "pid":
 * "pid NAME NUMBER", one for each process that is to be recorded.  `processes report NAME` is
 * the program that cases start: it says how it finds its environment, mask and dispositions.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { STACK = 256 * 1024, WORK_MS = 15, WORK_ON_MS = 50 };

extern char **environ;

static volatile uint64_t sink;
static char self[4096];

/* ---- what is said ---- */

static void say_pid(const char *name)
{
	printf("pid %s %d\n", name, (int)getpid());
	fflush(stdout);
}

static void say_end(const char *name, pid_t child)
{
	int status = 0;

	if (child < 0)
		printf("%s: not made, %s\n", name, strerrorname_np(errno));
	else if (waitpid(child, &status, __WALL) != child)
		printf("%s: not awaited, %s\n", name, strerrorname_np(errno));
	else if (WIFSIGNALED(status))
		printf("%s: signal %d\n", name, WTERMSIG(status));
	else
		printf("%s: status %d\n", name, WEXITSTATUS(status));
	fflush(stdout);
}

static NOINLINE void work(void)
{
	double end = cpu_now() + WORK_MS / 1e3;

	while (cpu_now() < end)
		sink += churn(sink | 1, 10000);
}

static NOINLINE void work_on(void)
{
	double end = cpu_now() + WORK_ON_MS / 1e3;

	while (cpu_now() < end)
		sink += churn(sink | 1, 20000);
}

/* In a child: says so, works and ends. */
static _Noreturn void child_works(const char *name)
{
	say_pid(name);
	work();
	_exit(9);
}

static void say_environment(void)
{
	for (char **word = environ; word && *word; word++)
		if (strncmp(*word, "LD_PRELOAD=", 11) && strncmp(*word, "HELIO_", 6) &&
		    strncmp(*word, "PWD=", 4) && strncmp(*word, "SHLVL=", 6) &&
		    strncmp(*word, "_=", 2) && strncmp(*word, "OLDPWD=", 7))
			printf(" %.20s", *word);
}

static int report(const char *name)
{
	sigset_t mask;
	struct sigaction action;

	printf("%s:", name);
	say_environment();
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < NSIG; i++) {
		if (sigismember(&mask, i) == 1)
			printf(" blocked %d", i);
		if (!sigaction(i, NULL, &action) && action.sa_handler == SIG_IGN)
			printf(" ignored %d", i);
	}
	if (getsid(0) == getpid())
		printf(" leads a session");
	printf("\n");
	say_pid(name);
	work();
	return 4;
}

#define REPORT(name) ((char *[]){self, "report", name, NULL})

/* ---- fork ---- */

static int grow(int levels, int width)
{
	int alive = 1;

	for (int i = 0; levels && i < width; i++) {
		pid_t child = fork();
		int status;

		if (!child)
			_exit(grow(levels - 1, width));
		if (child > 0 && waitpid(child, &status, 0) == child)
			alive += WEXITSTATUS(status);
	}
	return alive;
}

static void storm(void)
{
	printf("storm of %d\n", grow(3, 5));
}

static atomic_bool stop;

static void *allocate(void *unused)
{
	(void)unused;
	while (!stop)
		for (size_t size = 10; size < 100000; size *= 3)
			free(malloc(size));
	return NULL;
}

static void fork_threads(void)
{
	pthread_t threads[3];
	int good = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, allocate, NULL);
	for (int i = 0; i < 10; i++) {
		int status;
		pid_t child = fork();

		if (!child) {
			free(malloc(100000));
			_exit(3);
		}
		good += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3;
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("fork_threads: %d good\n", good);
}

static void *fork_here(void *unused)
{
	(void)unused;
	pid_t child = fork();
	if (!child) {
		say_pid("fork_in_thread");
		work();
		pthread_exit(NULL); /* the last thread: the process ends with 0 */
	}
	say_end("fork_in_thread", child);
	return NULL;
}

static void fork_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fork_here, NULL);
	pthread_join(thread, NULL);
}

static void by_Fork(void)
{
	pid_t child = _Fork();

	if (!child)
		child_works("_Fork");
	say_end("_Fork", child);
	child = (pid_t)syscall(SYS_fork);
	if (!child)
		child_works("SYS_fork");
	say_end("SYS_fork", child);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!child)
		child_works("SYS_clone");
	say_end("SYS_clone", child);
}

static void by_vfork(void)
{
	char *const words[] = {self, "report", "vfork", NULL};
	pid_t child = vfork();

	if (!child)
		_exit(11);
	say_end("vfork, _exit", child);
	child = vfork();
	if (!child) {
		execv(self, words);
		_exit(12);
	}
	say_end("vfork, exec", child);
	child = vfork();
	if (!child) {
		execl("/nonexistent", "x", NULL);
		_exit(errno == ENOENT ? 13 : 14);
	}
	say_end("vfork, failed exec", child);
}

/* ---- clone ---- */

static int clone_works(void *name)
{
	child_works(name);
}

static int clone_ends(void *unused)
{
	(void)unused;
	return 15;
}

static int clone_executes(void *name)
{
	execv(self, REPORT(name));
	return 16;
}

static void by_clone(void)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *top = stack + STACK;

	say_end("clone as fork", clone(clone_works, top, SIGCHLD, "clone"));
	say_end("clone as vfork", clone(clone_ends, top, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
	say_end("clone as vfork, exec",
		clone(clone_executes, top, CLONE_VM | CLONE_VFORK | SIGCHLD, "clone_exec"));
	say_end("clone with memory", clone(clone_ends, top, CLONE_VM | SIGCHLD, NULL));
	munmap(stack, STACK);
}

static volatile int raw_finished;
static double raw_cpu;

/* By the kernel: the C library would look at the thread-local variables first. */
static double raw_thread_cpu(void)
{
	struct timespec cpu;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_clock_gettime), "D"(CLOCK_THREAD_CPUTIME_ID), "S"(&cpu)
			 : "rcx", "r11", "memory");
	return result ? 0 : cpu.tv_sec + cpu.tv_nsec / 1e9;
}

/* No descriptor of its own in the C library: it runs on its creator's thread-local variables. */
static NOINLINE int in_raw_thread(void *unused)
{
	(void)unused;
	for (long i = 0; i < 600; i++)
		sink += churn(sink | 1, 100000);
	raw_cpu = raw_thread_cpu();
	raw_finished = 1;
	for (;;)
		__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
	return 0;
}

static NOINLINE void beside_raw_thread(void)
{
	while (!raw_finished)
		sink += churn(sink | 1, 1000);
}

static void raw_thread(void)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	printf("raw_thread: %d\n", clone(in_raw_thread, stack + STACK, flags, NULL) > 0);
	double before = cpu_now();

	beside_raw_thread();
	printf("raw %.6f\nbeside %.6f\n", raw_cpu, cpu_now() - before);
}

/* ---- posix_spawn ---- */

static void say_pipe(int fd)
{
	char text[4096];
	ssize_t got;
	size_t size = 0;

	while ((got = read(fd, text + size, sizeof(text) - size)) > 0)
		size += (size_t)got;
	printf("%.*s", (int)size, text);
	close(fd);
}

static void by_spawn(void)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t set;
	pid_t child = -1;
	int fds[2];

	if (pipe(fds))
		exit(2);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETSID);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	posix_spawnattr_setsigmask(&attributes, &set);
	posix_spawnattr_setsigdefault(&attributes, &set);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	if (posix_spawn(&child, self, &actions, &attributes, REPORT("spawn"), environ))
		child = -1;
	close(fds[1]);
	say_pipe(fds[0]);
	say_end("spawn", child);
	signal(SIGUSR1, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
	printf("spawn of nothing: %d\n",
	       posix_spawn(&child, "/nonexistent", NULL, NULL, REPORT("x"), environ));
	printf("spawnp of nothing: %d\n",
	       posix_spawnp(&child, "no-such-program", NULL, NULL, REPORT("x"), environ));
}

/* What the program believes of the engines' own signals goes on in what it starts. */
static void inherit_signals(void)
{
	sigset_t set, old;
	pid_t child;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGPROF);
	sigprocmask(SIG_BLOCK, &set, &old);
	child = fork();
	if (!child) {
		execv(self, REPORT("mask by fork"));
		_exit(1);
	}
	say_end("mask by fork", child);
	child = vfork();
	if (!child) {
		execv(self, (char *[]){self, "report", "mask by vfork", NULL});
		_exit(1);
	}
	say_end("mask by vfork", child);
	child = vfork();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		execv(self, (char *[]){self, "report", "mask restored after vfork", NULL});
		_exit(1);
	}
	say_end("mask restored after vfork", child);
	if (posix_spawn(&child, self, NULL, NULL, REPORT("mask by spawn"), environ))
		child = -1;
	say_end("mask by spawn", child);
	sigprocmask(SIG_SETMASK, &old, NULL);
	child = fork();
	if (!child) {
		signal(SIGPROF, SIG_IGN);
		signal(SIGTRAP, SIG_IGN);
		execv(self, REPORT("ignored by fork"));
		_exit(1);
	}
	say_end("ignored by fork", child);
}

/* ---- daemons ---- */

static void by_daemon(void)
{
	int fds[2];

	if (pipe(fds))
		exit(2);
	pid_t child = fork();
	if (!child) {
		close(fds[0]);
		work();
		if (daemon(1, 1))
			_exit(1);
		dup2(fds[1], 1);
		child_works("daemon");
	}
	close(fds[1]);
	say_end("daemon", child);
	say_pipe(fds[0]);
	if (pipe(fds))
		exit(2);
	child = fork();
	if (!child) {
		setsid();
		if (fork())
			_exit(0);
		dup2(fds[1], 1);
		child_works("double fork");
	}
	close(fds[1]);
	say_end("double fork", child);
	say_pipe(fds[0]);
}

/* ---- exec ---- */

static void by_path(void)
{
	execve(self, REPORT("empty environment"), (char *[]){NULL});
}

static void by_null(void)
{
	execve(self, REPORT("no environment"), NULL);
}

static void by_fexecve(void)
{
	fexecve(open(self, O_RDONLY | O_CLOEXEC), REPORT("fexecve"), (char *[]){"A=1", NULL});
}

static void by_execveat(void)
{
	execveat(AT_FDCWD, self, REPORT("execveat"), (char *[]){"A=2", NULL}, 0);
}

static void by_empty_path(void)
{
	execveat(open(self, O_PATH | O_CLOEXEC), "", REPORT("execveat empty"),
		 (char *[]){"A=3", NULL}, AT_EMPTY_PATH);
}

static void by_search(void)
{
	execvpe(self, REPORT("execvpe"), (char *[]){"A=4", NULL});
}

static void by_list(void)
{
	execle(self, self, "report", "execle", NULL, (char *[]){"A=5", NULL});
}

static void by_number(void)
{
	syscall(SYS_execve, self, REPORT("SYS_execve"), (char *[]){"A=6", NULL});
}

static void without_preload(void)
{
	unsetenv("LD_PRELOAD");
	execl(self, self, "report", "unsetenv", NULL);
}

static void cleared(void)
{
	clearenv();
	execl(self, self, "report", "clearenv", NULL);
}

static void cleared_system(void)
{
	char command[8192];

	snprintf(command, sizeof(command), "exec '%s' report 'clearenv system'", self);
	clearenv();
	_exit(WEXITSTATUS(system(command)));
}

static void *execute_here(void *unused)
{
	(void)unused;
	work();
	execl(self, self, "report", "exec in thread", NULL);
	_exit(1);
}

static void in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute_here, NULL);
	for (;;)
		sink += churn(sink | 1, 1000);
}

static void by_exec(void)
{
	void (*const ways[])(void) = {by_path,	       by_null,	  by_fexecve,	  by_execveat,
				      by_empty_path,   by_search, by_list,	  by_number,
				      without_preload, cleared,	  cleared_system, in_thread};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		pid_t child = fork();

		if (!child) {
			ways[i]();
			_exit(1);
		}
		say_end("exec", child);
	}
}

static void failing(void)
{
	enum { MANY = 200000 };
	char **many = calloc(MANY, sizeof(char *));

	execl("/nonexistent/program", "x", NULL);
	printf("no file: %s\n", strerrorname_np(errno));
	execl("/dev", "x", NULL);
	printf("a directory: %s\n", strerrorname_np(errno));
	execl("/dev/null/x", "x", NULL);
	printf("no directory: %s\n", strerrorname_np(errno));
	for (int i = 0; i < MANY - 1; i++)
		many[i] = "a rather long word, to make it more than fits into the arguments";
	execv(self, many);
	printf("too much: %s\n", strerrorname_np(errno));
	free(many);
	execvp("no-such-program", REPORT("x"));
	printf("not found: %s\n", strerrorname_np(errno));
	fexecve(-1, REPORT("x"), environ);
	printf("no descriptor: %s\n", strerrorname_np(errno));
	work_on();
}

/* Programs that cannot be recorded run all the same: PROGRAMS are their paths. */
static void run_programs(char **programs)
{
	for (; *programs; programs++) {
		pid_t child = fork();

		if (!child) {
			execl(*programs, *programs, "17", NULL);
			_exit(1);
		}
		say_end("program", child);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"storm", storm},
	{"fork_threads", fork_threads},
	{"fork_in_thread", fork_in_thread},
	{"_Fork", by_Fork},
	{"vfork", by_vfork},
	{"clone", by_clone},
	{"raw_thread", raw_thread},
	{"spawn", by_spawn},
	{"inherit_signals", inherit_signals},
	{"daemon", by_daemon},
	{"exec", by_exec},
	{"failing", failing},
};

int main(int argc, char **argv)
{
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (length < 0)
		return 1;
	if (argc > 2 && !strcmp(argv[1], "report"))
		return report(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "programs")) {
		run_programs(argv + 2);
		return 0;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int word = 1; word < argc; word++)
			if (!strcmp(argv[word], cases[i].name)) {
				printf("-- %s\n", cases[i].name);
				cases[i].run();
			}
	say_pid("processes");
	return 5;
}
