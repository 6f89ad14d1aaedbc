/* SPDX-License-Identifier: Apache-2.0 */
/* From registers to a stack node: what the unwinder needs to know of this process. */
#include "collector/core/stack.h"

#include "collector/arch/sys.h"
#include "collector/core/modules.h"
#include "collector/core/thread_state.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/unwind/arch.h"

/* One dlopen may bring several objects onto one stack. */
enum { LEARN_MAX = 8 };

/* Memory that may be gone: a thread that ends, a coroutine's stack, a wild pointer. */
static size_t read_carefully(uint64_t address, void *to, size_t size, void *unused)
{
	(void)unused;
	return sys_read_memory(address, to, size);
}

static _Atomic(stack_pair_function *) stack_pair;

void stack_set_runtime(stack_pair_function *runtime)
{
	atomic_store(&stack_pair, runtime);
}

static uint32_t pair(struct thread *thread, const struct unwind_regs *regs, uint32_t stack)
{
	stack_pair_function *runtime = atomic_load_explicit(&stack_pair, memory_order_relaxed);

	return runtime ? runtime(thread, regs, stack) : stack;
}

/* Whether the last walk has met code loaded since the last look at the modules. */
static bool met_new_code(const struct unwind_memory *memory, enum unwind_end end)
{
	return end == UNWIND_FAILED && memory->reason == UNWIND_REASON_NO_CODE;
}

static uint32_t walk(struct thread *thread, const struct unwind_regs *regs,
		     const struct unwind_stack *stack, enum unwind_end *end)
{
	struct unwind_memory *memory = thread->unwind;
	bool patient = atomic_load_explicit(&thread->busy, memory_order_relaxed) == LOCK_BY_CALL;
	uint32_t node = unwind_stack_node(memory, regs, stack, stacktable_intern, NULL, end);

	for (int tries = 0; met_new_code(memory, *end) && tries < LEARN_MAX &&
			    modules_learn(unwind_outermost_pc(memory), patient);
	     tries++)
		node = unwind_stack_node(memory, regs, stack, stacktable_intern, NULL, end);
	/* It cannot be learned just now: its instructions are all there is. */
	if (met_new_code(memory, *end) &&
	    modules_at(unwind_outermost_pc(memory), NULL) == UNWIND_OBJECT_NEW) {
		const struct unwind_stack alone = {
			.low = stack->low, .high = stack->high, .read_slow = stack->read_slow};

		unwind_memory_reset(memory);
		node = unwind_stack_node(memory, regs, &alone, stacktable_intern, NULL, end);
	}
	return node;
}

static void count(enum unwind_end end)
{
	if (end == UNWIND_FAILED)
		atomic_fetch_add_explicit(&collector.unwind_failed, 1, memory_order_relaxed);
	if (end == UNWIND_TRUNCATED)
		atomic_fetch_add_explicit(&collector.truncated, 1, memory_order_relaxed);
}

static uint32_t unwind(struct thread *thread, const struct unwind_regs *regs,
		       const struct unwind_stack *stack)
{
	enum unwind_end end;
	uint32_t node = walk(thread, regs, stack, &end);

	count(end);
	return node;
}

void stack_interrupted(struct unwind_regs *regs, const void *context)
{
	uint8_t code[UNWIND_PREEMPT_SIZE];
	uint64_t back;

	unwind_regs_from_context(regs, context);
	if (!atomic_load_explicit(&collector.raw_calls, memory_order_relaxed))
		return;
	/* Code may be there to be executed, and not to be read. */
	if (sys_read_memory(regs->reg[ARCH_PC], code, sizeof(code)) != sizeof(code) ||
	    !unwind_is_async_preempt(code) ||
	    sys_read_memory(regs->reg[ARCH_SP], &back, sizeof(back)) != sizeof(back))
		return;
	regs->reg[ARCH_PC] = back;
	regs->reg[ARCH_SP] += sizeof(back);
}

uint32_t stack_of_context(struct thread *thread, const struct unwind_regs *regs)
{
	struct unwind_stack stack = {.low = thread->stack_low,
				     .high = thread->stack_high,
				     .read_slow = read_carefully,
				     .object_at = modules_at};

	return pair(thread, regs, unwind(thread, regs, &stack));
}

uint32_t stack_of_blocked(struct thread *thread, uint64_t pc, uint64_t sp)
{
	struct unwind_stack stack = {.read_slow = read_carefully, .object_at = modules_at};
	struct unwind_regs regs;

	unwind_regs_from_syscall(&regs, pc, sp);
	return pair(thread, NULL, unwind(thread, &regs, &stack));
}

__attribute__((noinline)) uint32_t stack_of_caller(struct thread *thread)
{
	struct unwind_regs regs;

	arch_regs_of_here(&regs);
	return stack_of_context(thread, &regs);
}

__attribute__((noinline)) bool stack_preserved(struct thread *thread, uint64_t sp,
					       struct unwind_regs *found)
{
	const struct unwind_stack stack = {.low = thread->stack_low,
					   .high = thread->stack_high,
					   .read_slow = read_carefully,
					   .object_at = modules_at};
	struct unwind_regs regs;

	arch_regs_of_here(&regs);
	return unwind_preserved(thread->unwind, &regs, &stack, sp, found);
}

uint32_t stack_above_frame(struct thread *thread, const void *frame)
{
	const struct unwind_stack stack = {.low = thread->stack_low,
					   .high = thread->stack_high,
					   .read_slow = read_carefully,
					   .object_at = modules_at};
	const uint64_t *words = frame; /* the caller's frame pointer, the return address */
	struct unwind_regs regs;
	enum unwind_end end;

	regs.known = UNWIND_CALLED | 1u << ARCH_BP | 1u << ARCH_SP | 1u << ARCH_PC;
	regs.reg[ARCH_BP] = words[0];
	regs.reg[ARCH_PC] = words[1] - 1;
	regs.reg[ARCH_SP] = (uint64_t)(words + 2);
	uint32_t node = walk(thread, &regs, &stack, &end);

	/* A caller whose frame is found by another register: all are known further in. */
	if (end == UNWIND_FAILED && thread->unwind->reason == UNWIND_REASON_REGISTER)
		return stack_of_caller(thread);
	count(end);
	return pair(thread, &regs, node);
}
