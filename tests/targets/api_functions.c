/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes functions at run time, as a JIT compiler does, and announces them:
 *
 *   one, two, three   have 1, 2 and 3 parts of the work
 *   four              comes to where two was, and has 2 parts, after it
 *   caller            calls C code: it must be found between that and main
 *   secret            is not announced, and has 1 part
 *   even, odd         come to one place by turns, a hundred times, and have 2 and 6 parts together
 *
 * Then it forks: the child has one and five, which it announces itself.
 */
#include "target.h"

#include <heliometer/collectorAPI.h>

#include <sys/mman.h>
#include <sys/wait.h>

enum { CODE_ROOM = 4096, SLOT = 64, UNIT = 40000000 };

typedef uint64_t work_fn(uint64_t steps);

static uint8_t *code;

/* A chain of dependent multiplications. */
static const uint8_t loop_code[] = {
	0x55,			/* 0  push %rbp */
	0x48, 0x89, 0xe5,	/* 1  mov %rsp,%rbp */
	0x48, 0x6b, 0xc0, 0x03, /* 4  imul $3,%rax,%rax */
	0x48, 0xff, 0xc0,	/* 8  inc %rax */
	0x48, 0xff, 0xcf,	/* 11 dec %rdi */
	0x75, 0xf4,		/* 14 jne 4 */
	0x5d,			/* 16 pop %rbp */
	0xc3,			/* 17 ret */
};

/* Calls its second argument with its first. */
static const uint8_t caller_code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0xff, 0xd6,	  /* call *%rsi */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};

static work_fn *make(int slot, const uint8_t *bytes, size_t size)
{
	mprotect(code, CODE_ROOM, PROT_READ | PROT_WRITE);
	memcpy(code + slot * SLOT, bytes, size);
	mprotect(code, CODE_ROOM, PROT_READ | PROT_EXEC);
	return (work_fn *)(void *)(code + slot * SLOT);
}

static work_fn *make_loop(int slot)
{
	return make(slot, loop_code, sizeof(loop_code));
}

static NOINLINE uint64_t compiled(uint64_t steps)
{
	return churn(steps, (long)steps) + 1;
}

static void run(const char *name, work_fn *work, uint64_t steps)
{
	double before = cpu_now();

	work(steps);
	printf("%s %.6f\n", name, cpu_now() - before);
}

static void announce(const char *name, const char *source, work_fn *work, int lines, Lineno *table)
{
	collector_func_load(name, NULL, source, (void *)work, sizeof(loop_code), lines, table);
}

/* A compiler that throws its code away all the time; every fourth piece is not withdrawn. */
static void take_turns(void)
{
	enum { TURNS = 100 };
	double used[2] = {0};

	for (int i = 0; i < TURNS; i++) {
		work_fn *work = make_loop(6);
		double before;

		announce(i & 1 ? "odd" : "even", NULL, work, 0, NULL);
		before = cpu_now();
		work((i & 1 ? 6 : 2) * UNIT / (TURNS / 2));
		used[i & 1] += cpu_now() - before;
		if (i & 3)
			collector_func_unload((void *)work);
	}
	printf("even %.6f\nodd %.6f\n", used[0], used[1]);
}

static void in_child(work_fn *one)
{
	work_fn *five = make_loop(5);

	announce("five", NULL, five, 0, NULL);
	run("child.one", one, UNIT);
	run("child.five", five, 2 * UNIT);
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	Lineno table[] = {{0, 10}, {4, 11}, {16, 12}};

	code = mmap(NULL, CODE_ROOM, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	work_fn *one = make_loop(0), *two = make_loop(1), *three = make_loop(2);
	work_fn *secret = make_loop(3);
	uint64_t (*caller)(uint64_t, work_fn *) = (void *)make(4, caller_code, sizeof(caller_code));

	announce("one", NULL, one, 0, NULL);
	announce("two", "two.src", two, 0, NULL);
	announce("three", "three.src", three, 3, table);
	collector_func_load("caller", "alias_of_caller", NULL, (void *)caller, sizeof(caller_code),
			    0, NULL);
	run("one", one, UNIT);
	run("two", two, 2 * UNIT);
	run("three", three, 3 * UNIT);
	run("secret", secret, UNIT);

	double before = cpu_now();

	caller(UNIT, compiled);
	printf("caller %.6f\n", cpu_now() - before);
	collector_func_unload((void *)two);
	announce("four", NULL, make_loop(1), 0, NULL);
	run("four", two, 2 * UNIT);
	take_turns();
	printf("address %lx\n", (unsigned long)code);
	fflush(stdout);
	if (!fork())
		in_child(one);
	wait(NULL);
	return 0;
}
