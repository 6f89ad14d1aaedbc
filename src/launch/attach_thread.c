/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call that was interrupted goes on.  The kernel does that itself where
 * no handler has run: restart_syscall for nanosleep, poll and futex, with the time
 * that remains.  Some calls return EINTR even so (signal(7)): these are begun again, unless a
 * signal that the program expects is on its way.
 *
 * The frame is what the kernel puts on a stack for a signal handler, and rt_sigreturn takes
 * everything back from it at once: registers, vector state and mask.  After it no
 * call goes on where it was, so calls begin anew there; it serves only if we are killed.
 */
#include "launch/attach_thread.h"

#include "launch/proc.h"

#include <cpuid.h>
#include <elf.h>
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
#include <ucontext.h>
#include <unistd.h>

enum {
	STOP_WAIT_MS = 2000,
	ERESTART_LOW = 512, /* the kernel's -ERESTARTSYS … -ERESTART_RESTARTBLOCK */
	ERESTART_HIGH = 516,
	RED_ZONE = 128,
	PAGE = 4096,
	CALL_STACK = PAGE, /* what a system call's function may use */
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

/* All signals; but the one of files that are cut may be open (wrap/signal_bus.c). */
bool held_is_collectors(const struct held *held)
{
	const uint64_t never = FORMAT_SIGNAL_BIT(SIGKILL) | FORMAT_SIGNAL_BIT(SIGSTOP);

	return (held->mask | FORMAT_SIGNAL_BIT(SIGBUS)) == ~never;
}

bool held_in_call(const struct held *held)
{
	return (int64_t)held->registers.orig_rax >= 0;
}

static void begin_again(struct user_regs_struct *registers)
{
	registers->rip -= 2; /* the instruction itself */
	registers->rax = registers->orig_rax;
	registers->orig_rax = (uint64_t)-1;
}

/*
 * The call that restart_syscall would go on with.  The kernel forgets it with the frame, and that
 * call would return EINTR then: begin the first call anew.  Its arguments are still there, its
 * number in the instruction in front of it, mov $NUMBER,%eax; 0 if that is not to be found.
 */
static uint64_t restarted_call(const struct held *held, const struct remote *remote)
{
	static const uint8_t waits[] = {SYS_poll, SYS_nanosleep, SYS_futex, SYS_clock_nanosleep};
	enum { MOV = 5, SYSCALL = 2, LOOK = 32 };
	uint8_t code[LOOK + SYSCALL];

	if (!remote_read(remote, held->registers.rip - sizeof(code), code, sizeof(code)))
		return 0;
	for (size_t at = LOOK - MOV + 1; at--;)
		for (size_t i = 0; i < sizeof(waits); i++)
			if (!memcmp(code + at, (const uint8_t[]){0xb8, waits[i], 0, 0, 0}, MOV))
				return waits[i];
	return 0;
}

/* What the thread would do next if it was never stopped. */
static void mend_call(struct held *held)
{
	if (held_in_call(held) && (int64_t)held->registers.rax == -EINTR &&
	    is_begun_again(held->registers.orig_rax) &&
	    !(held_pending(held->pid, held->tid, held->mask) & ~FORMAT_ENGINE_SIGNALS))
		begin_again(&held->registers);
}

/* ---- keeping and giving back ---- */

static bool keep(struct held *held)
{
	struct iovec xstate = {held->xstate, sizeof(held->xstate)};

	if (held_trace(PTRACE_GETREGS, held->tid, 0, (uint64_t)&held->registers) ||
	    held_trace(PTRACE_GETREGSET, held->tid, NT_X86_XSTATE, (uint64_t)&xstate) ||
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
	held_trace(PTRACE_SETREGSET, held->tid, NT_X86_XSTATE, (uint64_t)&xstate);
	held_trace(PTRACE_SETSIGMASK, held->tid, sizeof(held->mask), (uint64_t)&held->mask);
	held_trace(PTRACE_SETREGS, held->tid, 0, (uint64_t)&held->registers);
	if (held->spare_fresh)
		clear(remote, held->spare, held->spare_end);
	held_trace(PTRACE_DETACH, held->tid, 0, held->stop_owed ? SIGSTOP : 0);
	held->tid = 0;
}

/* ---- the frame ---- */

enum {
	MAGIC1 = 0x46505853,
	MAGIC2 = 0x46505845,
	SOFTWARE = 464, /* of struct _fpstate: what the kernel says of its size */
	TILE_DATA = 18, /* present only in threads that have asked for it */
	CONTEXT_SIZE = offsetof(ucontext_t, uc_sigmask) + sizeof(uint64_t),
	CONTEXT_FLAGS = 7, /* UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */
	NO_STACK = 4,	   /* ss_flags that the kernel does not take: the stack stays */
};

struct software {
	uint32_t magic1, extended_size;
	uint64_t features;
	uint32_t size, padding[7];
};

/* The parts of the vector state that the kernel takes back from this thread. */
static uint64_t features_of(const struct held *held)
{
	uint64_t enabled, used;

	memcpy(&enabled, held->xstate + SOFTWARE, sizeof(enabled));
	memcpy(&used, held->xstate + 512, sizeof(used));
	return used >> TILE_DATA & 1 ? enabled : enabled & ~((uint64_t)1 << TILE_DATA);
}

static uint32_t xstate_size(const struct held *held)
{
	uint64_t features = features_of(held) & ~(uint64_t)3;
	uint32_t size = 512 + 64, part, at, unused, also_unused;

	for (unsigned i = 2; features >> i; i++) {
		if (!(features >> i & 1) ||
		    !__get_cpuid_count(0xd, i, &part, &at, &unused, &also_unused))
			continue;
		size = at + part > size ? at + part : size;
	}
	return size < held->xstate_size ? size : (uint32_t)held->xstate_size;
}

static void put_registers(const struct held *held, const struct remote *remote, ucontext_t *context)
{
	struct user_regs_struct registers = held->registers;
	int64_t result = (int64_t)registers.rax;
	uint64_t call =
		registers.orig_rax == SYS_restart_syscall ? restarted_call(held, remote) : 0;
	greg_t *to = context->uc_mcontext.gregs;

	if (call)
		registers.orig_rax = call;
	if (held_in_call(held) && ((result <= -ERESTART_LOW && result >= -ERESTART_HIGH) ||
				   (result == -EINTR && is_begun_again(registers.orig_rax))))
		begin_again(&registers);
	to[REG_R8] = (greg_t)registers.r8;
	to[REG_R9] = (greg_t)registers.r9;
	to[REG_R10] = (greg_t)registers.r10;
	to[REG_R11] = (greg_t)registers.r11;
	to[REG_R12] = (greg_t)registers.r12;
	to[REG_R13] = (greg_t)registers.r13;
	to[REG_R14] = (greg_t)registers.r14;
	to[REG_R15] = (greg_t)registers.r15;
	to[REG_RDI] = (greg_t)registers.rdi;
	to[REG_RSI] = (greg_t)registers.rsi;
	to[REG_RBP] = (greg_t)registers.rbp;
	to[REG_RBX] = (greg_t)registers.rbx;
	to[REG_RDX] = (greg_t)registers.rdx;
	to[REG_RAX] = (greg_t)registers.rax;
	to[REG_RCX] = (greg_t)registers.rcx;
	to[REG_RSP] = (greg_t)registers.rsp;
	to[REG_RIP] = (greg_t)registers.rip;
	to[REG_EFL] = (greg_t)registers.eflags;
	to[REG_CSGSFS] = (greg_t)(registers.cs | registers.ss << 48);
}

uint64_t held_frame_room(const struct held *held)
{
	return CALL_STACK + CONTEXT_SIZE + 64 + xstate_size(held) + 64;
}

uint64_t held_put_frame(const struct held *held, const struct remote *remote, uint64_t top,
			uint64_t back)
{
	static _Thread_local unsigned char room[HELD_XSTATE_MAX + PAGE];
	uint32_t size = xstate_size(held), magic2 = MAGIC2;
	uint64_t xstate = (top - size - sizeof(magic2)) & ~(uint64_t)63;
	uint64_t at = ((xstate - CONTEXT_SIZE) & ~(uint64_t)15) - sizeof(back);
	const struct software software = {.magic1 = MAGIC1,
					  .extended_size = size + (uint32_t)sizeof(magic2),
					  .features = features_of(held),
					  .size = size};
	ucontext_t context = {.uc_flags = CONTEXT_FLAGS, .uc_stack.ss_flags = NO_STACK};

	if (size > HELD_XSTATE_MAX)
		return 0;
	put_registers(held, remote, &context);
	context.uc_mcontext.fpregs = (fpregset_t)(uintptr_t)xstate;
	memcpy(&context.uc_sigmask, &held->mask, sizeof(held->mask));
	memset(room, 0, sizeof(room));
	memcpy(room, &back, sizeof(back));
	memcpy(room + sizeof(back), &context, CONTEXT_SIZE);
	unsigned char *vectors = room + (xstate - at);

	memcpy(vectors, held->xstate, size);
	memcpy(vectors + SOFTWARE, &software, sizeof(software));
	memcpy(vectors + size, &magic2, sizeof(magic2));
	return remote_write(remote, at, room, xstate - at + size + sizeof(magic2)) ? at : 0;
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
		uint64_t base = held->registers.fs_base;

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

		if (end > stack->end ||
		    (held->registers.rsp >= stack->start && end + PAGE > held->registers.rsp))
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
	uint64_t room = held_frame_room(held), top = held->registers.rsp - RED_ZONE;
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
