/* SPDX-License-Identifier: Apache-2.0 */
/*
 * altstack BYTES [fork | LIBRARY]: uses an alternate stack of so many bytes, below which nothing is
 * mapped.  Handles a fault there: works a while, or has a child (as crash reporters do), and ends
 * with _exit(7).  With a library, which is this file too: loads it, whose constructor works a
 * while.
 */
#include "target.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { GUARD = 64 * 1024, ROOM = 64 * 1024 };

static volatile uint64_t sink;

#ifdef LIBRARY
__attribute__((constructor)) static void begin(void)
{
	sink += churn(sink | 1, 30000000);
}
#else
static bool forks;

static void handler(int unused)
{
	int status = 0;
	pid_t child = forks ? fork() : 0;

	sink += churn(sink | 1, 3000000);
	if (forks && !child)
		_exit(3);
	if (forks && (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3))
		_exit(8);
	(void)!write(1, "handled\n", 8);
	_exit(7);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	char *map = mmap(NULL, GUARD + ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = map + GUARD, .ss_size = strtoul(argv[1], NULL, 10)};

	mprotect(map + GUARD, ROOM, PROT_READ | PROT_WRITE);
	if (sigaltstack(&stack, NULL))
		return 9;
	forks = argc > 2 && !strcmp(argv[2], "fork");
	if (argc > 2 && !forks)
		return dlopen(argv[2], RTLD_NOW) ? 7 : 8;
	sigaction(SIGSEGV, &action, NULL);
	return *(volatile int *)map;
}
#endif
