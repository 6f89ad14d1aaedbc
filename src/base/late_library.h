/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that only some commands need: loaded when the program starts, they and what they bring
 * along would cost every command more than many of them work.
 *
 *	#define FUNCTIONS(X) X(first) X(second)
 *	static struct { FUNCTIONS(LATE_POINTER) } their;
 *	#define ENTRY(name) {#name, &their.name},
 *	static const struct late_function functions[] = {FUNCTIONS(ENTRY)};
 */
#ifndef HELIO_BASE_LATE_LIBRARY_H
#define HELIO_BASE_LATE_LIBRARY_H

#include <stddef.h>

/* A pointer to that function, as its header declares it. */
#define LATE_POINTER(name) __typeof__(&name) name;

struct late_function {
	const char *name;
	void *pointer; /* to the pointer to it */
};

/*
 * Loads the library, for good, and sets the pointers.  NULL, or why that cannot be, as a part of a
 * message: valid until the next call of this or of dlopen.
 */
const char *late_library_load(const char *library, const struct late_function *functions,
			      size_t count);

#endif
