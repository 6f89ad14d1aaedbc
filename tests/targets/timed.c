/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed FILE PROGRAM ARGUMENTS: runs the program and writes to FILE what it
 * and its children used, by the kernel's account, and its exit status, which
 * is also the own one. This is how real programs get a ground truth.
 */
#include "target.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
	double start = wall_now();
	struct rusage usage;
	int status = 0;
	FILE *file;
	pid_t child;

	if (argc < 3)
		return 125;
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 125;
	start = wall_now() - start;
	getrusage(RUSAGE_CHILDREN, &usage);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	file = fopen(argv[1], "w");
	if (!file)
		return 125;
	fprintf(file, "wall %.6f\nuser %.6f\nsystem %.6f\n", start, timeval_seconds(usage.ru_utime),
		timeval_seconds(usage.ru_stime));
	fprintf(file, "cpu %.6f\nmaxrss_kb %ld\nstatus %d\n",
		timeval_seconds(usage.ru_utime) + timeval_seconds(usage.ru_stime), usage.ru_maxrss,
		status);
	fclose(file);
	return status;
}
