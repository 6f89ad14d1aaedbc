/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child is single-stepped through all that compiled code does with its stack,
 * and unwound from outside after every instruction.
 *
 * The truth is a shadow stack: the test watches calls being executed, signals
 * being delivered and the stack pointer rising again.  It knows nothing of CFI.
 */
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/unwind/unwind.h"
#include "format/format.h"
#include "unwind_support.h"

/* Each call is a frame of its own; compiled with -fno-optimize-sibling-calls. */
#ifdef __clang__
#define FRAME	      __attribute__((noinline))
#define FRAME_POINTER __attribute__((noinline, optnone))
#else
#define FRAME	      __attribute__((noinline, noclone))
#define FRAME_POINTER __attribute__((noinline, optimize("O0")))
#endif

enum { CAPACITY = 256, STEPS = 200000 };

/* What the child runs. */

static volatile int sink;

static FRAME int small(int n)
{
	return n + sink;
}

static FRAME int many_registers(int a, int b, int c, int d)
{
	int w = small(a), x = small(b), y = small(c), z = small(d);

	if (a > 100)
		return small(w) + small(x);
	return small(w) * x + small(y) * z + small(x) * w + small(z) * y;
}

static FRAME int recursion(int n)
{
	return n ? recursion(n - 1) + 1 : small(n);
}

static FRAME int realigned(int n)
{
	volatile char aligned[128] __attribute__((aligned(64)));
	volatile char *room = __builtin_alloca((size_t)n);

	aligned[0] = room[0] = (char)n;
	return many_registers(n, aligned[0], room[0], 4);
}

static FRAME_POINTER int frame_pointer(int n)
{
	int array[16];

	array[n & 15] = realigned(n);
	return array[n & 15] + recursion(2);
}

static FRAME int big_frame(int n)
{
	volatile char room[70000];

	room[n] = 1;
	return small(room[n]);
}

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	sink += many_registers(1, 2, 3, number);
}

static FRAME int jumps(void)
{
	jmp_buf buffer;

	if (setjmp(buffer))
		return small(1);
	recursion(1);
	longjmp(buffer, 1);
}

/* Each library function here is called for the first time: through the PLT and the resolver. */
static FRAME int program(void)
{
	int numbers[] = {5, 3, 4, 1, 2};
	char text[32];
	struct timespec now;
	size_t count = 5;
	int key = 4;

	sink += many_registers(1, 2, 3, 4) + many_registers(101, 2, 3, 4);
	sink += frame_pointer(33);
	sink += big_frame(60000);
	sink += (int)a64l("xyz");
	sink += lfind(&key, numbers, &count, sizeof(int), order) != NULL;
	qsort(numbers, 5, sizeof(numbers[0]), order);
	clock_gettime(CLOCK_MONOTONIC, &now);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	sink += jumps();
	snprintf(text, sizeof(text), "%d %s %5.2f", numbers[0], "text", (double)now.tv_nsec);
	strfry(text);
	return sink;
}

/* The shadow stack. */

struct shadow_entry {
	uint64_t sp; /* the entry is gone once the stack pointer is above */
	uint64_t pc; /* as a stack node has it */
};

static struct shadow_entry shadow[CAPACITY];
static unsigned int shadow_count;

static void push(uint64_t sp, uint64_t pc)
{
	assert_true(shadow_count < CAPACITY);
	shadow[shadow_count++] = (struct shadow_entry){sp, pc};
}

static void pop_below(uint64_t sp)
{
	while (shadow_count && shadow[shadow_count - 1].sp < sp)
		shadow_count--;
}

static pid_t child;

static uint64_t peek(uint64_t address)
{
	uint64_t word = 0;
	struct iovec local = {&word, sizeof(word)}, remote = {(void *)address, sizeof(word)};

	process_vm_readv(child, &local, 1, &remote, 1, 0);
	return word;
}

/* Whether the instruction is a call, by its opcode; prefixes as compilers use them. */
static bool is_call(uint64_t pc)
{
	uint64_t bytes = peek(pc);

	while ((bytes & 0xff) == 0xf2 || (bytes & 0xff) == 0x3e || (bytes & 0xff) == 0x67 ||
	       (bytes & 0xf0) == 0x40)
		bytes >>= 8;
	return (bytes & 0xff) == 0xe8 || ((bytes & 0xff) == 0xff && (bytes >> 8 & 0x38) == 0x10);
}

static struct unwind_memory *memory;
static struct unwind_stack stack;

static void print_stack(const uint64_t *pcs, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		print_message("  %#lx %s\n", pcs[i], support_name(pcs[i]));
	print_message("expected\n");
	for (i = shadow_count; i-- > 0;)
		print_message("  %#lx %s\n", shadow[i].pc, support_name(shadow[i].pc));
}

/* The stack of the child now, with all registers or with only what a system call leaves known. */
static void check(const struct user_regs_struct *user, bool all)
{
	const uint64_t values[UNWIND_REGS] = {user->rax, user->rdx, user->rcx, user->rbx, user->rsi,
					      user->rdi, user->rbp, user->rsp, user->r8,  user->r9,
					      user->r10, user->r11, user->r12, user->r13, user->r14,
					      user->r15, user->rip};
	struct unwind_regs regs = {.known = (1u << UNWIND_REGS) - 1};
	uint64_t pcs[CAPACITY];
	enum unwind_end end;
	uint32_t count, i, node;
	bool right;

	memcpy(regs.reg, values, sizeof(values));
	if (!all)
		unwind_regs_from_syscall(&regs, user->rip, user->rsp);
	node = unwind_stack_node(memory, &regs, &stack, support_intern, NULL, &end);
	count = support_path(node, pcs, CAPACITY);
	right = end == UNWIND_COMPLETE && count > shadow_count + 3 && pcs[0] == user->rip;
	for (i = 0; right && i < shadow_count; i++)
		right = pcs[1 + i] == shadow[shadow_count - 1 - i].pc;
	right = right && support_is_in(pcs[count - 1], "_start");
	if (!right) {
		print_message("end %d, reason %d\n", end, memory->reason);
		print_stack(pcs, count);
		fail();
	}
}

/* One instruction; false: the child has ended. */
static bool step(struct user_regs_struct *regs, int *signal_number)
{
	uint64_t pc = regs->rip, sp = regs->rsp;
	bool call = is_call(pc);
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)*signal_number), 0);
	waitpid(child, &status, 0);
	if (!WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_GETREGS, child, NULL, regs);
	pop_below(regs->rsp);
	if (*signal_number) {
		/* Now at the handler's first instruction, the restorer's address on top. */
		push(sp - 129, pc);
		push(regs->rsp, peek(regs->rsp) - 1);
	} else if (call && regs->rsp == sp - 8) {
		push(regs->rsp, peek(regs->rsp) - 1);
	}
	*signal_number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

static void start_child(void)
{
	struct user_regs_struct regs;
	int status, waiting = 0;

	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		__asm__ volatile("int3");
		program();
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSTOPPED(status));
	/* On to the call of program(): from there on the shadow knows everything. */
	do {
		ptrace(PTRACE_GETREGS, child, NULL, &regs);
		assert_true(step(&regs, &waiting));
	} while (regs.rip != (uint64_t)&program);
}

static void test_step(void **state)
{
	struct user_regs_struct regs;
	int signal_number = 0;
	unsigned long steps = 0, remote = 0;
	bool jumping = false;

	shadow_count = 0;
	start_child();
	stack = support_stack_of(&child);
	ptrace(PTRACE_GETREGS, child, NULL, &regs);
	while (shadow_count && steps < STEPS) {
		/*
		 * What a monitor knows of a blocked thread, and, called by frame_pointer()
		 * whose CFA hangs on rbp, the same without any frame that has saved rbp.
		 */
		bool blocked = (peek(regs.rip - 2) & 0xffff) == 0x050f ||
			       support_is_in(regs.rip, "recursion");

		/* glibc's CFI of __longjmp describes the stack that it jumps to. */
		jumping |= support_is_in(shadow[shadow_count - 1].pc, "siglongjmp");
		jumping &= !support_is_in(regs.rip, "jumps");
		if (!jumping)
			check(&regs, true);
		if (blocked) {
			check(&regs, false);
			remote++;
		}
		if (!step(&regs, &signal_number))
			break;
		steps++;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	print_message("%lu instructions, %lu with pc and sp alone, %lu steps with all registers\n",
		      steps, remote, memory->counts.slow);
	assert_true(steps > 3000 && steps < STEPS);
	assert_true(remote >= 20);
	assert_true(memory->counts.slow > 100); /* the resolver's CFA hangs on rbx */
}

static int setup(void **state)
{
	support_publish();
	memory = support_memory(0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_step)};

	return cmocka_run_group_tests(tests, setup, NULL);
}
