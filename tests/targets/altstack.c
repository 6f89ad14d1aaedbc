/* SPDX-License-Identifier: Apache-2.0 */
/*
 * altstack BYTES: handles a fault on an alternate stack of so many bytes, below which nothing is
 * mapped; works a while there, and ends with _exit(7).
 */
#include "target.h"

#include <signal.h>
#include <sys/mman.h>

enum { GUARD = 64 * 1024, ROOM = 64 * 1024 };

static volatile uint64_t sink;

static void handler(int unused)
{
	sink += churn(sink | 1, 3000000);
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
	sigaction(SIGSEGV, &action, NULL);
	return *(volatile int *)map;
}
