/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a process that cannot be attached to, and threads at its hooks. */
#include "base/array.h"
#include "base/status.h"
#include "format/attach.h"
#include "launch/arch/arch.h"
#include "launch/attach/attach_check.h"
#include "launch/attach/attach_thread.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* after the headers that it needs */
#include <cmocka.h>

static void check_said(pid_t pid, int error, const char *text)
{
	struct diag_list diags = {0};

	attach_explain(pid, error, &diags);
	assert_int_equal(diags.count, 1);
	assert_non_null(strstr(diags.items[0].text, text));
	diag_fini(&diags);
}

/* The kernel lets nobody trace a process from when it begins to end: EPERM. */
static void no_permission(void **state)
{
	siginfo_t info;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	check_said(pid, EPERM, "No permission");
	check_said(pid, ESRCH, "has ended");
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	check_said(pid, EPERM, "has ended");
	check_said(pid, EACCES, "has ended");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A handler of the collector blocks all but faults (wrap/signal.c); a program has its own open. */
static void handlers_are_known(void **state)
{
	const uint64_t never = FORMAT_SIGNAL_BIT(SIGKILL) | FORMAT_SIGNAL_BIT(SIGSTOP);
	struct held held = {.mask = ~never};

	assert_true(held_is_collectors(&held));
	held.mask &= ~FORMAT_SIGNAL_BIT(SIGBUS);
	assert_true(held_is_collectors(&held));
	held.mask &= ~FORMAT_SIGNAL_BIT(SIGSEGV);
	assert_true(held_is_collectors(&held));
	held.mask &= ~FORMAT_SIGNAL_BIT(SIGINT);
	assert_false(held_is_collectors(&held));
}

#if defined(__x86_64__)
/* As the C library has execveat: mov %rcx,%r10; mov $322,%eax; syscall. */
static void into_a_hook(void **state)
{
	enum { PLACE = 0x1000, END = 10, RESTARTS = -513 };
	const struct arch_hook *hook = &arch_hooks[1];
	static const struct {
		uint64_t pc, rax, orig_rax, expected;
	} cases[] = {
		{PLACE, 0, (uint64_t)-1, PLACE},
		{PLACE + 3, 0, (uint64_t)-1, PLACE},
		{PLACE + 8, 322, (uint64_t)-1, PLACE},
		/* stopped before the kernel begins it again; and when it has failed */
		{PLACE + END, (uint64_t)RESTARTS, 322, PLACE},
		{PLACE + END, (uint64_t)-ENOENT, 322, PLACE + END},
		{PLACE + END, (uint64_t)-1, (uint64_t)-1, PLACE + END},
		{PLACE - 1, 0, (uint64_t)-1, PLACE - 1},
	};

	assert_string_equal(hook->name, "execveat");
	assert_int_equal(hook->size, END);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct user_regs_struct registers = {.rip = cases[i].pc,
						     .rax = cases[i].rax,
						     .orig_rax = cases[i].orig_rax,
						     .r10 = 4,
						     .rcx = 77};

		arch_enter_hook(&registers, PLACE, hook);
		assert_int_equal(registers.rip, cases[i].expected);
		if (registers.rip == cases[i].pc)
			continue;
		assert_int_equal(registers.rcx, 4);
		assert_int_equal(registers.orig_rax, -1);
	}
}
#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_permission),
		cmocka_unit_test(handlers_are_known),
#if defined(__x86_64__)
		cmocka_unit_test(into_a_hook),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
