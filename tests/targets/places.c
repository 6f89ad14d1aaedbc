/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `places HOW [WHEN]` works for a while, moves to another root, namespace, user or directory, says
 * what the calls returned, works there, and has a child that does.  From a jail both look for a way
 * out: a descriptor of a directory.  WHEN is `before`, `inside` or `both`: there it says which
 * process it is, and waits for a line.  Run as root.
 */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { WORK_MS = 30 };

static volatile uint64_t sink;

static NOINLINE void work(void)
{
	double end = clock_seconds(CLOCK_THREAD_CPUTIME_ID) + WORK_MS / 1e3;

	while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		sink += churn(sink | 1, 10000);
}

static void said(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

/* A directory of our own, which is then the current one. */
static void enter_new_directory(void)
{
	char name[] = "places.XXXXXX";

	if (!mkdtemp(name) || chdir(name))
		exit(2);
}

static void other_root(void)
{
	enter_new_directory();
	said("chroot", chroot("."));
	said("chdir", chdir("/"));
	said("open /proc", open("/proc", O_RDONLY));
}

static void other_root_by_number(void)
{
	enter_new_directory();
	said("chroot", syscall(SYS_chroot, "."));
	said("chdir", chdir("/"));
}

static int move_root(void *unused)
{
	(void)unused;
	_exit(chroot(".") || chdir("/"));
}

/* By a process that shares it. */
static void root_moved_by_another(void)
{
	static char stack[16384] __attribute__((aligned(16)));
	int status = -1;

	enter_new_directory();
	said("clone", clone(move_root, stack + sizeof(stack),
			    CLONE_FS | CLONE_VM | CLONE_VFORK | SIGCHLD, NULL) < 0
			      ? -1
			      : 0);
	wait(&status);
	printf("root moved: %d\n", status);
	said("open /proc", open("/proc", O_RDONLY));
}

/* The directory above, in which the experiment is, is covered. */
static void other_mounts(void)
{
	said("unshare", unshare(CLONE_NEWNS));
	said("private", mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	said("cover", mount("none", "/tmp", "tmpfs", 0, NULL));
}

static void other_user_namespace(void)
{
	said("unshare", unshare(CLONE_NEWUSER));
}

/* The root of before is gone from this namespace. */
static void pivoted_root(void)
{
	char name[] = "places.XXXXXX";

	said("unshare", unshare(CLONE_NEWNS));
	said("private", mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	if (!mkdtemp(name))
		exit(2);
	said("mount", mount("none", name, "tmpfs", 0, NULL));
	said("enter", chdir(name));
	said("pivot_root", syscall(SYS_pivot_root, ".", "."));
	said("leave", umount2(".", MNT_DETACH));
	said("chdir", chdir("/"));
	said("open /proc", open("/proc", O_RDONLY));
}

static void same_mount_namespace(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY);

	said("setns", setns(fd, CLONE_NEWNS));
}

static void other_pids(void)
{
	said("unshare", unshare(CLONE_NEWPID));
}

static void no_directory(void)
{
	char path[4096];

	enter_new_directory();
	said("getcwd", getcwd(path, sizeof(path)) ? 0 : -1);
	said("rmdir", rmdir(path));
	said("getcwd", getcwd(path, sizeof(path)) ? 0 : -1);
}

static bool is_root(const char *task)
{
	char path[300], line[256];
	int user = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "Uid: %*d %d", &user) != 1)
		;
	if (file)
		fclose(file);
	return !user;
}

static int threads_of_root(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(tasks)))
		count += entry->d_name[0] != '.' && is_root(entry->d_name);
	closedir(tasks);
	return count;
}

static void other_user(void)
{
	said("setgid", setgid(65534));
	said("setuid", setuid(65534));
	printf("threads of root: %d\n", threads_of_root()); /* one would be a hole */
}

/* Whatever its number, and however it is hidden. */
static void look_for_a_way_out(void)
{
	enum { NUMBERS = 8192 };
	int directories = 0;

	for (int fd = 0; fd < NUMBERS; fd++) {
		struct stat info;
		long above = syscall(SYS_openat, fd, "..", O_PATH);

		if (above >= 0)
			syscall(SYS_close, above);
		directories +=
			above >= 0 || (!syscall(SYS_fstat, fd, &info) && S_ISDIR(info.st_mode));
	}
	printf("directories held: %d\n", directories);
	fflush(stdout);
}

/* As daemons do. */
static void other_root_and_user(void)
{
	other_root();
	said("setgid", setgid(65534));
	said("setuid", setuid(65534));
}

static const struct {
	const char *name;
	void (*go)(void);
	bool jail;
} ways[] = {
	{"chroot", other_root, true},
	{"SYS_chroot", other_root_by_number, true},
	{"moved", root_moved_by_another, true},
	{"pivot_root", pivoted_root, true},
	{"mounts", other_mounts, true},
	{"user_namespace", other_user_namespace, true},
	{"setns", same_mount_namespace, false},
	{"pids", other_pids, true},
	{"no_directory", no_directory, false},
	{"setuid", other_user, false},
	{"chroot_setuid", other_root_and_user, true},
};

static void wait_here(const char *here, const char *when)
{
	char line[16];

	if (!when || (strcmp(here, when) && strcmp(when, "both")))
		return;
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	if (read(STDIN_FILENO, line, sizeof(line)) < 0)
		exit(6);
}

int main(int argc, char **argv)
{
	const char *when = argc > 2 ? argv[2] : NULL;
	bool jail = false;
	int status;

	work();
	wait_here("before", when);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].go();
			jail = ways[i].jail;
		}
	wait_here("inside", when);
	if (jail)
		look_for_a_way_out();
	work();
	pid_t child = fork();
	if (!child) {
		wait_here("inside", when);
		if (jail)
			look_for_a_way_out();
		work();
		execl("/", "x", NULL);
		_exit(errno == EACCES ? 3 : 4);
	}
	status = -1;
	waitpid(child, &status, 0);
	printf("child: %d\n", WEXITSTATUS(status));
	if (jail)
		look_for_a_way_out();
	work();
	return 5;
}
