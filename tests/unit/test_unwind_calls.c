/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as traced calls take them, some of which the unwinder keeps: against call chains that are
 * known because the test made them, and against those of an empty memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collector/unwind/unwind.h"
#include "unwind_support.h"

/* Each call is a frame of its own; compiled with -fno-optimize-sibling-calls. */
#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noinline, noclone))
#endif

enum { LIMIT = 64 };

static struct unwind_memory *memory, *empty_memory;
static struct unwind_stack stack;
static uint32_t node;

static uint64_t call_sp;

/* The stack of the caller's caller, as a traced function takes it: known or not, it is the same. */
static FRAME void take_call(void)
{
	const uint64_t *words = __builtin_frame_address(0);
	struct unwind_regs regs = {.known = UNWIND_CALLED | 1u << 6 | 1u << 7 | 1u << 16};
	enum unwind_end own_end, other_end;

	regs.reg[6] = words[0];
	regs.reg[7] = call_sp = (uint64_t)(words + 2);
	regs.reg[16] = words[1] - 1;
	node = unwind_stack_node(memory, &regs, &stack, support_intern, NULL, &own_end);
	unwind_memory_reset(empty_memory);
	uint32_t other =
		unwind_stack_node(empty_memory, &regs, &stack, support_intern, NULL, &other_end);
	assert_int_equal(other, node);
	assert_int_equal(own_end, UNWIND_COMPLETE);
	assert_int_equal(other_end, UNWIND_COMPLETE);
}

static FRAME void first_place(void)
{
	take_call();
	__asm__ volatile("");
}

static FRAME void second_place(int depth)
{
	if (depth)
		second_place(depth - 1);
	else
		take_call();
	__asm__ volatile("");
}

static FRAME void test_alternating_calls(void **state)
{
	enum { ROUNDS = 10, PUBLISHED = 5, UNKNOWN = 3 }; /* the first two times and then */
	uint64_t known = memory->counts.known;

	for (volatile int i = 0; i < ROUNDS; i++) {
		if (i == PUBLISHED)
			support_publish();
		first_place();
		assert_true(support_begins(node, 0, "first_place", "test_alternating_calls", NULL));
		second_place(2);
		assert_true(support_begins(node, 0, "second_place", "second_place", "second_place",
					   "test_alternating_calls", NULL));
	}
	assert_int_equal(memory->counts.known - known, 2 * (ROUNDS - UNKNOWN));
}

/* Two callers with frames of one size: the leaf is the same for both, and its place on the stack.
 */
static FRAME void call_by_one(volatile int *calls)
{
	first_place();
	*calls += 1;
}

static FRAME void call_by_other(volatile int *calls)
{
	first_place();
	*calls += 2;
}

static FRAME void test_callers_of_known(void **state)
{
	volatile int calls = 0;
	uint64_t sp = 0;

	for (volatile int i = 0; i < 20; i++) {
		bool one = i % 5 < 3;

		if (one)
			call_by_one(&calls);
		else
			call_by_other(&calls);
		assert_true(support_begins(node, 1, one ? "call_by_one" : "call_by_other",
					   "test_callers_of_known", NULL));
		assert_true(!sp || call_sp == sp);
		sp = call_sp;
	}
}

/* Its frame is found by bp. */
static FRAME void call_with_room(size_t size)
{
	volatile char *room = __builtin_alloca(size);

	room[0] = 1;
	first_place();
	room[1] = 2;
}

static FRAME void call_from_near(size_t size)
{
	call_with_room(size);
	__asm__ volatile("");
}

/* What it does not set in its frame is what call_from_near has left there. */
static FRAME void call_from_far(size_t size)
{
	char room[256];

	__asm__ volatile("" : : "r"(room) : "memory");
	call_with_room(size);
	__asm__ volatile("" : : "r"(room) : "memory");
}

/*
 * The return addresses of the known stack are still where they were, but nothing leads there.
 * Nothing else may be called in between, which would write over them; and all is called from one
 * place.
 */
static FRAME void test_known_frame_pointer(void **state)
{
	enum { ROUNDS = 12, FAR_EACH = 4 };
	uint32_t nodes[ROUNDS];
	uint64_t sps[ROUNDS];
	size_t size = 64;

	call_from_near(size);
	uint64_t near = call_sp;
	call_from_far(size);
	size_t more = size + (near - call_sp);

	for (volatile int i = 0; i < ROUNDS; i++) {
		bool far = i % FAR_EACH == FAR_EACH - 1;

		(far ? call_from_far : call_from_near)(far ? size : more);
		nodes[i] = node;
		sps[i] = call_sp;
	}
	for (int i = 0; i < ROUNDS; i++) {
		bool far = i % FAR_EACH == FAR_EACH - 1;

		assert_int_equal(sps[i], sps[0]);
		assert_true(support_begins(nodes[i], 1, "call_with_room",
					   far ? "call_from_far" : "call_from_near",
					   "test_known_frame_pointer", NULL));
	}
}

static int setup(void **state)
{
	support_publish();
	stack = support_stack();
	memory = support_memory(LIMIT);
	empty_memory = support_memory(LIMIT);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alternating_calls),
		cmocka_unit_test(test_callers_of_known),
		cmocka_unit_test(test_known_frame_pointer),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
