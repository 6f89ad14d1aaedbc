/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that are not what a profiler expects.  The first argument says which, the second how
 * often; what is printed depends on nothing else.
 *
 * - jumps: longjmp out of 20 frames
 * - contexts: makecontext, swapcontext
 * - handmade: a stack switched to by assembly
 * - overflow: a stack overflow handled, in two threads
 * - deep: recursion 100,000 deep
 * - ifunc: calls through an indirect function
 * - jit: code in anonymous memory, with a frame pointer
 * - leaf: the same without one, and without a frame
 * - framed: the same without one, with a frame
 * - map: as jit, and a perf map names it
 */
#include "target.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

static volatile uint64_t sink;
static long rounds;

static NOINLINE void leaf(long steps)
{
	sink += churn(sink | 1, steps);
}

/* ---- longjmp ---- */

static jmp_buf landing;

static NOINLINE int fall(int depth)
{
	leaf(500);
	if (depth < 0)
		return 0;
	if (!depth)
		longjmp(landing, 1);
	return fall(depth - 1) + 1;
}

static void jumps(void)
{
	volatile long landed = 0;

	for (volatile long i = 0; i < rounds; i++) {
		if (!setjmp(landing))
			fall(20);
		landed++;
	}
	printf("landed %ld\n", landed);
}

/* ---- contexts ---- */

static ucontext_t home, there;
static volatile long visits;

static void coroutine(void)
{
	for (;;) {
		leaf(2000);
		visits++;
		swapcontext(&there, &home);
	}
}

static void contexts(void)
{
	static char stack[64 * 1024];

	getcontext(&there);
	there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof(stack)};
	makecontext(&there, coroutine, 0);
	for (long i = 0; i < rounds; i++) {
		leaf(2000);
		swapcontext(&home, &there);
	}
	printf("visits %ld\n", visits);
}

/* ---- a stack of one's own ---- */

static void on_own_stack(long steps)
{
	leaf(steps);
	visits++;
}

static NOINLINE void call_on(char *top, void (*function)(long), long steps)
{
	register char *saved __asm__("r12");

	__asm__ volatile("mov %%rsp, %0\n\t"
			 "mov %1, %%rsp\n\t"
			 "call *%2\n\t"
			 "mov %0, %%rsp"
			 : "=&r"(saved)
			 : "r"(top), "r"(function), "D"(steps)
			 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void handmade(void)
{
	char *stack = malloc(64 * 1024);

	for (long i = 0; i < rounds; i++)
		call_on((char *)((uintptr_t)(stack + 64 * 1024) & ~(uintptr_t)15), on_own_stack,
			4000);
	free(stack);
	printf("visits %ld\n", visits);
}

/* ---- overflow ---- */

static __thread sigjmp_buf rescue;

static void on_overflow(int number)
{
	(void)number;
	siglongjmp(rescue, 1);
}

static NOINLINE uint64_t endless(uint64_t depth)
{
	volatile char room[200];

	room[0] = (char)depth;
	sink += churn(depth | 1, 20);
	if (depth == UINT64_MAX)
		return 0;
	return endless(depth + 1) + (uint64_t)room[0];
}

static void *overflows(void *count)
{
	stack_t stack = {.ss_sp = malloc(64 * 1024), .ss_size = 64 * 1024};

	sigaltstack(&stack, NULL);
	for (volatile long i = 0; i < rounds; i++) {
		if (!sigsetjmp(rescue, 1))
			endless(0);
		++*(volatile long *)count;
	}
	return NULL;
}

static void overflow(void)
{
	struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
	long in_main = 0, in_thread = 0;
	pthread_t thread;

	sigaction(SIGSEGV, &action, NULL);
	pthread_create(&thread, NULL, overflows, &in_thread);
	overflows(&in_main);
	pthread_join(thread, NULL);
	printf("overflows %ld %ld\n", in_main, in_thread);
}

/* ---- recursion ---- */

static NOINLINE long descend(long depth)
{
	if (!depth) {
		leaf(200000);
		return 0;
	}
	return descend(depth - 1) + (long)(sink & 1) - (long)(sink & 1) + 1;
}

static void deep(void)
{
	long sum = 0;

	for (long i = 0; i < rounds; i++)
		sum += descend(100000) > 0;
	printf("returned %ld\n", sum);
}

/* ---- made at run time ---- */

/* Runs its loop edi times: with a frame pointer, with nothing, with a frame of 24 bytes. */
static const uint8_t code_pointer[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x75, 0xfc, 0x5d, 0xc3};
static const uint8_t code_leaf[] = {0xff, 0xcf, 0x75, 0xfc, 0xc3};
static const uint8_t code_framed[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xcf, 0x75,
				      0xfc, 0x48, 0x83, 0xc4, 0x18, 0xc3};

static NOINLINE void call_made(void (*function)(int))
{
	function(20000);
	visits++;
}

static void write_perf_map(void *code, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (file) {
		fprintf(file, "%lx %zx made_up\n", (unsigned long)code, size);
		fclose(file);
	}
}

static void made(const char *how)
{
	const uint8_t *from = code_pointer;
	size_t size = sizeof(code_pointer);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!strcmp(how, "leaf")) {
		from = code_leaf;
		size = sizeof(code_leaf);
	} else if (!strcmp(how, "framed")) {
		from = code_framed;
		size = sizeof(code_framed);
	}
	memcpy(code, from, size);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	if (!strcmp(how, "map"))
		write_perf_map(code, size);
	for (long i = 0; i < rounds; i++)
		call_made((void (*)(int))code);
	printf("visits %ld\n", visits);
}

/* ---- indirect functions ---- */

static void chosen(long steps)
{
	leaf(steps);
	visits++;
}

static __attribute__((used)) void (*choose(void))(long)
{
	return chosen;
}

void indirect(long steps) __attribute__((ifunc("choose")));

static void ifunc(void)
{
	for (long i = 0; i < rounds; i++)
		indirect(4000);
	printf("visits %ld\n", visits);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"jumps", jumps},	   {"contexts", contexts}, {"handmade", handmade},
		   {"overflow", overflow}, {"deep", deep},	   {"ifunc", ifunc}};

	if (argc < 3)
		return 2;
	rounds = strtol(argv[2], NULL, 10);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcmp(argv[1], all[i].name)) {
			all[i].run();
			return 0;
		}
	}
	made(argv[1]);
	return 0;
}
