/* SPDX-License-Identifier: Apache-2.0 */
/* The load objects of a family of processes, each once. */
#ifndef HELIO_MANAGE_OBJECTS_H
#define HELIO_MANAGE_OBJECTS_H

#include "base/hash.h"
#include "base/memory.h"
#include "experiment/experiment.h"

struct load_file {
	const struct map_file *map;
	bool used;		 /* a call stack holds an address of it */
	VEC(uint64_t) addresses; /* those, as ELF addresses, where asked for */
};

/* Zero-initialised is empty. */
struct object_list {
	struct string_table keys;
	VEC(struct load_file) files;
};

/*
 * Adds what is in the process's map, which must stay; its stacks, where they have been
 * read, tell what is used.
 */
void objects_add(struct object_list *list, const struct process *process, bool with_addresses);
void objects_fini(struct object_list *list);

#endif
