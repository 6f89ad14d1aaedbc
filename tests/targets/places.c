/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `places HOW` moves to another root, namespace, user or directory, says what the calls
 * returned, works for a while there, and has a child that does.  Run as root.
 */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
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

static const struct {
	const char *name;
	void (*go)(void);
} ways[] = {
	{"chroot", other_root},		 {"SYS_chroot", other_root_by_number},
	{"mounts", other_mounts},	 {"user_namespace", other_user_namespace},
	{"setns", same_mount_namespace}, {"pids", other_pids},
	{"no_directory", no_directory},	 {"setuid", other_user},
};

int main(int argc, char **argv)
{
	int status;

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].go();
	work();
	pid_t child = fork();
	if (!child) {
		work();
		execl("/nonexistent", "x", NULL);
		_exit(errno == ENOENT ? 3 : 4);
	}
	status = -1;
	waitpid(child, &status, 0);
	printf("child: %d\n", WEXITSTATUS(status));
	work();
	return 5;
}
