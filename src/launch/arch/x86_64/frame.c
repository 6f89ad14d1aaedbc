/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame is what the kernel puts on a stack for a signal handler, and rt_sigreturn takes
 * everything back from it at once: registers, vector state and mask.  After it no
 * call goes on where it was, so calls begin anew there; it serves only if we are killed.
 */
#include "launch/arch/arch.h"
#include "launch/attach/attach_thread.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum {
	ERESTART_LOW = 512, /* the kernel's -ERESTARTSYS … -ERESTART_RESTARTBLOCK */
	ERESTART_HIGH = 516,
	PAGE = 4096,
	CALL_STACK = PAGE, /* what a system call's function may use */
};

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
	if (held_in_call(held) &&
	    ((result <= -ERESTART_LOW && result >= -ERESTART_HIGH) ||
	     (result == -EINTR && held_is_begun_again((long)registers.orig_rax))))
		arch_begin_again(&registers);
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
