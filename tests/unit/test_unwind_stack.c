/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of this process, taken in signal handlers, against call chains that are
 * known because the test made them, and against glibc's backtrace().
 *
 * Every stack is unwound twice: with the memory of the stack before, and with an
 * empty one.  Both must lead to the same node, whatever the test is about.
 */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/unwind/unwind.h"
#include "format/format.h"
#include "unwind_support.h"

/* Each call is a frame of its own; compiled with -fno-optimize-sibling-calls. */
#ifdef __clang__
#define FRAME	      __attribute__((noinline))
#define FRAME_POINTER __attribute__((noinline, optnone))
#else
#define FRAME	      __attribute__((noinline, noclone))
#define FRAME_POINTER __attribute__((noinline, optimize("O0")))
#endif

enum { CAPACITY = 2048, LIMIT = 512 };

static struct unwind_memory *memory, *empty_memory;
static __thread struct unwind_stack stack;

/* The last stack, leaf first. */
static uint64_t pcs[CAPACITY];
static volatile uint32_t count, node;
static volatile enum unwind_end end;
static void *trace[CAPACITY];
static volatile int trace_count;
static bool with_trace;

static void take(const void *context)
{
	struct unwind_regs regs;
	enum unwind_end own_end, other_end;
	uint32_t other;

	unwind_regs_from_context(&regs, context);
	node = unwind_stack_node(memory, &regs, &stack, support_intern, NULL, &own_end);
	end = own_end;
	unwind_memory_reset(empty_memory);
	other = unwind_stack_node(empty_memory, &regs, &stack, support_intern, NULL, &other_end);
	count = support_path(node, pcs, CAPACITY);
	/* Truncated stacks may be cut elsewhere; see test_deep. */
	if (own_end != UNWIND_TRUNCATED && (other != node || other_end != own_end))
		abort();
	trace_count = with_trace ? backtrace(trace, CAPACITY) : 0;
}

static FRAME void on_signal(int number, siginfo_t *info, void *context)
{
	take(context);
}

/* Samples without libc frames below, so that the test controls every frame. */
static inline __attribute__((always_inline)) void sample(void)
{
	__asm__ volatile("int3" ::: "memory");
}

/* The stack's names, leaf first, must begin (or, from `skip` on, go on) with these. */
static void expect(uint32_t skip, ...)
{
	const char *name;
	va_list names;
	uint32_t i = skip;

	va_start(names, skip);
	while ((name = va_arg(names, const char *))) {
		assert_true(i < count);
		assert_string_equal(support_name(pcs[i]), name);
		i++;
	}
	va_end(names);
}

/* Whether the stack has a function, and at which place; -1: not. */
static int find(const char *name)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (support_is_in(pcs[i], name))
			return (int)i;
	}
	return -1;
}

static void expect_complete(const char *root)
{
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_string_equal(support_name(pcs[count - 1]), root);
}

/* backtrace()'s frames from the interrupted one on are ours. */
static void expect_same_trace(void)
{
	int i = 0;
	uint32_t at;

	while (i < trace_count && (uint64_t)trace[i] != pcs[0])
		i++;
	assert_true(i < trace_count);
	for (at = 1; at < count; at++) {
		assert_true(i + (int)at < trace_count);
		assert_int_equal(pcs[at] + 1, (uint64_t)trace[i + (int)at]);
	}
}

/* 50 functions that call each other in turn, with frames of different sizes. */
typedef int chain_function(int depth);
static chain_function *const functions[50];

#define FUNCTION(n)                                                                                \
	static FRAME int chain_##n(int depth)                                                      \
	{                                                                                          \
		volatile char room[8 + 48 * ((n) % 7)];                                            \
                                                                                                   \
		room[0] = (char)depth;                                                             \
		if (depth > 0)                                                                     \
			return functions[(depth - 1) % 50](depth - 1) + room[0];                   \
		sample();                                                                          \
		return room[0];                                                                    \
	}
#define TEN(m)                                                                                     \
	FUNCTION(m##0)                                                                             \
	FUNCTION(m##1)                                                                             \
	FUNCTION(m##2)                                                                             \
	FUNCTION(m##3)                                                                             \
	FUNCTION(m##4)                                                                             \
	FUNCTION(m##5)                                                                             \
	FUNCTION(m##6)                                                                             \
	FUNCTION(m##7)                                                                             \
	FUNCTION(m##8)                                                                             \
	FUNCTION(m##9)

TEN()
TEN(1)
TEN(2)
TEN(3)
TEN(4)

#define NAMES(m)                                                                                   \
	chain_##m##0, chain_##m##1, chain_##m##2, chain_##m##3, chain_##m##4, chain_##m##5,        \
		chain_##m##6, chain_##m##7, chain_##m##8, chain_##m##9

static chain_function *const functions[50] = {NAMES(), NAMES(1), NAMES(2), NAMES(3), NAMES(4)};

static FRAME void check_chain(int depth)
{
	char name[32];
	int i;

	functions[depth % 50](depth);
	for (i = 0; i <= depth; i++) {
		snprintf(name, sizeof(name), "chain_%d", i % 50);
		assert_string_equal(support_name(pcs[i]), name);
	}
	assert_string_equal(support_name(pcs[depth + 1]), "check_chain");
}

static FRAME void test_chain(void **state)
{
	uint64_t reused = memory->counts.reused;

	with_trace = true;
	check_chain(50);
	expect_complete("_start");
	expect_same_trace();
	check_chain(50);
	expect_same_trace();
	check_chain(200);
	expect_complete("_start");
	expect_same_trace();
	check_chain(203);
	check_chain(7);
	expect_same_trace();
	with_trace = false;
	/* 203 frames over the same callers as 200, and so on: most of it is reuse. */
	assert_true(memory->counts.reused > reused);
}

/* A recursion of one function: all frames alike, reuse must not confuse them. */
static FRAME int recurse(int depth)
{
	if (depth > 0)
		return recurse(depth - 1) + 1;
	sample();
	return 0;
}

static FRAME void test_recursion(void **state)
{
	static const int depths[] = {1, 2, 5, 3, 200, 199, 250, 2};
	unsigned int i;

	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		uint32_t frames = (uint32_t)depths[i] + 1;

		recurse(depths[i]);
		expect_complete("_start");
		assert_string_equal(support_name(pcs[frames - 1]), "recurse");
		assert_string_equal(support_name(pcs[frames]), "test_recursion");
	}
}

/*
 * Whether stacks some frames deeper and less deep than `depth` are cut at the same frame.  That
 * depends on where the stack lies: a cut moves when an address with a rarer bit comes into reach.
 */
static FRAME bool shares_its_cut(int depth)
{
	recurse(depth);

	uint32_t first_count = count;

	recurse(depth + 3);
	bool same = count == first_count + 3;
	uint32_t nodes = support_node_count();

	recurse(depth - 10);
	return same && count == first_count - 10 && support_node_count() <= nodes + 1;
}

/* 10,000 deep: the leaf part is kept, and stacks close to each other share their cut. */
static FRAME void test_deep(void **state)
{
	uint32_t shared = 0, cuts = 0, i;
	uint64_t last_root = 0;

	recurse(10000);
	assert_int_equal(end, UNWIND_TRUNCATED);
	assert_true(count > LIMIT / 4 && count <= LIMIT + 1);
	assert_int_equal(pcs[count - 1], FORMAT_PC_TRUNCATED);
	for (i = 0; i < count - 1; i++)
		assert_string_equal(support_name(pcs[i]), "recurse");
	for (i = 0; i < 8; i++)
		shared += shares_its_cut(10000 + (int)i * 50);
	assert_true(shared >= 5);
	/* Far up and down again, always at least a quarter of the limit. */
	for (i = 0; i < 3000; i++) {
		recurse(10000 - (int)i);
		assert_int_equal(end, UNWIND_TRUNCATED);
		assert_true(count > LIMIT / 4 && count <= LIMIT + 1);
		cuts += memory->frames[1].sp != last_root;
		last_root = memory->frames[1].sp;
	}
	assert_true(cuts < 3000 / (LIMIT / 8));
	recurse(LIMIT / 2);
	expect_complete("_start");
}

static unsigned slow_reads;
static size_t (*counted_read)(uint64_t address, void *to, size_t size, void *arg);

static size_t count_read(uint64_t address, void *to, size_t size, void *arg)
{
	slow_reads++;
	return counted_read(address, to, size, arg);
}

/*
 * A stack so full that its innermost frames lie below the known range: those are read with care,
 * all behind them directly.  A tick would cost a system call for each few frames otherwise, more
 * than the interval.
 */
static FRAME void test_nearly_full(void **state)
{
	enum { DEPTH = LIMIT / 2, BELOW = 4096, MOST = 2 * (BELOW / (UNWIND_CHUNK / 2) + 2) };

	functions[DEPTH % 50](DEPTH);
	assert_true(count > DEPTH);
	uint64_t leaf = memory->frames[memory->depth].sp;

	counted_read = stack.read_slow;
	stack.read_slow = count_read;
	stack.low = leaf + BELOW;
	unwind_memory_reset(memory);
	slow_reads = 0;
	functions[DEPTH % 50](DEPTH);
	expect_complete("_start");
	/* take() walks twice; the chunks of one walk overlap by a frame. */
	assert_in_range(slow_reads, 1, MOST);
	assert_true(memory->frames[1].sp - leaf > (uint64_t)2 * MOST * UNWIND_CHUNK / 2);
	stack = support_stack();
}

static FRAME int compare(const void *a, const void *b)
{
	sample();
	return *(const int *)a - *(const int *)b;
}

static FRAME void test_callback(void **state)
{
	int numbers[] = {3, 1, 2, 5, 4};

	qsort(numbers, 5, sizeof(numbers[0]), compare);
	assert_true(support_is_in(pcs[1], "?") || pcs[1]);
	assert_true(find("qsort_r") > 0 || find("qsort") > 0);
	assert_true(find("test_callback") > 0);
	expect_complete("_start");
}

static FRAME int with_alloca(int size)
{
	volatile char *room = __builtin_alloca((size_t)size);

	room[0] = 1;
	sample();
	return room[0];
}

static FRAME int with_realigned_stack(int size)
{
	volatile char aligned[256] __attribute__((aligned(128)));
	volatile char *room = __builtin_alloca((size_t)size);

	room[0] = 1;
	aligned[0] = 2;
	return with_alloca(size) + room[0] + aligned[0];
}

static FRAME_POINTER int with_frame_pointer(int size)
{
	int result = with_realigned_stack(size);

	return result + 1;
}

static FRAME void test_frames(void **state)
{
	int size;

	for (size = 16; size < 5000; size += 500) {
		with_frame_pointer(size);
		expect(0, "with_alloca", "with_realigned_stack", "with_frame_pointer",
		       "test_frames", NULL);
		expect_complete("_start");
	}
}

/* A signal handler that is itself interrupted. */
static FRAME void on_outer_signal(int number)
{
	recurse(2);
}

static FRAME void fault(void)
{
	__asm__ volatile("ud2" ::: "memory");
}

static sigjmp_buf away;

static FRAME void on_fault(int number)
{
	recurse(1);
	siglongjmp(away, 1);
}

static FRAME void test_signal_in_signal(void **state)
{
	uint64_t interrupted = (uint64_t)&fault;

	signal(SIGUSR1, on_outer_signal);
	raise(SIGUSR1);
	expect(0, "recurse", "recurse", "recurse", "on_outer_signal", NULL);
	assert_true(find("gsignal") > 0 || find("raise") > 0);
	assert_true(find("test_signal_in_signal") > 0);
	expect_complete("_start");
	/* Interrupted at its very first instruction: minus 1 would be another function. */
	signal(SIGILL, on_fault);
	if (!sigsetjmp(away, 1))
		fault();
	signal(SIGILL, SIG_DFL);
	expect(0, "recurse", "recurse", "on_fault", NULL);
	assert_true(find("fault") > 0);
	assert_int_equal(pcs[find("fault")] - interrupted < 16, 1);
	expect_complete("_start");
}

static FRAME void test_alternate_stack(void **state)
{
	stack_t alternate = {.ss_size = 65536}, old;
	struct sigaction action = {.sa_handler = on_outer_signal, .sa_flags = SA_ONSTACK};
	uint64_t reused;

	alternate.ss_sp = malloc(alternate.ss_size);
	sigaltstack(&alternate, &old);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	expect(0, "recurse", "recurse", "recurse", "on_outer_signal", NULL);
	assert_true(find("test_alternate_stack") > 0);
	expect_complete("_start");
	reused = memory->counts.reused;
	raise(SIGUSR1);
	expect_complete("_start");
	assert_true(memory->counts.reused > reused);
	sigaltstack(&old, NULL);
	free(alternate.ss_sp);
}

/* Code of a handler without its restorer's CFI: the bytes tell. */
static FRAME void test_restorer_without_cfi(void **state)
{
	int at;

	support_publish_without_cfi("libc.so");
	signal(SIGILL, on_fault);
	if (!sigsetjmp(away, 1))
		fault();
	signal(SIGILL, SIG_DFL);
	support_publish();
	expect(0, "recurse", "recurse", "on_fault", NULL);
	at = find("fault");
	assert_true(at > 0);
	assert_string_equal(support_name(pcs[at + 1]), "test_restorer_without_cfi");
}

static FRAME void *thread_main(void *arg)
{
	struct unwind_memory *own = memory;

	stack = support_stack();
	memory = support_memory(0);
	recurse(3);
	memory = own;
	return NULL;
}

static FRAME void test_thread(void **state)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	expect(0, "recurse", "recurse", "recurse", "recurse", "thread_main", NULL);
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_true(count >= 6 && count <= 7); /* start_thread, clone3 */
}

static ucontext_t back, coroutine;

static FRAME void coroutine_main(void)
{
	recurse(3);
	recurse(3);
}

/* A stack that nobody told the unwinder about. */
static FRAME void test_coroutine(void **state)
{
	char *room = malloc(65536);

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = room;
	coroutine.uc_stack.ss_size = 65536;
	coroutine.uc_link = &back;
	makecontext(&coroutine, coroutine_main, 0);
	swapcontext(&back, &coroutine);
	expect(0, "recurse", "recurse", "recurse", "recurse", "coroutine_main", NULL);
	assert_int_equal(end, UNWIND_COMPLETE);
	free(room);
}

static FRAME void on_null_call(int number, siginfo_t *info, void *context)
{
	take(context);
	siglongjmp(away, 1);
}

static FRAME int call(int (*function)(void))
{
	return function() + 1;
}

static FRAME void test_null_call(void **state)
{
	struct sigaction action = {.sa_sigaction = on_null_call, .sa_flags = SA_SIGINFO};
	int (*volatile nothing)(void) = NULL;

	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(away, 1))
		call(nothing);
	assert_int_equal(pcs[0], FORMAT_PC_UNKNOWN);
	assert_string_equal(support_name(pcs[1]), "call");
	assert_string_equal(support_name(pcs[2]), "test_null_call");
	expect_complete("_start");
	/* A jump into data is no different, but the address is kept. */
	nothing = (int (*)(void))(uintptr_t)&back;
	if (!sigsetjmp(away, 1))
		call(nothing);
	signal(SIGSEGV, SIG_DFL);
	assert_int_equal(pcs[0], (uint64_t)&back);
	assert_string_equal(support_name(pcs[1]), "call");
	expect_complete("_start");
}

/* Assembly without CFI: a leaf, one that has pushed, and one with a frame pointer that calls. */
void asm_leaf(void);
void asm_pushed(void);
void asm_caller(void (*function)(int));
void asm_entry(void (*function)(int)); /* only its frame pointer tells who called */
void asm_end(void);
void asm_lost(void);
__asm__(".text\n"
	".globl asm_leaf\n.type asm_leaf,@function\n"
	"asm_leaf: nop\n int3\n ret\n.size asm_leaf, .-asm_leaf\n"
	".globl asm_pushed\n.type asm_pushed,@function\n"
	"asm_pushed: push %rbx\n push %r12\n sub $24,%rsp\n int3\n add $24,%rsp\n pop %r12\n"
	" pop %rbx\n ret\n.size asm_pushed, .-asm_pushed\n"
	".globl asm_caller\n.type asm_caller,@function\n"
	"asm_caller: push %rbp\n mov %rsp,%rbp\n push %rbx\n push %rbx\n mov %rdi,%rax\n"
	" mov $2,%edi\n call *%rax\n pop %rbx\n pop %rbx\n pop %rbp\n ret\n"
	".size asm_caller, .-asm_caller\n"
	".globl asm_entry\n.type asm_entry,@function\n"
	"asm_entry: push %rbp\n mov %rsp,%rbp\n and $-16,%rsp\n mov %rdi,%rax\n mov $2,%edi\n"
	" call *%rax\n mov %rbp,%rdx\n lea (%rdx),%rsp\n pop %rbp\n ret\n"
	".size asm_entry, .-asm_entry\n"
	".globl asm_end\nasm_end: nop\n"
	".globl asm_lost\n.type asm_lost,@function\n"
	"asm_lost: push %rbp\n mov %rsp,%r11\n xor %eax,%eax\n mov $64,%ecx\n sub $512,%rsp\n"
	" mov %rsp,%rdi\n rep stosq\n xor %ebp,%ebp\n int3\n mov %r11,%rsp\n pop %rbp\n ret\n"
	".size asm_lost, .-asm_lost\n");

static FRAME void call_recurse(int depth)
{
	recurse(depth);
}

static FRAME int call_assembly(int which)
{
	if (which == 0)
		asm_leaf();
	else if (which == 1)
		asm_pushed();
	else
		asm_caller(call_recurse);
	return which;
}

static FRAME void test_no_cfi(void **state)
{
	int which;

	for (which = 0; which < 2; which++) {
		call_assembly(which);
		expect(0, which ? "asm_pushed" : "asm_leaf", "call_assembly", "test_no_cfi", NULL);
		expect_complete("_start");
	}
	call_assembly(2);
	assert_true(find("asm_caller") >= 3);
	expect((uint32_t)find("asm_caller"), "asm_caller", "call_assembly", "test_no_cfi", NULL);
	expect_complete("_start");
}

/* Code made at run time has called it: the frame pointer is believed as where an object has. */
static FRAME void test_no_cfi_below_made_code(void **state)
{
	/* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
	typedef void entry(void (*)(int));
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(void (*)(int), entry *);
	int at;

	memcpy(page + 16, code, sizeof(code));
	made = (void (*)(void (*)(int), entry *))(uintptr_t)(page + 16);
	made(call_recurse, asm_entry);
	at = find("asm_entry");
	assert_true(at >= 3);
	assert_int_equal(pcs[at + 1], (uint64_t)page + 16 + 5);
	expect((uint32_t)at + 2, "test_no_cfi_below_made_code", NULL);
	expect_complete("_start");
	munmap(page, 4096);
}

/* Without any CFI of the program, its instructions say as much. */
static FRAME void test_no_program_cfi(void **state)
{
	int which;

	support_publish_without_cfi("");
	recurse(2);
	expect(0, "recurse", "recurse", "recurse", "test_no_program_cfi", NULL);
	expect_complete("_start");
	check_chain(60);
	expect_complete("_start");
	for (which = 0; which < 3; which++) {
		call_assembly(which);
		assert_true(find("call_assembly") > 0);
		expect_complete("_start");
	}
	with_frame_pointer(100);
	support_publish();
	expect(0, "with_alloca", "with_realigned_stack", "with_frame_pointer", NULL);
}

/* Nothing tells how this one's frame is to be left. */
static FRAME void test_lost(void **state)
{
	asm_lost();
	assert_int_equal(end, UNWIND_FAILED);
	assert_int_equal(count, 2);
	assert_int_equal(pcs[1], FORMAT_PC_UNWIND_FAILED);
	assert_string_equal(support_name(pcs[0]), "asm_lost");
	assert_int_equal(memory->reason, UNWIND_REASON_NO_CFI);
}

/* A new snapshot makes strangers of all remembered frames. */
static FRAME void test_publish_forgets(void **state)
{
	uint64_t reused;

	recurse(5);
	recurse(5);
	reused = memory->counts.reused;
	support_publish();
	recurse(5);
	assert_int_equal(memory->counts.reused, reused);
	recurse(5);
	assert_true(memory->counts.reused > reused);
}

/* While code may be unmapped, nothing of a module is read in place. */
static FRAME void test_hold(void **state)
{
	volatile int turn; /* one call of recurse(), one return address */

	stack.read_slow = NULL;
	support_publish();
	assert_true(unwind_modules_quiet());
	for (turn = 0; turn < 3; turn++) {
		if (turn != 1)
			unwind_modules_hold();
		recurse(1);
		if (turn != 1)
			unwind_modules_release();
		if (turn == 0) {
			assert_int_equal(end, UNWIND_FAILED);
			assert_int_equal(memory->reason, UNWIND_REASON_HELD);
		} else {
			expect_complete("_start"); /* the last one from the cache alone */
		}
	}
	stack = support_stack();
}

/* … but through copies. */
static FRAME void test_hold_and_copy(void **state)
{
	support_publish();
	unwind_modules_hold();
	recurse(1);
	unwind_modules_release();
	expect_complete("_start");
}

/* Frames of a given text are left out, and the stack goes on below and above them. */
static FRAME void test_skip(void **state)
{
	unwind_skip((uint64_t)&asm_caller, (uint64_t)&asm_end);
	call_assembly(2);
	unwind_skip(0, 0);
	unwind_memory_reset(memory);
	expect(0, "recurse", "recurse", "recurse", "call_recurse", "call_assembly", "test_skip",
	       NULL);
	expect_complete("_start");
}

/* Whatever a word of the stack is: being asked whether it follows a call, it does no harm. */
static void test_any_return_address(void **state)
{
	static const uint64_t words[] = {0, 1, 7, 8, 1ull << 47, 1ull << 63, UINT64_MAX};
	uint8_t *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct unwind_memory *own_memory = support_memory(64);
	pid_t self = getpid();
	struct unwind_stack own_stack = support_stack_of(&self);
	struct unwind_regs regs = {.known = (1u << UNWIND_REGS) - 1};
	enum unwind_end own_end;

	(void)state;
	memset(code, 0xc3, 4096); /* ret */
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint64_t frame[2] = {words[i], words[i]};

		regs.reg[6] = words[i];
		regs.reg[7] = (uint64_t)frame;
		regs.reg[16] = (uint64_t)(code + i); /* whose rule is not known yet */
		unwind_memory_reset(own_memory);
		unwind_stack_node(own_memory, &regs, &own_stack, support_intern, NULL, &own_end);
		assert_int_not_equal(own_end, UNWIND_TRUNCATED);
	}
	munmap(code, 4096);
}

/* Only pc and sp are known, and all reading goes through the reader of a process. */
static FRAME void test_remote(void **state)
{
	static pid_t self;
	struct unwind_stack remote;
	struct unwind_regs regs;
	ucontext_t context;
	enum unwind_end own_end;
	struct unwind_memory *own = support_memory(0);

	self = getpid();
	remote = support_stack_of(&self);
	getcontext(&context);
	unwind_regs_from_syscall(&regs, (uint64_t)context.uc_mcontext.gregs[REG_RIP],
				 (uint64_t)context.uc_mcontext.gregs[REG_RSP]);
	node = unwind_stack_node(own, &regs, &remote, support_intern, NULL, &own_end);
	end = own_end;
	count = support_path(node, pcs, CAPACITY);
	expect(0, "test_remote", NULL);
	expect_complete("_start");
	/* The same with what a handler knows. */
	unwind_regs_from_context(&regs, &context);
	assert_int_equal(unwind_stack_node(own, &regs, &stack, support_intern, NULL, &own_end),
			 node);
}

static int setup(void **state)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	trace_count = backtrace(trace, 1); /* loads libgcc_s */
	support_publish();
	stack = support_stack();
	memory = support_memory(LIMIT);
	empty_memory = support_memory(LIMIT);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_nearly_full),
		cmocka_unit_test(test_callback),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_signal_in_signal),
		cmocka_unit_test(test_alternate_stack),
		cmocka_unit_test(test_restorer_without_cfi),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_coroutine),
		cmocka_unit_test(test_null_call),
		cmocka_unit_test(test_no_cfi),
		cmocka_unit_test(test_no_cfi_below_made_code),
		cmocka_unit_test(test_no_program_cfi),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_publish_forgets),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_hold_and_copy),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_any_return_address),
		cmocka_unit_test(test_remote),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
