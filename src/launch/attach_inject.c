/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread is stopped, its registers, vector state and signal mask are put
 * aside, and it is made to call a function on a stack of our own, with a return address of
 * 0: the fault there tells that the function has returned.  Only faults are
 * unblocked meanwhile, so no handler of the program runs in the middle.
 *
 * A system call that was interrupted goes on.  The kernel does that itself where
 * no handler has run: restart_syscall for nanosleep, poll and futex, with the time
 * that remains.  Some calls return EINTR even so (signal(7)): these are begun again, unless a
 * signal that the program expects is on its way.
 */
#include "launch/attach_inject.h"

#include "launch/attach_check.h"
#include "launch/proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum {
	STOP_WAIT_MS = 2000,
	CALL_WAIT_MS = 20000,
	TRIES = 300,
	STRINGS = 64 * 1024, /* of INJECT_STACK */
	ERESTART_LOW = 512,  /* the kernel's -ERESTARTSYS … -ERESTART_RESTARTBLOCK */
	ERESTART_HIGH = 516,
	REDZONE = 512,
};

#define BIT(signal) ((uint64_t)1 << ((signal)-1))

/* Faults must stay open: the kernel would take a blocked one's handler away for good. */
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE))

/* The mask of the collector's handlers and of its own threads: not to be disturbed. */
#define COLLECTOR_MASK (~(BIT(SIGKILL) | BIT(SIGSTOP)))

/* The signals of the collector's engines. */
#define ENGINE_SIGNALS (BIT(SIGTRAP) | BIT(__SIGRTMAX - 1))

static void pause_ms(unsigned ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

static long trace(int request, pid_t tid, uint64_t address, uint64_t data)
{
	return ptrace(request, tid, (void *)address, (void *)data);
}

/* ---- stopping ---- */

/* The next stop of the thread; false if it is gone or none comes in time. */
static bool wait_stop(pid_t tid, int *status, unsigned limit_ms)
{
	for (unsigned waited_us = 0; waited_us < limit_ms * 1000;) {
		const struct timespec nap = {.tv_nsec = waited_us < 2000 ? 50000 : 1000000};
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(*status);
		if (got < 0 && errno != EINTR)
			return false;
		nanosleep(&nap, NULL);
		waited_us += (unsigned)nap.tv_nsec / 1000;
	}
	return false;
}

static bool is_event_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

/* Stops a thread; signals that are delivered on the way go their way. */
static bool stop(pid_t tid)
{
	int status;

	if (trace(PTRACE_SEIZE, tid, 0, 0))
		return false;
	if (trace(PTRACE_INTERRUPT, tid, 0, 0))
		return false;
	while (wait_stop(tid, &status, STOP_WAIT_MS)) {
		if (is_event_stop(status))
			return true;
		trace(PTRACE_CONT, tid, 0, (uint64_t)WSTOPSIG(status));
	}
	return false;
}

/* ---- what a thread is at ---- */

/* Signals pending for a thread that are not blocked there. */
static uint64_t pending_signals(pid_t pid, pid_t tid, uint64_t mask)
{
	char text[PROC_TEXT];

	proc_read_text(pid, tid, "status", text);
	return (proc_number(text, "SigPnd", 16) | proc_number(text, "ShdPnd", 16)) &
	       ~(mask | proc_number(text, "SigIgn", 16));
}

/* System calls that end with EINTR when a thread is only stopped and continued, and have done
 * nothing then. */
static bool is_begun_again(uint64_t call)
{
	switch (call) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_read:
	case SYS_write:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
		return true;
	default:
		return false;
	}
}

static bool in_call(const struct user_regs_struct *registers)
{
	return (int64_t)registers->orig_rax >= 0;
}

/* What the thread would do next if it was never stopped. */
static void mend_call(pid_t pid, pid_t tid, uint64_t mask, struct user_regs_struct *registers)
{
	if (!in_call(registers) || (int64_t)registers->rax != -EINTR ||
	    !is_begun_again(registers->orig_rax) ||
	    pending_signals(pid, tid, mask) & ~ENGINE_SIGNALS)
		return;
	registers->rip -= 2; /* the instruction itself */
	registers->rax = registers->orig_rax;
	registers->orig_rax = (uint64_t)-1;
}

/* ---- keeping and giving back ---- */

static bool keep(struct inject *inject)
{
	struct iovec xstate = {inject->xstate, sizeof(inject->xstate)};

	if (trace(PTRACE_GETREGS, inject->tid, 0, (uint64_t)&inject->registers) ||
	    trace(PTRACE_GETREGSET, inject->tid, NT_X86_XSTATE, (uint64_t)&xstate) ||
	    trace(PTRACE_GETSIGMASK, inject->tid, sizeof(inject->mask), (uint64_t)&inject->mask))
		return false;
	inject->xstate_size = xstate.iov_len;
	return true;
}

static void give_back(struct inject *inject)
{
	struct iovec xstate = {inject->xstate, inject->xstate_size};

	trace(PTRACE_SETREGSET, inject->tid, NT_X86_XSTATE, (uint64_t)&xstate);
	trace(PTRACE_SETREGS, inject->tid, 0, (uint64_t)&inject->registers);
	trace(PTRACE_SETSIGMASK, inject->tid, sizeof(inject->mask), (uint64_t)&inject->mask);
}

/* ---- calls ---- */

/* Lets the thread run to the fault at 0; other stops on the way are none of the call's. */
static bool run_to_zero(struct inject *inject, struct user_regs_struct *registers)
{
	int status;

	for (;;) {
		if (trace(PTRACE_CONT, inject->tid, 0, 0))
			return false;
		if (!wait_stop(inject->tid, &status, CALL_WAIT_MS))
			return false;
		if (trace(PTRACE_GETREGS, inject->tid, 0, (uint64_t)registers))
			return false;
		if (is_event_stop(status))
			continue;
		if (WSTOPSIG(status) == SIGSEGV)
			return !registers->rip;
		if (FAULTS & BIT(WSTOPSIG(status)))
			return false;
		inject->stop_owed |= WSTOPSIG(status) == SIGSTOP;
	}
}

static bool call(struct inject *inject, uint64_t stack_top, uint64_t function,
		 const uint64_t arguments[6], uint64_t *result)
{
	struct user_regs_struct registers = inject->registers;
	uint64_t mask = ~FAULTS, zero = 0;

	registers.rsp = (stack_top & ~(uint64_t)15) - 8;
	registers.rip = function;
	registers.rdi = arguments[0];
	registers.rsi = arguments[1];
	registers.rdx = arguments[2];
	registers.rcx = arguments[3];
	registers.r8 = arguments[4];
	registers.r9 = arguments[5];
	registers.rax = 0;
	registers.rbp = 0;
	registers.orig_rax = (uint64_t)-1;
	registers.eflags &= ~(uint64_t)0x400; /* the direction flag, as the ABI has it */
	if (!remote_write(inject->remote, registers.rsp, &zero, sizeof(zero)) ||
	    trace(PTRACE_SETSIGMASK, inject->tid, sizeof(mask), (uint64_t)&mask) ||
	    trace(PTRACE_SETREGS, inject->tid, 0, (uint64_t)&registers))
		return false;
	if (run_to_zero(inject, &registers)) {
		*result = registers.rax;
		return true;
	}
	/* It may still run, waiting for something: then it must be stopped to get its state back.
	 */
	int status;

	if (!trace(PTRACE_INTERRUPT, inject->tid, 0, 0))
		wait_stop(inject->tid, &status, STOP_WAIT_MS);
	return false;
}

bool inject_call(struct inject *inject, uint64_t function, uint64_t a, uint64_t b, uint64_t *result)
{
	const uint64_t arguments[6] = {a, b};

	return call(inject, inject->stack + INJECT_STACK - STRINGS, function, arguments, result);
}

uint64_t inject_put(struct inject *inject, const void *from, size_t size)
{
	uint64_t at = inject->strings_at;

	if (at + size > inject->stack + INJECT_STACK ||
	    !remote_write(inject->remote, at, from, size))
		return 0;
	inject->strings_at = (at + size + 15) & ~(uint64_t)15;
	return at;
}

static bool make_stack(struct inject *inject, uint64_t mmap)
{
	const uint64_t arguments[6] = {
		0, INJECT_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
		0};
	uint64_t result;

	if (!call(inject, inject->registers.rsp - REDZONE, mmap, arguments, &result) ||
	    result >= (uint64_t)-4096)
		return false;
	inject->stack = result;
	inject->strings_at = result + INJECT_STACK - STRINGS;
	return true;
}

/* ---- taking and letting go ---- */

static void detach(struct inject *inject)
{
	trace(PTRACE_DETACH, inject->tid, 0, inject->stop_owed ? SIGSTOP : 0);
	inject->tid = 0;
}

/* Stops the thread and keeps it if it stands well. */
static bool try_thread(struct inject *inject, struct calm *calm, pid_t tid)
{
	inject->tid = tid;
	if (!stop(tid))
		return false;
	if (keep(inject) && inject->mask != COLLECTOR_MASK &&
	    calm_at(calm, tid, in_call(&inject->registers)))
		return true;
	mend_call(inject->remote->pid, tid, inject->mask, &inject->registers);
	give_back(inject);
	detach(inject);
	return false;
}

struct tids {
	VEC(pid_t) list;
};

static void list_tids(struct tids *tids, pid_t pid)
{
	char path[64];

	tids->list.count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			*vec_push(&tids->list) = tid;
	}
	if (dir)
		closedir(dir);
}

/* The first thread most of the time, the others in turn: it may never be at rest. */
static bool find_moment(struct inject *inject, struct calm *calm)
{
	struct tids tids = {0};
	bool found = false;

	for (unsigned i = 0; i < TRIES && !found; i++) {
		list_tids(&tids, inject->remote->pid);
		if (!tids.list.count)
			break;
		size_t index = i % 4 < 2 || i < 8 ? 0 : i / 4 % tids.list.count;

		found = try_thread(inject, calm, tids.list.items[index]);
		if (!found)
			pause_ms(1 + i % 8);
	}
	vec_fini(&tids.list);
	return found;
}

enum status inject_take(struct inject *inject, struct remote *remote, struct calm *calm,
			uint64_t mmap, uint64_t munmap, struct diag_list *diags)
{
	*inject = (struct inject){.remote = remote, .munmap = munmap};
	if (!find_moment(inject, calm)) {
		inject->tid = 0;
		if (kill(remote->pid, 0) && errno == ESRCH) {
			attach_explain(remote->pid, errno, diags);
			return STATUS_NOTFOUND;
		}
		diag_add(diags, DIAG_ERROR,
			 "Process %d: no thread could be stopped where it is safe to load a "
			 "library; try again, or start the program with helio collect",
			 (int)remote->pid);
		return STATUS_IO;
	}
	if (make_stack(inject, mmap))
		return STATUS_OK;
	inject_let_go(inject);
	diag_add(diags, DIAG_ERROR, "Process %d: no memory could be mapped in it",
		 (int)remote->pid);
	return STATUS_IO;
}

void inject_let_go(struct inject *inject)
{
	const uint64_t arguments[6] = {inject->stack, INJECT_STACK};
	uint64_t result;

	if (!inject->tid)
		return;
	if (inject->stack)
		call(inject, inject->registers.rsp - REDZONE, inject->munmap, arguments, &result);
	mend_call(inject->remote->pid, inject->tid, inject->mask, &inject->registers);
	give_back(inject);
	detach(inject);
}

/* ---- pending signals of the collector ---- */

/*
 * The thread is stopped; only our signals are opened, so each of them shows as a
 * stop on the way to its handler, where it can be taken away.
 */
static void sweep_stopped(pid_t pid, pid_t tid)
{
	uint64_t mask, ours = ~ENGINE_SIGNALS;
	int status;

	if (trace(PTRACE_GETSIGMASK, tid, sizeof(mask), (uint64_t)&mask) ||
	    trace(PTRACE_SETSIGMASK, tid, sizeof(ours), (uint64_t)&ours))
		return;
	while (pending_signals(pid, tid, ours) & ENGINE_SIGNALS)
		if (trace(PTRACE_CONT, tid, 0, 0) || !wait_stop(tid, &status, STOP_WAIT_MS))
			return;
	trace(PTRACE_SETSIGMASK, tid, sizeof(mask), (uint64_t)&mask);
}

/* False: a handler of the collector is at work. */
static bool sweep_thread(pid_t pid, pid_t tid)
{
	struct user_regs_struct registers;
	uint64_t mask = 0;

	if (!stop(tid))
		return true;
	bool at_work = !trace(PTRACE_GETSIGMASK, tid, sizeof(mask), (uint64_t)&mask) &&
		       mask == COLLECTOR_MASK;

	if (!at_work) {
		sweep_stopped(pid, tid);
		if (!trace(PTRACE_GETREGS, tid, 0, (uint64_t)&registers)) {
			mend_call(pid, tid, mask, &registers);
			trace(PTRACE_SETREGS, tid, 0, (uint64_t)&registers);
		}
	}
	trace(PTRACE_DETACH, tid, 0, 0);
	return !at_work;
}

void inject_sweep_signals(const struct inject *inject, pid_t pid)
{
	struct tids tids = {0};

	list_tids(&tids, pid);
	for (size_t i = 0; i < tids.list.count; i++) {
		if (tids.list.items[i] == inject->tid) {
			sweep_stopped(pid, inject->tid);
			continue;
		}
		for (int tries = 0; tries < TRIES && !sweep_thread(pid, tids.list.items[i]);
		     tries++)
			pause_ms(1);
	}
	vec_fini(&tids.list);
}
