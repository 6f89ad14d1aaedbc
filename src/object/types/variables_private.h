/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of object/types/variables.h share. */
#ifndef HELIO_OBJECT_VARIABLES_PRIVATE_H
#define HELIO_OBJECT_VARIABLES_PRIVATE_H

#include "object/elf/split_unit.h"
#include "object/lines/lines_private.h"
#include "object/types/die_walk.h"
#include "object/types/variables.h"

/* A word of the global offset table by which variables of threads are found. */
struct thread_slot {
	uint64_t address;
	uint64_t place; /* from the beginning of the object's part of a thread's memory */
	enum thread_slot_kind kind;
};

/* A type, and what is still to be read of it. */
struct type_entry {
	struct data_type type;
	Dwarf_Die die; /* with the members */
	bool has_members;
	VEC(struct data_member) members;
};

/* A variable with a fixed address, or one of threads with its place in their block. */
struct global {
	uint64_t address;
	bool is_of_thread;
	Dwarf_Die die;
	struct variable *variable; /* NULL: nobody asked yet */
	const char *prefix;	   /* its namespaces, "a::b::", or "" */
	const char *function;	   /* that it is static in, or NULL */
	const char *unit;	   /* file of its unit, "" if unknown */
};
struct global_list {
	struct global *items;
	size_t count, capacity;
};

struct function_range {
	uint64_t start, end;
	uint32_t function; /* of variables->functions */
};

/* A function, and what is still to be read of it. */
struct function_entry {
	struct data_function function;
	const char *name;
	uint32_t unit;
	Dwarf_Die die;
	bool is_read;
	VEC(struct code_range) ranges;
	VEC(struct variable_place) places;
	VEC(struct call_result) results;
};

/* A unit of lines->units. */
struct variables_unit {
	bool is_sought, is_found; /* the DIE with its contents */
	struct split_unit split;
	bool has_functions;
	VEC(struct function_range) ranges; /* by start */
};

struct variables {
	struct lines *lines;
	struct diag_list *diags;
	const char *path; /* of the object, for messages */
	struct arena arena;
	VEC(struct type_entry *) types;
	struct hash_map type_by_die;  /* address in memory → type */
	struct variables_unit *units; /* as lines->units; NULL: nothing asked yet */
	VEC(struct function_entry *) functions;
	bool has_globals;
	struct global_list globals, of_threads; /* by address */
	struct hash_map definition_by_name;	/* hash of a type's name → number below */
	VEC(Dwarf_Die) definitions;
	struct elf_file file; /* the object's own, for its frames; elf NULL: none */
	Dwarf_CFI *cfi;
	bool has_slots;
	VEC(struct thread_slot) slots; /* by address */
	uint64_t thread_block; /* bytes from the beginning of a thread's part to its pointer */
};

/* Opens what there is. The file is the variables' from now on. */
struct variables *variables_new(struct lines *lines, const struct elf_file *file, const char *path,
				struct diag_list *diags);
void variables_free(struct variables *variables);
/* The DIE with a unit's contents, or NULL. */
struct split_unit *variables_unit(struct variables *variables, uint32_t unit);
/* Says, once, that something cannot be read. */
void variables_report_damage(struct variables *variables);
/* Fills the lists of global variables and of definitions, once. */
void variables_read_globals(struct variables *variables);
/* A variable as a DIE tells it; prefix: its namespaces. */
struct variable *variables_make(struct variables *variables, Dwarf_Die *die, const char *prefix);

/* types.c */
/* Of what a DIE has DW_AT_type of; TYPE_NONE: nothing. */
uint32_t types_of(struct variables *variables, Dwarf_Die *die);
/* "a::b::" for what a DIE lies in: to be freed. */
char *types_prefix(Dwarf_Die *die);
/* "structure:a::foo_t", of an aggregate with its namespaces, "" where it has no name: to be freed.
 */
char *types_aggregate_name(Dwarf_Die *die, const char *prefix);

#endif
