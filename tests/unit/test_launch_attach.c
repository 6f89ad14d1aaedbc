/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a process that cannot be attached to. */
#include "base/status.h"
#include "format/attach.h"
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

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(no_permission),
						  cmocka_unit_test(handlers_are_known)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
