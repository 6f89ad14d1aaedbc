/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call that was interrupted goes on.  The kernel does that itself where
 * no handler has run: restart_syscall for nanosleep, poll and futex, with the time
 * that remains.  Some calls return EINTR even so (signal(7)): these are begun again, unless a
 * signal that the program expects is on its way.
 */
#include "launch/attach/attach_thread.h"

#include "launch/arch/arch.h"
#include "launch/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	STOP_WAIT_MS = 2000,
	PAGE = 4096,
};

long held_trace(int request, pid_t tid, uint64_t address, uint64_t data)
{
	return ptrace(request, tid, (void *)address, (void *)data);
}

/* ---- stopping ---- */

bool held_is_event_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

/* SIGCHLD, blocked in all threads, tells of stops. */
bool held_wait_stop(pid_t tid, int *status, unsigned limit_ms)
{
	struct timespec now, end;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += limit_ms / 1000 + 1;
	do {
		const struct timespec nap = {.tv_nsec = 10000000};
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(*status);
		if (got < 0 && errno != EINTR)
			return false;
		sigtimedwait(&child, NULL, &nap);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	return false;
}

/* False: gone, or it does not stop. */
static bool wait_event_stop(pid_t tid)
{
	int status;

	while (held_wait_stop(tid, &status, STOP_WAIT_MS)) {
		if (held_is_event_stop(status))
			return true;
		held_trace(PTRACE_CONT, tid, 0, (uint64_t)WSTOPSIG(status));
	}
	return false;
}

/* ---- what a thread is at ---- */

uint64_t held_pending(pid_t pid, pid_t tid, uint64_t mask)
{
	char text[PROC_TEXT];

	proc_read_text(pid, tid, "status", text);
	return (proc_number(text, "SigPnd", 16) | proc_number(text, "ShdPnd", 16)) &
	       ~(mask | proc_number(text, "SigIgn", 16));
}

bool held_is_begun_again(long call)
{
	switch (call) {
#if defined(SYS_epoll_wait)
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_io_uring_enter:
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

/* All signals; but those of faults may be open (wrap/signal.c). */
bool held_is_collectors(const struct held *held)
{
	const uint64_t never = FORMAT_SIGNAL_BIT(SIGKILL) | FORMAT_SIGNAL_BIT(SIGSTOP);
	const uint64_t faults = FORMAT_SIGNAL_BIT(SIGBUS) | FORMAT_SIGNAL_BIT(SIGSEGV);

	return (held->mask | faults) == ~never;
}

bool held_in_call(const struct held *held)
{
	return arch_call(&held->registers) >= 0;
}

/* What the thread would do next if it was never stopped. */
static void mend_call(struct held *held)
{
	if (held_in_call(held) && arch_result(&held->registers) == -EINTR &&
	    held_is_begun_again(arch_call(&held->registers)) &&
	    !(held_pending(held->pid, held->tid, held->mask) & ~FORMAT_ENGINE_SIGNALS))
		arch_begin_again(&held->registers);
}

/* ---- keeping and giving back ---- */

static bool keep(struct held *held)
{
	struct iovec xstate = {held->xstate, sizeof(held->xstate)};

	if (!arch_read_registers(held->tid, &held->registers) ||
	    held_trace(PTRACE_GETREGSET, held->tid, ARCH_VECTOR_NOTE, (uint64_t)&xstate) ||
	    held_trace(PTRACE_GETSIGMASK, held->tid, sizeof(held->mask), (uint64_t)&held->mask))
		return false;
	held->xstate_size = xstate.iov_len;
	return true;
}

enum held_why held_take(struct held *held, pid_t pid, pid_t tid)
{
	*held = (struct held){.pid = pid, .tid = tid};
	if (held_trace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD)) {
		held->tid = 0;
		return errno == EPERM ? HELD_DENIED : HELD_GONE;
	}
	if (!held_trace(PTRACE_INTERRUPT, tid, 0, 0) && wait_event_stop(tid)) {
		if (keep(held))
			return HELD_OK;
		held_trace(PTRACE_DETACH, tid, 0, 0);
		held->tid = 0;
		return HELD_GONE;
	}
	held->tid = 0;
	return syscall(SYS_tgkill, pid, tid, 0) ? HELD_GONE : HELD_UNINTERRUPTIBLE;
}

static void clear(const struct remote *remote, uint64_t from, uint64_t to)
{
	static const char zeros[PAGE];

	for (; from < to; from += PAGE)
		remote_write(remote, from, zeros, PAGE);
}

/*
 * In this order the thread can go on by itself after each step: as long as it has the
 * registers of a call of ours, the frame gives it the rest.
 */
void held_let_go(struct held *held, const struct remote *remote)
{
	struct iovec xstate = {held->xstate, held->xstate_size};

	if (!held->tid)
		return;
	mend_call(held);
	held_trace(PTRACE_SETREGSET, held->tid, ARCH_VECTOR_NOTE, (uint64_t)&xstate);
	held_trace(PTRACE_SETSIGMASK, held->tid, sizeof(held->mask), (uint64_t)&held->mask);
	arch_write_registers(held->tid, &held->registers);
	if (held->spare_fresh)
		clear(remote, held->spare, held->spare_end);
	held_trace(PTRACE_DETACH, held->tid, 0, held->stop_owed ? SIGSTOP : 0);
	held->tid = 0;
}

/* ---- a place for it ---- */

/*
 * The thread's own stack: the kernel's, or one that the C library has mapped, whose
 * guard is below and whose thread descriptor is at its upper end.
 */
static const struct remote_mapping *own_stack(const struct held *held, const struct remote *remote)
{
	for (size_t i = 0; i < remote->mappings.count; i++) {
		const struct remote_mapping *mapping = &remote->mappings.items[i];
		const struct remote_mapping *below = i ? mapping - 1 : NULL;
		uint64_t base = arch_thread_pointer(&held->registers);

		if (!mapping->writable)
			continue;
		if (held->tid == held->pid
			    ? mapping->is_stack
			    : base >= mapping->start && base < mapping->end && below &&
				      below->end == mapping->start && !below->readable)
			return mapping;
	}
	return NULL;
}

/* Pages from the lower end on that were never touched, `room` bytes in all. */
static bool find_fresh(struct held *held, const struct remote_mapping *stack, uint64_t room)
{
	enum { PAGES = 512 };
	char path[64];
	uint64_t pages[PAGES], wanted = (room + PAGE - 1) / PAGE, run = 0;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)held->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t size = pread(fd, pages, sizeof(pages), (off_t)(stack->start / PAGE * 8));

	close(fd);
	for (uint64_t i = 0; size > 0 && i < (uint64_t)size / 8; i++) {
		uint64_t end = stack->start + (i + 1) * PAGE;

		if (end > stack->end || (arch_sp(&held->registers) >= stack->start &&
					 end + PAGE > arch_sp(&held->registers)))
			break;
		run = pages[i] >> 62 ? 0 : run + 1; /* present, or swapped out */
		if (run < wanted)
			continue;
		held->spare = end - wanted * PAGE;
		held->spare_end = end;
		held->spare_fresh = true;
		return true;
	}
	return false;
}

bool held_find_spare(struct held *held, struct remote *remote)
{
	uint64_t room = held_frame_room(held), top = arch_sp(&held->registers) - ARCH_RED_ZONE;
	const struct remote_mapping *stack = remote_look(remote) ? own_stack(held, remote) : NULL;

	if (!stack)
		return false;
	if (find_fresh(held, stack, room))
		return true;
	if (top < stack->start + room || top > stack->end)
		return false;
	held->spare = top - room;
	held->spare_end = top;
	return true;
}
