/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table by where the thread's descriptor is, at the top of its stack.  What is there at the end
 * tells whether the stack still is what it was: the descriptor has its own address in two places.
 * glibc writes -1 over the thread's number when it has been joined.  Where the table is full a
 * stack is forgotten, and is memory as any other.
 */
#include "collector/core/ended_stack.h"

#include "collector/arch/sys.h"

#include <stdatomic.h>
#include <stddef.h>

enum { ROOM = 1 << 12, TRIES = 16, PAGE = 4096 };

/* Of glibc's descriptor on x86-64: what is where has been so since 2.4, and is looked up. */
enum { AT_ITSELF = 16, AT_NUMBER = 720, JOINED = -1 };

static struct slot {
	_Atomic uint64_t top; /* the descriptor's address; 0: free */
	_Atomic uint64_t low; /* 0: a thread is on it, or it is not the C library's */
} slots[ROOM];

/* The one of this descriptor; NULL: it has none, and there is no room. */
static struct slot *slot_of(uint64_t top, bool make)
{
	uint64_t hash = (top >> 6) * 0x9e3779b97f4a7c15u;

	for (uint32_t i = 0; i < TRIES; i++) {
		struct slot *slot = &slots[((hash >> 40) + i) % ROOM];
		uint64_t found = atomic_load(&slot->top);

		if (!found && !make)
			return NULL;
		if (found == top ||
		    (!found &&
		     (atomic_compare_exchange_strong(&slot->top, &found, top) || found == top)))
			return slot;
	}
	return NULL;
}

void ended_stack_forget(void)
{
	struct slot *slot = slot_of((uint64_t)__builtin_thread_pointer(), false);

	if (slot)
		atomic_store(&slot->low, 0);
}

void ended_stack_note(uint64_t size)
{
	uint64_t top = (uint64_t)__builtin_thread_pointer(), here = (uint64_t)&top;
	bool known = size && here < top && top - here < size;
	struct slot *slot = slot_of(top, known);

	/* The descriptor is part of what was asked for, and reaches to the end of its page. */
	if (slot)
		atomic_store(&slot->low,
			     known ? (top - size + PAGE - 1) & ~(uint64_t)(PAGE - 1) : 0);
}

static bool read_at(uint64_t address, void *to, size_t size)
{
	return sys_read_memory(address, to, size) == size;
}

static bool is_descriptor(uint64_t top)
{
	uint64_t words[AT_ITSELF / sizeof(uint64_t) + 1];

	return read_at(top, words, sizeof(words)) && words[0] == top &&
	       words[AT_ITSELF / sizeof(uint64_t)] == top;
}

/* Whether the threads' numbers are where we believe. */
static bool knows_number(void)
{
	int32_t number;

	return read_at((uint64_t)__builtin_thread_pointer() + AT_NUMBER, &number, sizeof(number)) &&
	       number == sys_gettid();
}

void ended_stack_for_each(void (*visit)(const struct ended_stack *stack, void *arg), void *arg)
{
	bool numbers = knows_number();

	for (size_t i = 0; i < ROOM; i++) {
		uint64_t top = atomic_load(&slots[i].top);
		struct ended_stack stack = {.low = atomic_load(&slots[i].low),
					    .descriptor = top,
					    .high = (top & ~(uint64_t)(PAGE - 1)) + PAGE};
		int32_t number = 0;

		if (!stack.low || !is_descriptor(top))
			continue;
		stack.joined = numbers && read_at(top + AT_NUMBER, &number, sizeof(number)) &&
			       number == JOINED;
		visit(&stack, arg);
	}
}
