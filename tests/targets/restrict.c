/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes, restricts its own system calls, computes on, and ends:
 *
 *   strict     seccomp's strict mode: read, write, exit, sigreturn
 *   filter     a filter that kills the process on all but write and the two exits
 *   syscall    the same filter, set through syscall(2), for all threads
 *   switching  the same after so many context switches that a collector has much to do
 *   dispatch   each system call raises SIGSYS until it ends
 *   tsc        each look at the processor's clock raises SIGSEGV
 *   probe      asks only what the kernel knows, which restricts nothing
 */
#include "target.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static volatile uint64_t sink;

static NOINLINE void before(double seconds)
{
	while (cpu_now() < seconds)
		sink += churn(sink | 1, 10000);
}

/* Each is a context switch. */
static void sleep_often(void)
{
	for (int i = 0; i < 1200; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}

/* No clock here: it may be a system call. */
static NOINLINE void after(void)
{
	for (int i = 0; i < 2000; i++)
		sink += churn(sink | 1, 10000);
}

#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_write),
	ALLOW(SYS_exit),
	ALLOW(SYS_exit_group),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

static volatile char selector = PR_SYS_DISPATCH_OFF;

static int dispatch_calls(void)
{
	int result = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector);

	selector = SYSCALL_DISPATCH_FILTER_BLOCK;
	return result;
}

static int restrict_calls(const char *how)
{
	if (!strcmp(how, "dispatch"))
		return dispatch_calls();
	if (!strcmp(how, "tsc"))
		return prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	if (!strcmp(how, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (!strcmp(how, "probe"))
		return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 1;
	if (!strcmp(how, "filter"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    &program);
}

int main(int argc, char **argv)
{
	static const char done[] = "went on to its end\n";

	if (argc < 2)
		return 2;
	before(0.15);
	if (!strcmp(argv[1], "switching"))
		sleep_often();
	if (restrict_calls(argv[1]))
		return 3;
	after();
	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	if (write(1, done, sizeof(done) - 1) < 0)
		return 4;
	if (!strcmp(argv[1], "strict"))
		syscall(SYS_exit, 7);
	_exit(7);
}
