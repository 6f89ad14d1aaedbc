/* SPDX-License-Identifier: Apache-2.0 */
/* A thread made by clone(2) alone: no pthread_create, no C library behind it. */
#include "target.h"

#include <sched.h>
#include <sys/mman.h>

enum { STACK = 1 << 20, TLS = 2048 };

static volatile unsigned long sink;
static volatile int finished;
static double spent;
static long rounds;
/* The C library's thread descriptor, copied: static TLS below it, its head above. */
static char tls[2 * TLS] __attribute__((aligned(64)));

static NOINLINE void burn(void)
{
	for (long i = 0; i < rounds * 1000; i++)
		sink = sink * 3 + 1;
}

static int run(void *unused)
{
	(void)unused;
	burn();
	spent = cpu_now();
	finished = 1;
	syscall(SYS_exit, 0);
	return 0;
}

int main(int argc, char **argv)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void **head = (void **)(tls + TLS);

	rounds = argc > 1 ? atol(argv[1]) : 1000000;
	memcpy(head, __builtin_thread_pointer(), TLS / 2);
	head[0] = head[2] = head; /* fs:0 and fs:16 point to the descriptor itself */
	if (clone(run, stack + STACK,
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			  CLONE_SETTLS,
		  NULL, NULL, head, NULL) < 0)
		return 1;
	while (!finished)
		usleep(1000);
	printf("raw.cpu %.6f\n", spent);
	return 0;
}
