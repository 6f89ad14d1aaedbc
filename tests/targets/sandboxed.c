/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs do that are about to lock themselves, or a child, in, and that a profiler could
 * be met by.  Prints what it sees; every number is known by construction.
 *
 * - numbers: signals by number: a child that sets all of them back, masks, handlers
 * - alone: how many threads /proc/self/task shows, asked in each way, while it computes and sleeps
 *   often
 * - listing: what /proc/self/fd shows, read in each way, and whether all of that can be closed
 * - switching: what it blocks after so many waits that another engine takes over
 * - moved: a process that shares its root moves that away, as for Chromium's zygotes
 * - clones: children by clone and clone3 by number, in namespaces of their own
 * - cleared: children by clone3 by number that begin without handlers: one that computes, one that
 *   executes a program, one on its creator's memory
 * - handlers: a process that keeps what is given to pthread_atfork, and runs that itself around a
 *   clone, as Firefox does
 * - locked: no right to files, memory or processes any more, another user, not dumpable
 * - filtered: a filter that traps what it does not use itself; then threads, a fork, and a program
 *   with an environment that was kept from before
 * - burn: 0.1 s of CPU, and the signals that it was started with
 */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static volatile uint64_t sink;
static volatile sig_atomic_t seen;

static NOINLINE void burn(double seconds)
{
	double until = cpu_now() + seconds;

	while (cpu_now() < until)
		sink += churn(sink | 1, 2000);
}

static int print_status(const char *what, pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	printf("%s.signal %d\n", what, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	printf("%s.status %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	fflush(stdout);
	return status;
}

/* ---- signals by number ---- */

struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

enum { KERNEL_SET = 8, LAST_SIGNAL = 64, FIRST_OF_LIBC = 32, LAST_OF_LIBC = 33 };

static long act(int number, const struct kernel_action *action, struct kernel_action *old)
{
	return syscall(SYS_rt_sigaction, number, action, old, KERNEL_SET);
}

/* Chromium does this in each process that it launches, between fork and exec. */
static int set_all_back(void)
{
	struct kernel_action action = {.handler = SIG_DFL}, now;
	int left = 0;

	for (int number = 1; number <= LAST_SIGNAL; number++)
		act(number, &action, NULL);
	for (int number = 1; number <= LAST_SIGNAL; number++)
		left += !act(number, NULL, &now) && now.handler != SIG_DFL;
	return left;
}

static void on_signal(int number)
{
	seen += number;
}

static void block_all(int how)
{
	uint64_t all = ~(uint64_t)0, now = 0;

	syscall(SYS_rt_sigprocmask, how, &all, NULL, KERNEL_SET);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, KERNEL_SET);
	printf("blocked %#llx\n", (unsigned long long)now);
}

static void handlers(void)
{
	struct kernel_action action = {0}, old;
	struct sigaction library = {.sa_handler = on_signal}, now;

	sigaction(SIGUSR1, &library, NULL);
	act(SIGUSR1, NULL, &old);
	printf("usr1_by_number %d\n", old.handler == on_signal);
	/* The restorer is the C library's; a handler that is never entered needs none. */
	action = old;
	action.mask = 1u << (SIGUSR2 - 1);
	act(SIGTRAP, &action, NULL);
	sigaction(SIGTRAP, NULL, &now);
	printf("trap_by_library %d %d\n", now.sa_handler == on_signal,
	       sigismember(&now.sa_mask, SIGUSR2));
	raise(SIGTRAP);
	printf("trap_seen %d\n", (int)seen);
	act(LAST_SIGNAL - 1, &action, &old);
	printf("other_before %d\n", old.handler == SIG_DFL);
	printf("bad_size %ld\n", syscall(SYS_rt_sigaction, SIGTRAP, NULL, &old, 4));
	printf("bad_errno %d\n", errno);
}

static int numbers(char *self)
{
	pid_t child = fork();

	if (!child) {
		printf("left %d\n", set_all_back());
		fflush(stdout);
		burn(0.1);
		execl(self, self, "burn", (char *)NULL);
		_exit(99);
	}
	print_status("child", child);
	block_all(SIG_BLOCK);
	burn(0.1);
	block_all(SIG_UNBLOCK);
	handlers();
	burn(0.1);
	return 3;
}

/* ---- its own /proc ---- */

static int count_entries(const char *path)
{
	DIR *directory = opendir(path);
	int count = 0;

	for (const struct dirent *entry; (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static int count_by_number(const char *path)
{
	char room[1024] __attribute__((aligned(8)));
	int directory = open(path, O_RDONLY | O_DIRECTORY), count = 0;
	long got;

	while ((got = syscall(SYS_getdents64, directory, room, sizeof(room))) > 0)
		for (long at = 0; at < got;) {
			const struct dirent *entry = (const void *)(room + at);

			count += entry->d_name[0] != '.';
			at += entry->d_reclen;
		}
	close(directory);
	return count;
}

static int count_by_scan(const char *path)
{
	struct dirent **entries;
	int all = scandir(path, &entries, NULL, NULL), count = 0;

	for (int i = 0; i < all; i++) {
		count += entries[i]->d_name[0] != '.';
		free(entries[i]);
	}
	free(entries);
	return count;
}

enum { WAYS = 8 };

/* Each is 1 where nobody adds threads; the links of a directory are two more than it has. */
static void ask(int proc, int task, int seen_most[WAYS])
{
	struct stat found[4];
	struct statx extended = {0};
	int now[WAYS];

	stat("/proc/self/task", &found[0]);
	lstat("/proc/self/task/", &found[1]);
	fstatat(proc, "self/task/", &found[2], 0);
	fstat(task, &found[3]);
	for (int i = 0; i < 4; i++)
		now[i] = (int)found[i].st_nlink - 2;
	statx(AT_FDCWD, "/proc/self/task", 0, STATX_BASIC_STATS, &extended);
	now[4] = (int)extended.stx_nlink - 2;
	now[5] = count_entries("/proc/self/task");
	now[6] = count_by_number("/proc/self/task");
	now[7] = count_by_scan("/proc/self/task");
	for (int i = 0; i < WAYS; i++)
		if (now[i] > seen_most[i])
			seen_most[i] = now[i];
}

static void switch_often(int times)
{
	for (int i = 0; i < times; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}

static int alone(void)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY), seen_most[WAYS] = {0};
	int task = open("/proc/self/task", O_RDONLY | O_DIRECTORY);

	for (int round = 0; round < 30; round++) {
		burn(0.005);
		ask(proc, task, seen_most);
		switch_often(60);
		ask(proc, task, seen_most);
	}
	for (int i = 0; i < WAYS; i++)
		printf("threads.%d %d\n", i, seen_most[i]);
	return 6;
}

static int switching(void)
{
	uint64_t blocked = 0;

	switch_often(8000);
	burn(0.05);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, KERNEL_SET);
	printf("blocked %#llx\n", (unsigned long long)blocked);
	return 8;
}

static int listing(void)
{
	static const char path[] = "/proc/self/fd";
	int closed = 0, failed = 0;
	DIR *directory;

	printf("descriptors %d %d %d\n", count_entries(path), count_by_number(path),
	       count_by_scan(path));
	directory = opendir(path);
	for (const struct dirent *entry; (entry = readdir(directory));) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || fd <= STDERR_FILENO || fd == dirfd(directory))
			continue;
		if (close(fd))
			failed++;
		else
			closed++;
	}
	printf("closed %d\nfailed %d\n", closed, failed);
	burn(0.1);
	return 7;
}

/* ---- another root ---- */

static int move_root(void *unused)
{
	(void)unused;
	_exit(chroot("/proc/self/fdinfo/") || chdir("/"));
}

static int moved(void)
{
	static char stack[16384] __attribute__((aligned(16)));
	int proc = open("/proc", O_RDONLY | O_DIRECTORY), seen_most[WAYS] = {0};
	struct stat found = {0};

	burn(0.1);
	pid_t child = clone(move_root, stack + sizeof(stack),
			    CLONE_FS | CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	print_status("mover", child);
	printf("root %d\n", access("/proc", F_OK));
	for (int i = 0; i < 20; i++) {
		burn(0.01);
		switch_often(60);
		fstatat(proc, "self/task/", &found, 0);
		if ((int)found.st_nlink > seen_most[0])
			seen_most[0] = (int)found.st_nlink;
	}
	printf("links %d\n", seen_most[0]);
	child = fork();
	if (!child) {
		burn(0.1);
		_exit(21);
	}
	print_status("child", child);
	return 9;
}

/* ---- children by number ---- */

static int clones(void)
{
	unsigned long flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | SIGCHLD;
	pid_t child = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);

	if (!child) {
		struct clone_args args = {.exit_signal = SIGCHLD};

		printf("pid %d\n", (int)getpid());
		burn(0.1);
		child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (!child) {
			burn(0.1);
			fflush(stdout);
			_exit(23);
		}
		print_status("grandchild", child);
		_exit(22);
	}
	print_status("child", child);
	burn(0.1);
	return 10;
}

/* ---- children whose handlers clone3 clears ---- */

static void on_any(int number)
{
	(void)number;
}

/* 0: by default, 1: ignored, 2: handled */
static int kind_of(int number)
{
	struct kernel_action now = {0};

	act(number, NULL, &now);
	return now.handler == SIG_DFL ? 0 : now.handler == SIG_IGN ? 1 : 2;
}

static void print_kinds(const char *who)
{
	printf("%s.kinds %d %d %d %d\n", who, kind_of(SIGUSR1), kind_of(SIGTRAP), kind_of(SIGBUS),
	       kind_of(SIGRTMAX - 1));
}

static pid_t clone_cleared(struct clone_args args)
{
	args.flags |= CLONE_CLEAR_SIGHAND;
	args.exit_signal = SIGCHLD;
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* The stack of a child on our memory begins with the place to which the call returns there. */
#if defined(__x86_64__)
static void on_own_stack(void)
{
	for (int i = 0; i < 20000; i++)
		sink += churn(sink | 1, 200);
	_exit(27);
}

static pid_t clone_on_our_memory(void)
{
	static void *stack[1 << 14] __attribute__((aligned(16)));
	enum { TOP = (1 << 14) - 16 };
	struct clone_args args = {.flags = CLONE_VM | CLONE_VFORK,
				  .stack = (uintptr_t)stack,
				  .stack_size = TOP * sizeof(stack[0])};

	stack[TOP] = (void *)on_own_stack;
	return clone_cleared(args);
}
#else
static pid_t clone_on_our_memory(void)
{
	pid_t child = fork();

	if (!child)
		_exit(27);
	return child;
}
#endif

static int cleared(char *self)
{
	char *words[] = {self, "burn", NULL};
	pid_t child;

	signal(SIGUSR1, on_any);
	signal(SIGTRAP, on_any);
	signal(SIGBUS, SIG_IGN);
	for (int i = 0; i < 5; i++) {
		child = clone_cleared((struct clone_args){0});
		if (!child) {
			burn(0.06);
			print_kinds("child");
			_exit(25);
		}
		print_status("child", child);
		print_kinds("parent");
	}
	child = clone_cleared((struct clone_args){0});
	if (!child) {
		execv(self, words);
		_exit(99);
	}
	print_status("program", child);
	print_status("beside", clone_on_our_memory());
	burn(0.1);
	return 14;
}

/* ---- handlers of forks, run by the program ---- */

enum { HANDLERS_MAX = 16 };

static void (*prepare[HANDLERS_MAX])(void), (*in_parent[HANDLERS_MAX])(void);
static void (*in_child[HANDLERS_MAX])(void);
static int handlers_kept;

/* In place of the C library's, which pthread_atfork calls. */
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void),
		      void *object);

int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object)
{
	if (handlers_kept == HANDLERS_MAX)
		return ENOMEM;
	prepare[handlers_kept] = before;
	in_parent[handlers_kept] = parent;
	in_child[handlers_kept++] = child;
	return 0;
}

static void run_all(void (*const functions[])(void))
{
	for (int i = 0; i < handlers_kept; i++)
		if (functions[i])
			functions[i]();
}

static int run_handlers(void)
{
	for (int i = 0; i < 3; i++) {
		run_all(prepare);
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (!child) {
			run_all(in_child);
			burn(0.1);
			_exit(24);
		}
		run_all(in_parent);
		print_status("child", child);
	}
	burn(0.1);
	return 13;
}

/* ---- limits ---- */

static void *burn_in_thread(void *unused)
{
	burn(0.05);
	return unused;
}

static void run_thread(void)
{
	pthread_t thread;
	int result = pthread_create(&thread, NULL, burn_in_thread, NULL);

	printf("thread %d\n", result);
	if (!result)
		pthread_join(thread, NULL);
}

static int locked(void)
{
	const int kinds[] = {RLIMIT_NOFILE,  RLIMIT_FSIZE,	RLIMIT_NPROC,	RLIMIT_CORE,
			     RLIMIT_MEMLOCK, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE};
	const struct rlimit none = {0};

	run_thread();
	if (!geteuid() && setresuid(65534, 65534, 65534))
		return 1;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		printf("limit.%zu %d\n", i, setrlimit(kinds[i], &none));
	printf("closed %d\n", close_range(3, ~0u, 0));
	burn(0.1);
	switch_often(500);
	printf("fork %d\n", fork() < 0);
	printf("open %d\n", open("/", O_RDONLY));
	run_thread();
	printf("signal %d\n", raise(SIGCONT));
	burn(0.1);
	return 11;
}

/* ---- a filter ---- */

#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static volatile sig_atomic_t trapped;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	trapped = info->si_syscall;
}

static int filter_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_clone),
		ALLOW(SYS_clone3),
		ALLOW(SYS_vfork),
		ALLOW(SYS_futex),
		ALLOW(SYS_mmap),
		ALLOW(SYS_mprotect),
		ALLOW(SYS_munmap),
		ALLOW(SYS_madvise),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_rt_sigprocmask),
		ALLOW(SYS_set_robust_list),
		ALLOW(SYS_rseq),
		ALLOW(SYS_wait4),
		ALLOW(SYS_brk),
		ALLOW(SYS_clock_gettime),
		ALLOW(SYS_execve),
		ALLOW(SYS_nanosleep),
		ALLOW(SYS_clock_nanosleep),
		/* what the C library asks before main, and the program that is executed */
		ALLOW(SYS_access),
		ALLOW(SYS_openat),
		ALLOW(SYS_newfstatat),
		ALLOW(SYS_read),
		ALLOW(SYS_pread64),
		ALLOW(SYS_close),
		ALLOW(SYS_arch_prctl),
		ALLOW(SYS_set_tid_address),
		ALLOW(SYS_prlimit64),
		ALLOW(SYS_getrandom),
		ALLOW(SYS_rt_sigaction),
		ALLOW(SYS_fstat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static NOINLINE char **copy_of_environment(void)
{
	size_t count = 0;

	while (environ[count])
		count++;
	char **copy = calloc(count + 1, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = strdup(environ[i]);
	return copy;
}

static volatile int stop;

static void *stay(void *unused)
{
	while (!stop) {
		sink += churn(sink | 1, 2000);
		switch_often(5);
	}
	return unused;
}

static int filtered(char *self)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_trap};
	static char **kept;
	char *words[] = {self, "burn", NULL};
	pthread_t busy[3];

	kept = copy_of_environment();
	sigaction(SIGSYS, &action, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&busy[i], NULL, stay, NULL);
	burn(0.1);
	printf("filter %d\n", filter_calls());
	burn(0.05);
	run_thread();
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(busy[i], NULL);
	for (int i = 0; i < 2; i++) {
		pid_t child = i ? vfork() : fork();

		if (!child) {
			execve(self, words, kept);
			_exit(99);
		}
		print_status("child", child);
	}
	printf("trapped %d\n", (int)trapped);
	fflush(stdout);
	_exit(12);
}

static int only_burn(void)
{
	uint64_t blocked = 0;
	int ignored = 0;
	struct sigaction now;

	burn(0.1);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, KERNEL_SET);
	for (int number = 1; number <= LAST_SIGNAL; number++)
		if (number < FIRST_OF_LIBC || number > LAST_OF_LIBC)
			ignored += !sigaction(number, NULL, &now) && now.sa_handler != SIG_DFL;
	printf("burn.blocked %#llx\nburn.actions %d\n", (unsigned long long)blocked, ignored);
	return 5;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(how, "numbers"))
		return numbers(argv[0]);
	if (!strcmp(how, "cleared"))
		return cleared(argv[0]);
	if (!strcmp(how, "alone"))
		return alone();
	if (!strcmp(how, "switching"))
		return switching();
	if (!strcmp(how, "listing"))
		return listing();
	if (!strcmp(how, "moved"))
		return moved();
	if (!strcmp(how, "clones"))
		return clones();
	if (!strcmp(how, "handlers"))
		return run_handlers();
	if (!strcmp(how, "locked"))
		return locked();
	if (!strcmp(how, "filtered"))
		return filtered(argv[0]);
	if (!strcmp(how, "burn"))
		return only_burn();
	return 2;
}
