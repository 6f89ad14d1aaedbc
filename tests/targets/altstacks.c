/* SPDX-License-Identifier: Apache-2.0 */
/*
 * altstacks HOW [SECONDS]: alternate signal stacks that nothing may be written on.
 *
 * shared   four threads have the same one, for a handler that would end the process
 * gone     it is not mapped any more; nothing is handled there
 * reused   its memory holds something else; nothing is handled there
 * refused  one thread has it, and works where there is no room for a signal; another thread asks
 * for the same one in ways that the kernel refuses
 *
 * Says `ready`, and works so long in each thread.  Status 3; 4 if the memory was written; 5 if the
 * kernel's answer was another one.
 */
#include "target.h"

#include <errno.h>
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

static void handle_there(void)
{
	struct sigaction action = {.sa_handler = end, .sa_flags = SA_ONSTACK};

	sigaction(SIGSEGV, &action, NULL);
}

static void share(void)
{
	pthread_t threads[THREADS];

	handle_there();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, begin, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static bool fails(const stack_t *stack, stack_t *old, int expected)
{
	errno = 0;
	return sigaltstack(stack, old) == -1 && errno == expected;
}

/* None of them changes anything, but for the last one, which sets a stack of its own. */
static void *ask_in_vain(void *all_failed)
{
	static char other[SIZE];
	const stack_t small = {.ss_sp = memory, .ss_size = 1};
	const stack_t odd = {.ss_sp = memory, .ss_size = SIZE, .ss_flags = 0x40};
	const stack_t good = {.ss_sp = other, .ss_size = SIZE};
	stack_t *nowhere = (stack_t *)8, now;

	*(bool *)all_failed = fails(nowhere, NULL, EFAULT) && fails(&small, NULL, ENOMEM) &&
			      fails(&odd, NULL, EINVAL) && fails(&good, nowhere, EFAULT) &&
			      !sigaltstack(NULL, &now) && now.ss_sp == other;
	return NULL;
}

/* The stack pointer stands at the lowest end of what is mapped. */
static void work_without_room(void)
{
	enum { PAGE = 4096 };
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double until = cpu_now() + seconds;

	mprotect(pages, PAGE, PROT_NONE);
	while (cpu_now() < until) {
		uint64_t rounds = 10 * 1000 * 1000;
		char *saved;

		__asm__ volatile("mov %%rsp, %1\n\t"
				 "mov %2, %%rsp\n"
				 "1:\n\t"
				 "dec %0\n\t"
				 "jnz 1b\n\t"
				 "mov %1, %%rsp"
				 : "+r"(rounds), "=&r"(saved)
				 : "r"(pages + PAGE)
				 : "memory", "cc");
	}
}

static bool be_refused(void)
{
	pthread_t thread;
	bool all_failed = false;

	handle_there();
	use_stack();
	pthread_create(&thread, NULL, ask_in_vain, &all_failed);
	pthread_join(thread, NULL);
	work_without_room();
	return all_failed;
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
	if (!strcmp(how, "refused")) {
		bool all_failed = be_refused();

		puts("done");
		return all_failed ? 3 : 5;
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
