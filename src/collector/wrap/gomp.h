/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of an OpenMP runtime behind their wrappers.  They are looked up when they are first
 * called: the runtime may be loaded late, and into a scope of its own.
 *
 * There may be several runtimes: libraries that were opened apart from each other each bring their
 * own, and find its functions by these names.  What the program's own scope has is found by all.
 */
#ifndef HELIO_COLLECTOR_GOMP_H
#define HELIO_COLLECTOR_GOMP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct gomp_function {
	void *address; /* NULL: there is none */
	bool is_other; /* of another runtime than libgomp, which tells itself (ompt.c) */
};

struct gomp_own;

/* What a name is.  Zero-initialised is not known yet. */
struct next {
	void *_Atomic function; /* of the program's scope */
	bool is_other;
	struct gomp_own *_Atomic own; /* of load objects that do not find it there */
};

/*
 * The function of the program's that ours has called, in the thread's region or task.  Where that
 * ends in a call of the runtime the compiler makes a jump of it: then the caller seems to be ours.
 */
extern __thread const void *gomp_body __attribute__((tls_model("initial-exec")));

struct gomp_function gomp_look_up(struct next *next, const char *name, const void *caller);

/* The definition that the caller would have found without ours. */
static inline struct gomp_function gomp_find(struct next *next, const char *name,
					     const void *caller)
{
	void *function = atomic_load_explicit(&next->function, memory_order_acquire);

	return function && !atomic_load_explicit(&next->own, memory_order_acquire)
		       ? (struct gomp_function){function, next->is_other}
		       : gomp_look_up(next, name, caller);
}

/* Declares `real`, the function behind a wrapper, of its type, and `found`, which says whose. */
#define REAL(result, name, parameters)                                                             \
	static struct next next;                                                                   \
	result(*real) parameters;                                                                  \
	struct gomp_function found = gomp_find(&next, #name, __builtin_return_address(0));         \
                                                                                                   \
	memcpy(&real, &found.address, sizeof(real))

#endif
