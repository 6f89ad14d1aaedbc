/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of an object by the name of the function that they were made from. */
#ifndef HELIO_OBJECT_NAME_INDEX_H
#define HELIO_OBJECT_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_code;
struct object;
struct name_index;

/* The object's index, made at the first question. */
struct name_index *object_name_index(struct object *object);

struct name_index *name_index_new(struct object *object);
void name_index_free(struct name_index *index);

/* What is known of the object's code. */
struct name_code *name_index_code(struct name_index *index);

/*
 * The functions made from one, itself included, by its symbol: the n-th, or
 * OBJECT_NO_FUNCTION beyond the last.  A few others may be among them.
 */
uint32_t name_index_get(const struct name_index *index, const char *symbol, size_t n);

#endif
