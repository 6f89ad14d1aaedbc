/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of a system call, read from the code in front of it: against what the kernel says in
 * each call of real programs, and for code that compilers and hands write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collector/arch/call.h"
#include "collector/arch/x86_64/effect.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void registers_of(const struct user_regs_struct *from, uint64_t *dwarf)
{
	const uint64_t values[] = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi,
				   from->rbp, from->rsp, from->r8,  from->r9,  from->r10, from->r11,
				   from->r12, from->r13, from->r14, from->r15, from->rip};

	memcpy(dwarf, values, sizeof(values));
}

static const char *waits; /* a program that waits in every way */

struct tally {
	long right, unknown, wrong, by_argument; /* whose number is gone */
};

/* At the end of a system call of the traced program. */
static void look(pid_t child, const struct user_regs_struct *regs, struct tally *tally)
{
	uint8_t code[CALL_CODE + 2];
	struct iovec local = {code, sizeof(code)};
	struct iovec remote = {(void *)(regs->rip - sizeof(code)), sizeof(code)};
	uint64_t dwarf[17];

	if (process_vm_readv(child, &local, 1, &remote, 1, 0) != sizeof(code) ||
	    code[CALL_CODE] != 0x0f || code[CALL_CODE + 1] != 0x05)
		return;
	registers_of(regs, dwarf);
	long number = call_number_in(code, CALL_CODE, dwarf), true_one = (long)regs->orig_rax;
	/* mov 0x8(%rsp),%r9 in front of it: syscall(3) of the C library */
	bool by_argument = !memcmp(code + CALL_CODE - 5, "\x4c\x8b\x4c\x24\x08", 5);

	if (true_one < 0) /* the end of a signal handler, the begin of a process */
		return;
	tally->by_argument += by_argument;
	if (by_argument)
		return;
	tally->right += number == true_one;
	tally->unknown += number < 0;
	if (number >= 0 && number != true_one && tally->wrong++ < 5)
		print_message("%#llx: %ld, the kernel says %ld\n", regs->rip, number, true_one);
}

static pid_t start(char **words)
{
	pid_t child = fork();

	if (!child) {
		if (!freopen("/dev/null", "w", stdout) || ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(126);
		raise(SIGSTOP);
		execvp(words[0], words);
		_exit(127);
	}
	return child;
}

/* Runs a program with all its threads; false: it is not here. */
static bool trace(char **words, struct tally *tally)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
	pid_t child = start(words), tid = child;
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	ptrace(PTRACE_SETOPTIONS, child, 0, options);
	ptrace(PTRACE_SYSCALL, child, 0, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct __ptrace_syscall_info info = {0};
		struct user_regs_struct regs;
		long signal = 0;

		if (!WIFSTOPPED(status)) {
			if (tid == child)
				break;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info);
			if (info.op == PTRACE_SYSCALL_INFO_EXIT &&
			    !ptrace(PTRACE_GETREGS, tid, 0, &regs))
				look(tid, &regs, tally);
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			signal = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, tid, 0, signal);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Nothing is told wrongly, and nearly all that a program calls is told. */
static void check_program(char **words)
{
	struct tally tally = {0};

	if (!trace(words, &tally)) {
		print_message("%s does not run here\n", words[0]);
		skip();
	}
	print_message("%s: %ld right, %ld unknown, %ld wrong, %ld by syscall(3)\n", words[0],
		      tally.right, tally.unknown, tally.wrong, tally.by_argument);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.right > 20);
	assert_true(tally.unknown * 100 <= tally.right);
}

static void test_ls(void **state)
{
	char *words[] = {"ls", "-lR", "/etc/apt", NULL};

	check_program(words);
}

static void test_waits(void **state)
{
	char *words[] = {(char *)waits, "0.01", "barrier",   "mutex", "rwlock",
			 "condition",	"once", "semaphore", "futex", "join",
			 "pipe",	"poll", "sleep",     "child", NULL};

	check_program(words);
}

static void test_threads(void **state)
{
	char *words[] = {"xz", "-T2", "-0", "-c", "--block-size=100000", (char *)waits, NULL};

	check_program(words);
}

static void test_interpreter(void **state)
{
	char *words[] = {
		"python3", "-c",
		"import socket, threading, subprocess, select, time, json, tempfile\n"
		"t = threading.Thread(target=time.sleep, args=(.01,)); t.start(); t.join()\n"
		"a, b = socket.socketpair(); a.send(b'x'); select.select([b], [], [], 1)\n",
		NULL};

	check_program(words);
}

/* Code of compilers and hands, with what it means; registers hold 100 + their number. */
static void test_forms(void **state)
{
	static const struct {
		long number;
		uint8_t size, code[20];
	} forms[] = {
		{202, 5, {0xb8, 0xca, 0, 0, 0}},		      /* mov $202,%eax */
		{0, 2, {0x31, 0xc0}},				      /* xor %eax,%eax */
		{0, 2, {0x33, 0xc0}},				      /* likewise */
		{0, 2, {0x29, 0xc0}},				      /* sub %eax,%eax */
		{106, 2, {0x89, 0xe8}},				      /* mov %ebp,%eax */
		{106, 6, {0x89, 0xe8, 0x40, 0x80, 0xf6, 0x80}},	      /* xor $0x80,%sil */
		{113, 7, {0x44, 0x89, 0xe8, 0x40, 0x80, 0xf6, 0x80}}, /* mov %r13d,%eax */
		{112, 3, {0x41, 0x8b, 0xc4}},			      /* mov %r12d,%eax */
		{35, 7, {0x48, 0xc7, 0xc0, 0x23, 0, 0, 0}},	      /* mov $35,%rax */
		{7, 3, {0x6a, 0x07, 0x58}},			      /* push $7; pop %rax */
		{-1, 1, {0x58}},				      /* pop %rax */
		{-1, 4, {0x8b, 0x44, 0x24, 0x08}},		      /* mov 8(%rsp),%eax */
		{-1, 6, {0x41, 0xb8, 0xca, 0, 0, 0}},		      /* mov $202,%r8d */
		{-1, 9, {0x89, 0xe8, 0xbd, 1, 0, 0, 0, 0x31, 0xd2}},  /* … mov $1,%ebp */
		{-1, 10, {0xb8, 1, 0, 0, 0, 0xe8, 0, 0, 0, 0}},	      /* … call */
		{-1, 7, {0xb8, 1, 0, 0, 0, 0xeb, 0}},		      /* … jmp */
		{14, 12, {0xb8, 14, 0, 0, 0, 0xbe, 0xb8, 3, 0, 0, 0x31, 0xff}}, /* mov $952,%esi */
		{-1, 2, {0x89, 0xc8}},						/* mov %ecx,%eax */
	};
	uint64_t registers[17];

	for (int i = 0; i < 17; i++)
		registers[i] = 100 + (uint64_t)i;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		uint8_t code[CALL_CODE];

		memset(code, 0x90, sizeof(code)); /* nop */
		memcpy(code + CALL_CODE - forms[i].size, forms[i].code, forms[i].size);
		long number = call_number_in(code, CALL_CODE, registers);

		if (number != forms[i].number)
			fail_msg("form %zu: %ld, not %ld", i, number, forms[i].number);
	}
}

/* Instructions that use memory, and such that only look so. */
static void test_accesses(void **state)
{
	static const struct {
		bool accesses;
		uint8_t code[16];
	} forms[] = {
		{true, {0x48, 0x8b, 0x00}},		 /* mov (%rax),%rax */
		{true, {0x0f, 0xb6, 0x00}},		 /* movzbl (%rax),%eax */
		{true, {0xc5, 0xfc, 0x28, 0x00}},	 /* vmovaps (%rax),%ymm0 */
		{true, {0x50}},				 /* push %rax */
		{true, {0xc3}},				 /* ret */
		{true, {0xf3, 0xa4}},			 /* rep movsb */
		{true, {0xff, 0xd0}},			 /* call *%rax */
		{true, {0xf0, 0x0f, 0xb1, 0x0f}},	 /* lock cmpxchg %ecx,(%rdi) */
		{false, {0x48, 0x8d, 0x04, 0x37}},	 /* lea (%rdi,%rsi),%rax */
		{false, {0x48, 0x01, 0xd8}},		 /* add %rbx,%rax */
		{false, {0x0f, 0x1f, 0x00}},		 /* nopl (%rax) */
		{false, {0x0f, 0x18, 0x08}},		 /* prefetcht0 (%rax) */
		{false, {0x75, 0x00}},			 /* jne */
		{false, {0xff, 0xe0}},			 /* jmp *%rax */
		{false, {0xc4, 0xe2, 0xf9, 0xf7, 0xc3}}, /* shlx */
		{false, {0xf2, 0x0f, 0x58, 0xc1}},	 /* addsd %xmm1,%xmm0 */
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (call_accesses_memory((uint64_t)forms[i].code) != forms[i].accesses)
			fail_msg("form %zu", i);
	assert_false(call_accesses_memory(8)); /* no code there */
}

/* A wait that goes on by restart_syscall: its number is in the code alone. */
static void test_restarted(void **state)
{
	enum { MOV_EAX = 0xb8 };
	static const long numbers[] = {SYS_futex, SYS_poll, SYS_nanosleep, SYS_clock_nanosleep};
	static const uint8_t by_number[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6,
					    0x48, 0x89, 0xca, 0x4d, 0x89, 0xc2, 0x4d, 0x89, 0xc8,
					    0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05};
	uint64_t futex[6] = {0x7f0000001000, 0x189}, poll[6] = {0x7f0000001000, 1, 1000};
	uint8_t code[CALL_CODE + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		memset(code, 0x90, sizeof(code));
		memcpy(code + CALL_CODE - 5, (uint8_t[]){MOV_EAX, (uint8_t)numbers[i], 0, 0, 0}, 5);
		memcpy(code + CALL_CODE, "\x0f\x05", 2);
		assert_int_equal(call_restarted((uint64_t)(code + sizeof(code)), futex),
				 numbers[i]);
	}
	/* syscall(3) */
	memcpy(code + sizeof(code) - sizeof(by_number), by_number, sizeof(by_number));
	assert_int_equal(call_restarted((uint64_t)(code + sizeof(code)), futex), SYS_futex);
	assert_int_equal(call_restarted((uint64_t)(code + sizeof(code)), poll), -1);
	assert_int_equal(call_restarted(8, futex), -1); /* no code there */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),	  cmocka_unit_test(test_accesses),
		cmocka_unit_test(test_ls),	  cmocka_unit_test(test_waits),
		cmocka_unit_test(test_threads),	  cmocka_unit_test(test_interpreter),
		cmocka_unit_test(test_restarted),
	};

	waits = argc > 1 ? argv[1] : "waitkinds";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
