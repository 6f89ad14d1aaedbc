/* SPDX-License-Identifier: Apache-2.0 */
/* What the code of functions tells of their names: who gives which body to OpenMP's run-time. */
#ifndef HELIO_OBJECT_NAME_CODE_H
#define HELIO_OBJECT_NAME_CODE_H

#include "base/hash.h"
#include "base/memory.h"
#include "object/names/name.h"

struct isa_instruction;

/* What names a body of clang's: a function, and where it calls the run-time behind that. */
struct name_giver {
	uint32_t function;
	uint64_t call;
};

/* What has been read of an object's code so far; zero-initialised is nothing. */
struct name_code {
	struct hash_map
		use_of; /* address of a body → the kind that it is given to the run-time as */
	struct hash_map is_read; /* functions whose uses are known */
	struct hash_map regions; /* body of a region → its kind */
	VEC(struct name_giver) givers;
	struct hash_map giver_of;    /* clang's body → place in givers */
	struct hash_map givers_read; /* functions whose bodies are in givers */
	struct hash_map parents;     /* clang's body → place in parent_texts, and one; 0: none */
	struct string_table parent_texts;
	uint64_t bytes_read;
};
void name_code_fini(struct name_code *code);

/*
 * A function's code, to be freed, or its beginning: damaged files may have any number of large
 * functions, so that there is a limit on what is read of all.
 */
uint8_t *name_code_read(struct object *object, uint32_t function, size_t *size);
/* The symbol of the function that an instruction calls or jumps to by its address, or "". */
const char *name_code_callee(struct object *object, const struct isa_instruction *instruction);
/* Clang: the symbol of the function that a body is a part of, which is at that place; to be freed,
 * or NULL. */
char *name_giver(struct object *object, uint32_t body, const struct line_function *place);
/*
 * Of what clang calls a body's debug version, whose declaration is the block behind the pragma, the
 * body that does nothing but call it; else the function itself.
 */
uint32_t name_outer_body(struct object *object, uint32_t function);
/* GCC: what the functions made from a body's parent give it to the run-time as, or FUNCTION_PLAIN.
 */
enum function_kind name_code_use(struct object *object, uint32_t body, const char *parent);

#endif
