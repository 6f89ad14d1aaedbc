/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that cannot fail, and growable arrays.  For the tools only:
 * nothing here may be used inside the measured program.
 */
#ifndef HELIO_BASE_MEMORY_H
#define HELIO_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Like malloc and friends; out of memory ends the process with a message. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);
/* What has been freed goes back to the system: before something that is much larger than it. */
void memory_give_back(void);
char *xstrndup(const char *text, size_t length);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/*
 * A growable array is any struct { T *items; size_t count; size_t capacity; }.
 * vec_push returns a pointer to the new, zeroed element; it is valid until the next push.
 */
#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}
#define vec_push(vec)                                                                              \
	((__typeof__((vec)->items))vec_grow((void **)&(vec)->items, &(vec)->count,                 \
					    &(vec)->capacity, sizeof(*(vec)->items)))
#define vec_fini(vec) (free((vec)->items), (vec)->items = NULL, (vec)->count = (vec)->capacity = 0)

void *vec_grow(void **items, size_t *count, size_t *capacity, size_t size);

#endif
