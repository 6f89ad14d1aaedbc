/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers make of one function: clones, parts, bodies of parallel
 * regions.  The symbol's name tells what it is and from which function it came;
 * DWARF tells the line.
 */
#ifndef HELIO_OBJECT_NAME_H
#define HELIO_OBJECT_NAME_H

#include "object/lines/lines.h"
#include "object/object.h"

enum function_kind {
	FUNCTION_PLAIN,
	FUNCTION_CLONE,	       /* a changed copy: .constprop .isra .clone, one per target, … */
	FUNCTION_PART,	       /* a piece that its parent jumps to or calls: .part .cold */
	FUNCTION_OMP_REGION,   /* the body of a parallel region */
	FUNCTION_OMP_LOOP,     /* … of a parallel loop */
	FUNCTION_OMP_SECTIONS, /* … of parallel sections */
	FUNCTION_OMP_TASK,     /* … of a task */
	FUNCTION_OMP_TARGET,   /* … of an offloaded region */
	FUNCTION_OMP_HELPER,   /* copies a task's data, combines a reduction */
	FUNCTION_ENTRIES,      /* the code of a Fortran procedure with ENTRY statements */
	FUNCTION_RESOLVER,     /* an IFUNC's */
	FUNCTION_PLT,	       /* NAME@plt */
};

/*
 * Takes a symbol's name apart: the kind by its name alone, and the symbol of
 * the function it was made from, to be freed, or NULL where it is itself or
 * the name does not tell.  Suffixes stack (foo.isra.0.cold): the kind is that of
 * the last, the parent the name without any.  .lto_priv.N and .llvm.N only make
 * a static function's name unique and hide no other kind.
 */
enum function_kind function_name_parse(const char *symbol, char **parent);

/*
 * A function as the user knows it, to be freed; never NULL: as object_demangle()
 * writes it, but
 *	geo::area					__geo_MOD_area, of a Fortran module
 *	foo -- OMP parallel region from line 9 [foo._omp_fn.0]
 *	foo -- outline code [foo.cold]			also of .part.N
 *	foo -- IFUNC resolver [foo]
 *	foo_ -- all entries [master.0.foo_]
 * without "foo -- " or " from line 9" where nothing tells them.  NAME_MANGLED
 * is the symbol.
 */
char *function_display_name(struct object *object, uint32_t function, enum name_style style);
/* … where its code begins in a listing: a part "from line N", if that line is not 0. */
char *function_entry_name(struct object *object, uint32_t function, enum name_style style,
			  uint32_t line);
/* What other tools call a part, "foo.cold", "foo(int) [clone .cold]"; to be freed, or NULL. */
char *function_part_name(const char *symbol, enum name_style style);

/* The kind of a function of an object, with all that its code and lines tell. */
enum function_kind function_kind_of(struct object *object, uint32_t function);

/*
 * The function that this one was made from: of a clone, a part or a body the
 * index of its parent in the same object, else OBJECT_NO_FUNCTION.
 */
uint32_t function_parent(struct object *object, uint32_t function);

#endif
