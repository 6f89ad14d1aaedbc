/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator new and operator delete.  libstdc++'s call malloc and free, which are wrapped; those
 * of an allocator may go straight into it.  So an allocation is noted here unless it has been
 * noted on the way, and a release is noted here and not again on the way.
 *
 * All forms have their size or block first, and hand the rest on as it came.  An exception passes
 * through: nothing is held across the call.
 *
 * A library that was loaded apart from the program (dlopen with RTLD_LOCAL) may bring C++ into a
 * program without it.  It finds our functions, but what is behind them is in its own scope only,
 * and is looked up there.
 */
#include "collector/core/next_functions.h"
#include "collector/storage/recording.h"
#include "collector/wrap/trace_heap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const void *base_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* A function behind ours, as seen by the caller at this address; NULL: there is none. */
static void *find(const char *name, const void *caller)
{
	static const void *outside; /* one form calls another, by a jump out of ours */

	if (base_of(caller) != base_of(&outside))
		outside = caller;
	return next_of_caller(name, outside);
}

typedef void *operator_new(size_t size, uint64_t a, uint64_t b);
typedef void operator_delete(void *block, uint64_t a, uint64_t b);

static void *without_new(size_t size, uint64_t a, uint64_t b)
{
	void *block = malloc(size);

	if (!block)
		__builtin_trap();
	return block;
}

static void without_delete(void *block, uint64_t a, uint64_t b)
{
	free(block);
}

static void find_new(operator_new **next, const char *name, const void *caller)
{
	void *symbol = find(name, caller);

	/* dlsym gives a void *; memcpy is the conversion that C allows. */
	*next = without_new;
	if (symbol)
		memcpy(next, &symbol, sizeof(symbol));
}

static void find_delete(operator_delete **next, const char *name, const void *caller)
{
	void *symbol = find(name, caller);

	*next = without_delete;
	if (symbol)
		memcpy(next, &symbol, sizeof(symbol));
}

static inline void *allocate(operator_new *next, size_t size, uint64_t a, uint64_t b)
{
	heap_forget_newest();
	void *block = next(size, a, b);

	heap_note_unless_noted(HEAP_MALLOC, block, size);
	return block;
}

static inline void release(operator_delete *next, void *block, uint64_t a, uint64_t b)
{
	const void *outer = heap_leaving; /* this block, where one form goes on to another */

	if (block != outer)
		heap_note_release(block);
	heap_leaving = block;
	next(block, a, b);
	heap_leaving = outer;
}

/* The names that the C++ ABI gives to the forms: (size or block), nothrow, alignment. */
#define NEW_OPERATORS(X)                                                                           \
	X(_Znwm)                                                                                   \
	X(_Znam)                                                                                   \
	X(_ZnwmRKSt9nothrow_t)                                                                     \
	X(_ZnamRKSt9nothrow_t)                                                                     \
	X(_ZnwmSt11align_val_t)                                                                    \
	X(_ZnamSt11align_val_t)                                                                    \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t)                                                      \
	X(_ZnamSt11align_val_tRKSt9nothrow_t)
#define DELETE_OPERATORS(X)                                                                        \
	X(_ZdlPv)                                                                                  \
	X(_ZdaPv)                                                                                  \
	X(_ZdlPvm)                                                                                 \
	X(_ZdaPvm)                                                                                 \
	X(_ZdlPvRKSt9nothrow_t)                                                                    \
	X(_ZdaPvRKSt9nothrow_t)                                                                    \
	X(_ZdlPvSt11align_val_t)                                                                   \
	X(_ZdaPvSt11align_val_t)                                                                   \
	X(_ZdlPvmSt11align_val_t)                                                                  \
	X(_ZdaPvmSt11align_val_t)                                                                  \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t)                                                     \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t)

#define X(name)                                                                                    \
	COLLECTOR_EXPORT operator_new name;                                                        \
	void *name(size_t size, uint64_t a, uint64_t b)                                            \
	{                                                                                          \
		static operator_new *next;                                                         \
                                                                                                   \
		if (!next)                                                                         \
			find_new(&next, #name, __builtin_return_address(0));                       \
		return allocate(next, size, a, b);                                                 \
	}
NEW_OPERATORS(X)
#undef X

#define X(name)                                                                                    \
	COLLECTOR_EXPORT operator_delete name;                                                     \
	void name(void *block, uint64_t a, uint64_t b)                                             \
	{                                                                                          \
		static operator_delete *next;                                                      \
                                                                                                   \
		if (!next)                                                                         \
			find_delete(&next, #name, __builtin_return_address(0));                    \
		release(next, block, a, b);                                                        \
	}
DELETE_OPERATORS(X)
#undef X
