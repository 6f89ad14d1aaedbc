/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Its last call that allocates is that of site_last, by the function that is named first, and
 * nothing is freed after it. The second word says what becomes of the block.  Lost:
 *   return    main returns
 *   exit      main calls exit()
 *   _exit     main calls _exit()
 *   litter    main calls exit(), and the stack that this takes is full of the block's address
 *   thread    in a thread that waits when main returns
 *   given     in a thread that has ended, on a stack that the program gave it and keeps
 * Still held:
 *   local     by main's frame, at exit()
 *   register  by a register alone, which calls preserve, at exit(); _register: at _exit()
 */
#include "target.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

enum { SIZE = 100, GIVEN = 256 * 1024 };

static const char *how;
static _Atomic int waiting;

static void *aligned(void)
{
	void *block;

	return posix_memalign(&block, 64, SIZE) ? NULL : block;
}

/* The name comes with it: nothing else allocates before the end. */
static NOINLINE void *site_last(void)
{
	void *block = !strcmp(how, "calloc")	      ? calloc(1, SIZE)
		      : !strcmp(how, "realloc")	      ? realloc(malloc(10), SIZE)
		      : !strcmp(how, "reallocarray")  ? reallocarray(NULL, SIZE, 1)
		      : !strcmp(how, "aligned_alloc") ? aligned_alloc(64, SIZE)
		      : !strcmp(how, "memalign")      ? memalign(64, SIZE)
		      : !strcmp(how, "valloc")	      ? valloc(SIZE)
		      : !strcmp(how, "pvalloc")	      ? pvalloc(SIZE)
		      : !strcmp(how, "aligned")	      ? aligned()
						      : malloc(SIZE);

	__asm__ volatile("" : "+r"(block) : : "memory"); /* nobody knows what becomes of it */
	return block;
}

static NOINLINE void lose(void)
{
	memset(site_last(), 1, SIZE);
}

/*
 * The same deeper on the stack, where forget() writes over each word: at the top of a frame some
 * are left, and which of them exit() has in its frames is the C library's matter.
 */
static NOINLINE void lose_below(void)
{
	volatile char room[4096];

	room[0] = 1;
	lose();
	room[1] = room[0];
}

/* Writes over what calls left on the stack and in registers, which the linker puts on the stack. */
static NOINLINE void forget(void)
{
	volatile char room[32768];

	/* not memset: the linker would find it now, and leave registers further down */
	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
	__asm__ volatile("xor %%eax, %%eax\n\t"
			 "xor %%ecx, %%ecx\n\t"
			 "xor %%edx, %%edx\n\t"
			 "xor %%esi, %%esi\n\t"
			 "xor %%edi, %%edi\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "xor %%r9d, %%r9d\n\t"
			 "xor %%r10d, %%r10d\n\t"
			 "xor %%r11d, %%r11d\n\t"
			 "pxor %%xmm0, %%xmm0"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0",
			   "memory");
}

static NOINLINE void litter(void *block)
{
	void *volatile room[2048];

	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		room[i] = block;
}

static void *lose_and_wait(void *unused)
{
	lose();
	forget();
	waiting = 1;
	for (;;)
		pause();
	return unused;
}

static void *lose_and_end(void *unused)
{
	lose();
	forget();
	return unused;
}

static NOINLINE void lose_in_thread(void)
{
	pthread_t id;

	pthread_create(&id, NULL, lose_and_wait, NULL);
	while (!waiting)
		usleep(1000);
	usleep(20000);
}

static NOINLINE void lose_on_given(void)
{
	pthread_attr_t given;
	pthread_t id;

	pthread_attr_init(&given);
	pthread_attr_setstack(
		&given,
		mmap(NULL, GIVEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		GIVEN);
	pthread_create(&id, &given, lose_and_end, NULL);
	pthread_join(id, NULL);
}

/* In no memory: what held it before is written over. */
static NOINLINE _Noreturn void hold_in_register(void (*end)(int))
{
	register void *held __asm__("rbx") = site_last();

	__asm__ volatile("" : "+r"(held));
	forget();
	__asm__ volatile("mov %1, %%rax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "and $-16, %%rsp\n\t"
			 "call *%%rax"
			 :
			 : "r"(held), "r"(end)
			 : "rax", "rdi", "memory");
	__builtin_unreachable();
}

int main(int argc, char **argv)
{
	const char *where = argc > 2 ? argv[2] : "return";

	how = argc > 1 ? argv[1] : "malloc";
	if (!strcmp(where, "thread")) {
		lose_in_thread();
	} else if (!strcmp(where, "given")) {
		lose_on_given();
	} else if (!strcmp(where, "local")) {
		void *volatile block = site_last();

		forget();
		exit(block == NULL);
	} else if (!strcmp(where, "litter")) {
		litter(site_last());
		exit(0);
	} else if (!strcmp(where, "register")) {
		hold_in_register(exit);
	} else if (!strcmp(where, "_register")) {
		hold_in_register(_exit);
	} else {
		lose_below();
	}
	forget();
	if (!strcmp(where, "exit"))
		exit(0);
	if (!strcmp(where, "_exit"))
		_exit(0);
	return 0;
}
