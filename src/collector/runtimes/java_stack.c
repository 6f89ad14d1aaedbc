/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Java stack at an event, from AsyncGetCallTrace of HotSpot.
 *
 * It was made for handlers, but not made safe: so it is asked for threads of the machine only that
 * run Java (their kind tells, see is_java), never on a stack that is nearly used up, and a fault in
 * it ends the asking (java_take_fault).  Where the thread is in native code that left no word on
 * where Java called it (memory is copied, the clock is read), or in a stub, it is asked once more
 * with the registers of the innermost frames in the machine's code, which the unwinder knows; and
 * where it is in the machine, called from Java, it may have noted its stack pointer but not the
 * address that it returns to, which lies below (read_anchor).
 *
 * In a callback of JVMTI, which may ask, the machine itself says it (java_stack_note): from
 * compiled code that has called to allocate AsyncGetCallTrace finds no way.
 *
 * The stack becomes nodes of the table, of epoch 0, as bytecodes stay what they are, and the pair
 * of it and the thread's own stack becomes one, too: that is what the event has as its stack.
 */
#include "collector/arch/context.h"
#include "collector/arch/guard.h"
#include "collector/arch/sys.h"
#include "collector/core/stack.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/runtimes/java.h"
#include "collector/runtimes/java_private.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/unwind/arch.h"
#include "format/format.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

/* As HotSpot has them (forte.cpp); its header is in no package. */
struct call_frame {
	jint bytecode; /* index; below 0: of a native method */
	jmethodID method;
};
struct call_trace {
	JNIEnv *env;
	jint count; /* 0 and below: why there are none */
	struct call_frame *frames;
};
typedef void trace_function(struct call_trace *trace, jint depth, void *context);

enum {
	DEPTH_MAX = 1024,
	ROOM_LEAST = 48 * 1024, /* of the stack: the machine keeps 80 KiB for native code */
	TRIES_MAX = 3,
	GC_ACTIVE = 2,
	NO_CLASS_LOAD = 1,
	THREAD_EXIT = 8,
};

/* A thread's working room; the thread state's next thread goes on with it. */
struct java_memory {
	struct arch_guard guard;
	struct call_trace trace;
	jint depth;
	uint32_t thread;    /* whose it is: its number */
	uint32_t recording; /* which of the process's, by `recordings` */
	uint32_t known;	    /* of the last stack, from the root on: */
	uint64_t pc[DEPTH_MAX];
	uint32_t node[DEPTH_MAX];
	struct call_frame frames[DEPTH_MAX];
	ucontext_t context;
	_Atomic jint noted; /* frames of what the machine has said and is so now; 0: ask */
	jvmtiFrameInfo said[DEPTH_MAX];
};

static trace_function *get_trace;
static _Atomic int own_tid; /* of the thread of ours that is in the machine, or 0 */
static uint32_t recordings; /* that have begun: each has stacks of its own */
/* Where a thread of the machine finds what it is, what that begins with, and where JNIEnv is. */
static pthread_key_t thread_key;
static uint64_t java_kind, env_offset;

/* ---- which threads ---- */

/* The machine's object of the calling thread, if it runs Java: others have another kind. */
static char *java_thread(void)
{
	char *object = pthread_getspecific(thread_key);

	return object && *(uint64_t *)object == java_kind ? object : NULL;
}

bool java_is_java_thread(void)
{
	return java_thread();
}

/* The machine keeps the object, which has the JNIEnv in it, where signal handlers find it. */
static bool find_key(JNIEnv *env)
{
	enum { OBJECT_MAX = 8192 };

	for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) {
		uint64_t value = (uint64_t)pthread_getspecific(key), at = (uint64_t)env;

		if (!value || value % sizeof(uint64_t) || at <= value || at - value >= OBJECT_MAX)
			continue;
		thread_key = key;
		env_offset = at - value;
		java_kind = *(uint64_t *)value;
		return true;
	}
	return false;
}

/* ---- where Java was left ---- */

/* Offsets in the machine's object of a thread; 0: not known. */
static struct {
	uint64_t sp, pc, fp;
} anchor;

static uint64_t offset_of(const char *type, const char *name)
{
	const struct java_field *field = java_field_find(type, name);

	return field ? field->offset : 0;
}

static void find_anchor(void)
{
	uint64_t begin = offset_of("JavaThread", "_anchor");

	if (!begin)
		return;
	anchor.sp = begin + offset_of("JavaFrameAnchor", "_last_Java_sp");
	anchor.pc = begin + offset_of("JavaFrameAnchor", "_last_Java_pc");
	anchor.fp = begin + offset_of("JavaFrameAnchor", "_last_Java_fp");
	if (anchor.sp == anchor.pc || anchor.sp == anchor.fp || anchor.fp == anchor.pc)
		anchor.pc = 0;
}

/*
 * Whether it lacks the pc.  Then nobody else walks the stack: the machine completes it before it
 * lets anybody, and waits for us until then.  So it may be changed while it is asked by us.
 */
static bool is_own(const struct thread *thread, char *object)
{
	uint64_t sp = anchor.pc ? *(uint64_t *)(object + anchor.sp) : 0;

	return sp && !*(uint64_t *)(object + anchor.pc) && !(sp % sizeof(uint64_t)) &&
	       sp > thread->stack_low + sizeof(uint64_t) && sp < thread->stack_high;
}

static void set_anchor(char *object, uint64_t pc, uint64_t sp, uint64_t fp)
{
	*(uint64_t *)(object + anchor.sp) = sp;
	*(uint64_t *)(object + anchor.pc) = pc;
	*(uint64_t *)(object + anchor.fp) = fp;
}

/* ---- asking ---- */

static void ask_now(void *argument)
{
	struct java_memory *memory = argument;

	get_trace(&memory->trace, memory->depth, &memory->context);
}

/* The count, or 0 and below, -FORMAT_JAVA_FAULT among them. */
static jint ask(struct java_memory *memory, uint64_t pc, uint64_t sp, uint64_t bp)
{
	arch_set_frame(&memory->context, pc, sp, bp);
	memory->trace.count = 0;
	if (!arch_guarded_call(&memory->guard, ask_now, memory))
		memory->trace.count = -FORMAT_JAVA_FAULT;
	return memory->trace.count;
}

bool java_take_fault(void *context)
{
	struct thread *thread = thread_current_if_known();
	struct java_memory *memory = thread ? thread->runtime : NULL;

	/* In its own code the machine expects faults, and takes care of them. */
	if (!memory || !memory->guard.pc || java_code_is_at(arch_pc(context)))
		return false;
	arch_guard_leave(&memory->guard, context);
	return true;
}

static bool may_ask_again(jint count)
{
	return count <= 0 && count != -GC_ACTIVE && count != -NO_CLASS_LOAD &&
	       count != -THREAD_EXIT;
}

/*
 * In a stub, or at either end of a method: its caller's registers, from a return address on top of
 * the stack, or below the frame pointer that has just been pushed there.
 */
static jint ask_caller(const struct thread *thread, struct java_memory *memory,
		       const struct unwind_regs *regs, uint64_t bp)
{
	const uint64_t sp = regs->reg[ARCH_SP], *words = (const uint64_t *)sp;
	jint count = 0;

	if (!java_code_is_at(regs->reg[ARCH_PC]) || sp % sizeof(*words) || sp < thread->stack_low ||
	    sp + 2 * sizeof(*words) > thread->stack_high)
		return 0;
	if (java_code_is_at(words[0]))
		count = ask(memory, words[0], sp + sizeof(*words), bp);
	if (count <= 0 && words[0] > sp && words[0] < thread->stack_high &&
	    java_code_is_at(words[1]))
		count = ask(memory, words[1], sp + 2 * sizeof(*words), words[0]);
	return count;
}

/* From the innermost frames in the machine's code on; object: its anchor is to lead there. */
static jint ask_outer(struct java_memory *memory, const struct unwind_memory *stack, uint64_t leaf,
		      char *object)
{
	jint count = 0;

	for (uint32_t i = stack->depth, tries = 0; i && tries < TRIES_MAX; i--) {
		const struct unwind_frame *frame = &stack->frames[i];
		bool is_leaf = i == stack->depth && frame->pc == leaf;
		uint64_t bp = frame->bp >> WALK_ADDRESS_BITS ? 0 : frame->bp;

		if (is_leaf || !java_code_is_at(frame->pc))
			continue;
		tries++;
		if (object)
			set_anchor(object, frame->pc + 1, frame->sp, bp);
		count = ask(memory, frame->pc + 1, frame->sp, bp);
		if (!may_ask_again(count))
			break;
	}
	return count;
}

/* The same, where the thread was in the machine's code, which has not completed its anchor. */
static jint ask_by_anchor(struct java_memory *memory, const struct unwind_memory *stack,
			  uint64_t leaf, char *object)
{
	uint64_t sp = *(uint64_t *)(object + anchor.sp), fp = *(uint64_t *)(object + anchor.fp);

	set_anchor(object, ((const uint64_t *)sp)[-1], sp, fp);
	jint count = ask(memory, leaf, sp, fp);

	if (may_ask_again(count))
		count = ask_outer(memory, stack, leaf, object);
	set_anchor(object, 0, sp, fp);
	return count;
}

/* ---- what is found ---- */

enum { IS_NATIVE = -3 }; /* in place of a bytecode */

static uint64_t pc_of(const struct call_frame *frame)
{
	uint64_t bytecode = frame->bytecode > 0		   ? (uint64_t)frame->bytecode
			    : frame->bytecode == IS_NATIVE ? FORMAT_JAVA_NATIVE
							   : 0;

	return FORMAT_PC_JAVA | (uint64_t)frame->method << FORMAT_JAVA_BYTECODE_BITS |
	       (bytecode & ((1u << FORMAT_JAVA_BYTECODE_BITS) - 1));
}

/* What it has in common with the thread's last stack is not looked up again. */
static uint32_t intern(struct java_memory *memory)
{
	uint32_t count = (uint32_t)memory->trace.count, node = 0;
	bool same = true;

	if (memory->trace.count == memory->depth)
		node = stacktable_intern_in(0, FORMAT_PC_TRUNCATED, 0);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t pc = pc_of(&memory->frames[count - 1 - i]);

		same = same && i < memory->known && memory->pc[i] == pc;
		if (!same) {
			memory->known = i;
			node = stacktable_intern_in(node, pc, 0);
			if (!node)
				return 0;
			memory->pc[i] = pc;
			memory->node[i] = node;
			memory->known = i + 1;
		}
		node = memory->node[i];
	}
	return node;
}

static struct java_memory *memory_of(struct thread *thread)
{
	if (!thread->runtime)
		thread->runtime = sys_mmap(sizeof(struct java_memory), PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return thread->runtime;
}

static bool has_room(const struct thread *thread)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);

	return !thread->stack_low ||
	       (here > thread->stack_low + ROOM_LEAST && here < thread->stack_high);
}

static jint look(struct thread *thread, struct java_memory *memory, const struct unwind_regs *regs,
		 char *object)
{
	const bool called = regs->known & UNWIND_CALLED;
	uint64_t bp = regs->known & 1u << ARCH_BP ? regs->reg[ARCH_BP] : 0;
	uint64_t leaf = called ? 0 : regs->reg[ARCH_PC];

	if (is_own(thread, object))
		return ask_by_anchor(memory, thread->unwind, leaf, object);
	jint count = ask(memory, regs->reg[ARCH_PC] + called, regs->reg[ARCH_SP], bp);

	if (!may_ask_again(count))
		return count;
	jint outer = called ? 0 : ask_caller(thread, memory, regs, bp);

	if (outer <= 0)
		outer = ask_outer(memory, thread->unwind, leaf, NULL);
	return outer > 0 ? outer : count;
}

static jint depth_wanted(void)
{
	return collector.depth && collector.depth < DEPTH_MAX ? (jint)collector.depth : DEPTH_MAX;
}

void java_stack_note(jvmtiEnv *jvmti)
{
	struct thread *thread = java_thread() ? thread_current_if_known() : NULL;
	struct java_memory *memory = thread ? memory_of(thread) : NULL;
	jint count;

	if (memory &&
	    !(*jvmti)->GetStackTrace(jvmti, NULL, 0, depth_wanted(), memory->said, &count))
		atomic_store(&memory->noted, count);
}

void java_stack_forget(void)
{
	struct thread *thread = thread_current_if_known();
	struct java_memory *memory = thread ? thread->runtime : NULL;

	if (memory)
		atomic_store(&memory->noted, 0);
}

/* What was noted, as the machine would have told it. */
static jint take_noted(struct java_memory *memory)
{
	jint count = atomic_load(&memory->noted);

	for (jint i = 0; i < count; i++)
		memory->frames[i] = (struct call_frame){
			.bytecode = memory->said[i].location < 0 ? IS_NATIVE
								 : (jint)memory->said[i].location,
			.method = memory->said[i].method};
	memory->trace.count = count;
	return count;
}

/* The node of the pair of the stack and the Java stack beside it, 0: not known. */
static uint32_t make_pair(uint32_t stack, uint32_t java, uint64_t reason)
{
	uint64_t pc = FORMAT_PC_PAIR | (java ? java : reason << FORMAT_PAIR_REASON_SHIFT);
	uint32_t node = stacktable_intern_pair(stack, pc);

	return node ? node : stack;
}

static uint32_t pair_of_own(struct thread *thread, const struct unwind_regs *regs, uint32_t stack,
			    char *object)
{
	struct java_memory *memory = has_room(thread) ? memory_of(thread) : NULL;

	if (!memory)
		return make_pair(stack, 0, FORMAT_JAVA_NO_ROOM);
	memory->thread = thread->number;
	if (memory->recording != recordings)
		memory->known = 0;
	memory->recording = recordings;
	memory->trace.env = (JNIEnv *)(object + env_offset);
	memory->trace.frames = memory->frames;
	memory->depth = depth_wanted();
	jint count = take_noted(memory);

	if (!count)
		count = look(thread, memory, regs, object);

	if (count > 0)
		return make_pair(stack, intern(memory), FORMAT_JAVA_NO_ROOM);
	return make_pair(stack, 0, count ? (uint64_t)-count : FORMAT_JAVA_NO_FRAME);
}

static uint32_t pair(struct thread *thread, const struct unwind_regs *regs, uint32_t stack)
{
	const struct java_memory *memory = thread->runtime;

	if (!stack)
		return stack;
	if (!regs) {
		bool is_java = memory && memory->thread == thread->number;

		return is_java ? make_pair(stack, 0, FORMAT_JAVA_BLOCKED) : stack;
	}
	char *object = java_thread();

	if (!object || atomic_load_explicit(&thread->tid, memory_order_relaxed) ==
			       atomic_load_explicit(&own_tid, memory_order_relaxed))
		return stack;
	return pair_of_own(thread, regs, stack, object);
}

void java_stack_leave_out(int tid)
{
	atomic_store(&own_tid, tid);
}

bool java_stack_begin(JNIEnv *env)
{
	get_trace = (trace_function *)(uintptr_t)java_machine_symbol("AsyncGetCallTrace");
	if (!get_trace || !find_key(env))
		return false;
	find_anchor();
	recordings++;
	stack_set_runtime(pair);
	return true;
}

void java_stack_end(void)
{
	stack_set_runtime(NULL);
}
