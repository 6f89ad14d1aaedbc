/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load objects: the names of the functions in an ELF file, from .symtab,
 * .dynsym, .gnu_debugdata and separate debug files.
 *
 * An object is opened once and read once: all symbols go into one sorted
 * array, so that a look-up is a binary search.
 */
#ifndef HELIO_OBJECT_OBJECT_H
#define HELIO_OBJECT_OBJECT_H

#include "base/status.h"

#include <stdint.h>

struct object;

/* What an experiment knows of a load object; strings may be NULL where unknown. */
struct object_request {
	const char *path;     /* as mapped by the program; "[vdso]" for the vDSO */
	const char *archive_path; /* a copy kept in the experiment, tried first */
	const char *build_id; /* hex; a file with another one is not used, with a warning */
	uint64_t mtime;	      /* s; a file that differs here and has no build-id gives a warning */
	uint64_t file_size;
};

/* A function. Addresses are ELF virtual addresses of the object. */
struct object_function {
	uint64_t address;
	uint64_t size;
	const char *mangled; /* the alphabetically last of the symbols at this address */
	const char *alias_list; /* all of them, space-separated, when there are several; else NULL */
};

/*
 * Opens the object and reads its symbols.  Where the file is missing or is
 * not the one that was measured, *out is still an object, one without
 * functions, and the reason is in diags.  Never fails otherwise.
 */
void object_open(const struct object_request *request, struct object **out, struct diag_list *diags);
void object_free(struct object *object);

/*
 * The function that holds an address, as an index for object_function(), or
 * OBJECT_NO_FUNCTION.  Stripped code between known functions belongs to a
 * function <static>@0xADDR made up for that stretch (behaviour.md 6.11).
 */
#define OBJECT_NO_FUNCTION UINT32_MAX
uint32_t object_function_at(struct object *object, uint64_t address);
const struct object_function *object_function(const struct object *object, uint32_t index);
uint32_t object_function_count(const struct object *object);

/* Which file the names come from: "found", "found as PATH", "not found", for `objects` and headers. */
const char *object_provenance(const struct object *object);

enum name_style { NAME_LONG, NAME_SHORT, NAME_MANGLED };

/*
 * A symbol as people write it: C++, Rust and D demangled; NAME_SHORT leaves
 * out parameters.  The result is the caller's to free; never NULL.
 */
char *object_demangle(const char *mangled, enum name_style style);

#endif
