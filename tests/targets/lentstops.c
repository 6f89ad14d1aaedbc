/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process on the program's memory and thread-local variables stops the program's thread where it
 * happens to be, and makes calls meanwhile that tracers record: as LeakSanitizer's does at the end
 * of programs.  lentstops ROUNDS
 */
#include "target.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { STACK = 1 << 20, PAGE = 4096, PAGES = 64 };

static volatile char pages[PAGES][PAGE] __attribute__((aligned(PAGE)));
static volatile int rounds, stops;
static volatile int finished;
static pid_t parent;

/* clone(2) by a name under which nobody notes it, as LeakSanitizer calls it by number. */
int __clone(int (*start)(void *), void *stack, int flags, void *argument, ...);

static void call(void)
{
	int ends[2];

	if (pipe(ends))
		_exit(4);
	close(ends[0]);
	close(ends[1]);
}

static int stop_and_call(void *unused)
{
	int status;

	(void)unused;
	if (ptrace(PTRACE_SEIZE, parent, 0, 0))
		finished = -1;
	while (!finished) {
		usleep(100); /* it gets on, and is elsewhere */
		ptrace(PTRACE_INTERRUPT, parent, 0, 0);
		if (waitpid(parent, &status, __WALL) != parent || !WIFSTOPPED(status))
			break;
		call();
		stops++;
		finished = stops >= rounds;
		/* a signal that was about to be delivered is */
		ptrace(PTRACE_CONT, parent, 0, status >> 16 ? 0 : WSTOPSIG(status));
	}
	return 0;
}

int main(int argc, char **argv)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status;

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	parent = getpid();
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	child = __clone(stop_and_call, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES, NULL);
	if (child < 0)
		return 1;
	while (!finished) { /* in page faults, which may be counted, for the most part */
		madvise((void *)pages, sizeof(pages), MADV_DONTNEED);
		for (int i = 0; i < PAGES; i++)
			pages[i][0] = 1;
	}
	if (waitpid(child, &status, __WALL) != child)
		return 2;
	printf("stops %d\n", finished < 0 ? -1 : stops);
	return 0;
}
