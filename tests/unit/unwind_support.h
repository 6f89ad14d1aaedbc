/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests and the benchmark of the unwinder share: the part of the
 * collector that it needs around it, in the simplest form.
 */
#ifndef HELIO_TESTS_UNWIND_SUPPORT_H
#define HELIO_TESTS_UNWIND_SUPPORT_H

#include "collector/unwind/unwind.h"

#include <sys/types.h>

/* Publishes the segments of this process, by dl_iterate_phdr. */
void support_publish(void);

/* The same list without one object's CFI (a substring of its name; "" is the program). */
void support_publish_without_cfi(const char *object);

/* This thread's stack, with a fault-safe reader of this process. */
struct unwind_stack support_stack(void);

/* No stack range: everything through the fault-safe reader of process *pid. */
struct unwind_stack support_stack_of(pid_t *pid);

/* A memory for stacks of up to `limit` frames. */
struct unwind_memory *support_memory(uint32_t limit);

/* A tree of nodes; safe in a handler of one thread. */
uint32_t support_intern(uint32_t parent, uint64_t pc, void *arg);
uint32_t support_node_count(void);

/* The path of a node, leaf first; returns its length. */
uint32_t support_path(uint32_t node, uint64_t *pcs, uint32_t capacity);

/* Whether the path of a node, leaf first, begins with functions of these names, or goes on so after
 * `skip` frames; NULL ends them. */
bool support_begins(uint32_t from, uint32_t skip, ...);

/* Whether `pc` lies in the function `name`. */
bool support_is_in(uint64_t pc, const char *name);

/* The name by the program's symbol table or a library's dynamic one, or "?". */
const char *support_name(uint64_t pc);

#endif
