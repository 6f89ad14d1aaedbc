/* SPDX-License-Identifier: Apache-2.0 */
/*
 * altstacks HOW [SECONDS]: alternate signal stacks that nothing may be written on.
 *
 * shared   four threads have the same one, for a handler that would end the process
 * gone     it is not mapped any more; nothing is handled there
 * reused   its memory holds something else; nothing is handled there
 *
 * Says `ready`, and works so long in each thread.  Status 3; 4 if the memory was written.
 */
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { SIZE = 80 * 1024, THREADS = 4, PATTERN = 7 };

static volatile uint64_t sink;
static char *memory;
static double seconds = 0.1;

static void work_long(void)
{
	double until = cpu_now() + seconds;

	while (cpu_now() < until)
		sink += churn(sink | 1, 100000);
}

static void use_stack(void)
{
	const stack_t stack = {.ss_sp = memory, .ss_size = SIZE};

	sigaltstack(&stack, NULL);
}

static void end(int number)
{
	_exit(100 + number);
}

static void *begin(void *unused)
{
	use_stack();
	work_long();
	return unused;
}

static void share(void)
{
	struct sigaction action = {.sa_handler = end, .sa_flags = SA_ONSTACK};
	pthread_t threads[THREADS];

	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, begin, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "shared";
	bool is_reused = !strcmp(how, "reused");

	if (argc > 2)
		seconds = strtod(argv[2], NULL);
	puts("ready");
	fflush(stdout);
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(how, "shared")) {
		share();
		puts("done");
		return 3;
	}
	use_stack();
	memset(memory, PATTERN, SIZE);
	if (!is_reused)
		munmap(memory, SIZE);
	work_long();
	for (int i = 0; is_reused && i < SIZE; i++)
		if (memory[i] != PATTERN)
			return 4;
	puts("done");
	return 3;
}
