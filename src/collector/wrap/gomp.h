/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of an OpenMP runtime behind their wrappers.  They are looked up when they are first
 * called: the runtime may be loaded late, and into a scope of its own.
 */
#ifndef HELIO_COLLECTOR_GOMP_H
#define HELIO_COLLECTOR_GOMP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct next {
	void *_Atomic function;
	bool is_other; /* of another runtime than libgomp, which tells itself (ompt.c) */
};

/* The next definition, or NULL. */
void *gomp_look_up(struct next *next, const char *name, const void *caller);

/* Declares `real`, the function behind a wrapper, of its type. */
#define REAL(result, name, parameters)                                                             \
	static struct next next;                                                                   \
	result(*real) parameters;                                                                  \
	void *found = gomp_look_up(&next, #name, __builtin_return_address(0));                     \
                                                                                                   \
	memcpy(&real, &found, sizeof(real))

#endif
