/* SPDX-License-Identifier: Apache-2.0 */
/* Stops itself for about 0.5 s (or the first argument): a child continues it. */
#include "target.h"

#include <signal.h>
#include <sys/wait.h>

static NOINLINE double stop_self(void)
{
	double before = wall_now();

	raise(SIGSTOP);
	return wall_now() - before;
}

int main(int argc, char **argv)
{
	double start = wall_now();
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0) {
		usleep((useconds_t)(seconds * 1e6));
		kill(parent, SIGCONT);
		_exit(0);
	}
	printf("stopped %.6f\n", stop_self());
	waitpid(child, NULL, 0);
	print_usage(start);
	return 0;
}
