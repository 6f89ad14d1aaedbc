/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables and types, from DWARF 2 to 5: which variable lies at an address, where the
 * variables of a function are while an instruction of it runs, and what their types are made of.
 *
 * Nothing is read before the first question.  Global variables are known after one walk over all
 * units, those of a function after one over the function.  All addresses are ELF addresses of
 * the object.  Ids and pointers returned here are valid as long as the object; what is
 * damaged is left out, with one warning among the object's.
 */
#ifndef HELIO_OBJECT_VARIABLES_H
#define HELIO_OBJECT_VARIABLES_H

#include "object/code_range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object;
struct variables;

/* The object's variables, never NULL: without debug information every answer is "none". */
struct variables *object_variables(struct object *object);
/* Whether the object has any debug information. */
bool variables_present(struct variables *variables);

/* ---- types ---- */

#define TYPE_NONE UINT32_MAX /* void, functions, what is damaged */

enum data_kind {
	DATA_SCALAR,
	DATA_POINTER,	/* and references */
	DATA_AGGREGATE, /* structures, unions, classes */
	DATA_ARRAY,
	DATA_INCOMPLETE, /* declared, but nowhere defined */
};

struct data_type {
	enum data_kind kind;
	bool is_union;
	bool is_descriptor; /* pointer: it is declared as the array to which its first word leads */
	bool is_open;	    /* has more than its members tell: variants of Rust */
	const char *text;   /* as declared, "const+pointer+int", "structure:foo_t" */
	uint64_t size;	    /* bytes; 0: not known */
	uint32_t plain;	    /* of an aggregate: itself, less const and the like */
	uint32_t target;    /* what it points to, of an array its elements; or TYPE_NONE */
	/* of an aggregate: where it is declared; NULL, 0: not known */
	const char *file;
	uint32_t line;
};

/* A member or a base class. Members of a bit field have the bytes that they are in. */
struct data_member {
	const char *name; /* "" where it has none */
	uint32_t type;
	uint64_t offset, size; /* bytes */
};

const struct data_type *variables_type(struct variables *variables, uint32_t type);
/* The members of an aggregate in the order of the source. */
size_t variables_members(struct variables *variables, uint32_t type,
			 const struct data_member **members);

/* ---- variables ---- */

enum variable_scope { SCOPE_OBJECT, SCOPE_UNIT, SCOPE_FUNCTION };

struct variable {
	const char *name; /* qualified by its namespaces; "" where it has none */
	uint32_t type;
	enum variable_scope scope;
	const char *where; /* the file of the unit, or the function; "": not known */
	uint64_t address;  /* of one with a fixed address */
	bool is_of_thread; /* each has one; the address is that in their block */
};

/* The variable with a fixed address that holds the address, or NULL. */
const struct variable *variables_at(struct variables *variables, uint64_t address);
/*
 * The same of those that every thread has, by the displacement from the thread's pointer, in a
 * library from where it would be if that were a program; the variable's address then is from the
 * beginning of their block.
 */
const struct variable *variables_of_thread_at(struct variables *variables, int64_t displacement);
/* Where that pointer is in the block. */
uint64_t variables_thread_block(const struct variables *variables);

/* What words of the global offset table tell of variables of threads. */
enum thread_slot_kind {
	THREAD_SLOT_NONE,
	THREAD_SLOT_PAIR,     /* a call with its address returns the variable's */
	THREAD_SLOT_DISTANCE, /* it holds the variable's distance from the thread's pointer */
	THREAD_SLOT_FUNCTION, /* it holds a function that returns that distance */
};
/* Of the word at an address; *displacement: of the variable, as above. */
enum thread_slot_kind variables_thread_slot(struct variables *variables, uint64_t address,
					    int64_t *displacement);

/* Where a variable, or its value, is while code in [start, end) runs. */
enum place_kind {
	PLACE_VALUE,  /* its value is register + offset */
	PLACE_MEMORY, /* it lies at register + offset */
	PLACE_FRAME,  /* it lies at offset from the frame's canonical address */

};
struct variable_place {
	uint64_t start, end;
	const struct variable *variable;
	int64_t offset;
	enum place_kind kind;
	bool is_reference; /* in memory or the frame: what lies there is its address */
	uint8_t reg;	   /* DWARF number */
};

/* What a call returns. */
struct call_result {
	uint64_t return_address;
	uint32_t type;
};

struct data_function {
	uint64_t entry;	 /* its first instruction */
	uint32_t result; /* type, or TYPE_NONE */
	struct {
		const struct code_range *items;
		size_t count;
	} ranges; /* the parts of its code */
	struct {
		const struct variable_place *items;
		size_t count;
	} places; /* by start */
	struct {
		const struct call_result *items;
		size_t count;
	} results; /* by address */
};

/* The function with code at the address, with all that is inlined into it; or NULL. */
const struct data_function *variables_function_at(struct variables *variables, uint64_t address);

/*
 * The frame's canonical address (that of the stack before the call) while an instruction runs:
 * register + offset.  False: not known.
 */
bool variables_frame_at(struct variables *variables, uint64_t address, uint8_t *reg,
			int64_t *offset);

#endif
