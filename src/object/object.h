/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load objects: the names of the functions in an ELF file, from .symtab,
 * .dynsym, the PLT's relocations, .gnu_debugdata and separate debug files.
 *
 * Opening finds the file and checks that it is the measured one.  The symbols
 * are read, once and with one walk, at the first question about functions:
 * an object of which no address is looked up costs next to nothing.  What has
 * been read is kept in memory of our own; the files may change afterwards.
 *
 * Debug files are looked for below /usr/lib/debug, or below the directories in
 * the environment variable HELIO_DEBUG_ROOT (separated by colons), if it is set.
 */
#ifndef HELIO_OBJECT_OBJECT_H
#define HELIO_OBJECT_OBJECT_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct object;

/* Added to the name of a copy in an experiment: its separate debug file. */
#define OBJECT_ARCHIVED_DEBUG ".debug"

/* What an experiment knows of a load object; strings may be NULL where unknown. */
struct object_request {
	const char *path; /* as mapped by the program; "[vdso]" for the vDSO */
	/* a copy kept in the experiment, tried first; its debug file is beside it */
	const char *archive_path;
	const char *build_id; /* hex; a file with another one is not used, with a warning */
	uint64_t mtime;	      /* s; a file that differs here and has no build-id gives a warning */
	uint64_t file_size;
};

/* A function. Addresses are ELF virtual addresses of the object. */
struct object_function {
	uint64_t address;
	uint64_t size;
	const char *mangled;	/* the alphabetically last of the symbols at this address */
	const char *alias_list; /* all of them, space-separated, when there are several; else NULL
				 */
	bool is_resolver; /* an IFUNC's: it chooses the code that the name means to its callers */
	bool is_slot;	  /* of the procedure linkage table, NAME@plt */
};

/*
 * Opens the object.  Where the file is missing or is not the one that was
 * measured, *out is still an object, one without functions, and the reason is
 * in diags.  Never fails otherwise.
 */
void object_open(const struct object_request *request, struct object **out,
		 struct diag_list *diags);
void object_free(struct object *object);

/*
 * What was opened: two objects with the same are the same file, whatever its paths, with the same
 * debug file kept beside it, and all that follows from that.
 */
struct object_identity {
	uint64_t device, inode, size, changed_ns;
	uint64_t debug_device, debug_inode, debug_size, debug_changed_ns; /* 0: there is none */
	uint64_t asked; /* whether a build-id was asked for */
};
/* False: it is of no file of its own. */
bool object_identify(const struct object *object, struct object_identity *out);

/*
 * The function that holds an address, as an index for object_function(), or
 * OBJECT_NO_FUNCTION.  Of functions that overlap it is the one that begins
 * last.  Code that no symbol covers belongs to a function made up for it,
 * <static>@0xADDR (<lib.so>): one for each entry of
 * .eh_frame_hdr between two known functions, else one for the whole range.
 * Made-up functions come into being when they are asked for.
 */
#define OBJECT_NO_FUNCTION UINT32_MAX
uint32_t object_function_at(struct object *object, uint64_t address);
/*
 * Makes up all of them: those of .eh_frame_hdr or, without that, of all ranges that are too long
 * for padding.
 */
void object_make_up_functions(struct object *object);
/* Valid as long as the object; the index must have been returned or be below the count. */
const struct object_function *object_function(const struct object *object, uint32_t index);
/* Known functions, sorted by address, then the made-up ones so far. Reads the symbols. */
uint32_t object_function_count(struct object *object);

/* Data at an address: its symbol; mangled NULL: the object's data, but of no symbol. */
struct object_data {
	const char *mangled; /* lives as long as the object */
	uint64_t address, size;
};
/* False: no data of the object is there.  Reads the symbols of data. */
bool object_data_at(struct object *object, uint64_t address, struct object_data *out);
/* From where to where all of its data is. False: it has none. */
bool object_data_span(struct object *object, uint64_t *start, uint64_t *end);

/* Which file this is: "found", "found as PATH", "not found", for `objects` and headers. */
const char *object_provenance(const struct object *object);
/* There is no such file. */
bool object_is_missing(const struct object *object);
/* The separate debug file whose names are used, or NULL. Reads the symbols. */
const char *object_debug_file(struct object *object);
/* What the code is for, EM_…; EM_NONE where there is no file. */
uint16_t object_machine(const struct object *object);
/*
 * Copies the code at an address, but for a buffer that is NULL, and returns how many bytes: fewer
 * than asked for at the end of a section, 0 where the file is gone, was changed since, or
 * is a debug file, which has no code.  The file stays mapped from the first question on.
 */
size_t object_code(struct object *object, uint64_t address, void *buffer, size_t size);
/* Messages that arose while the symbols or lines were read; moves them to diags. */
void object_take_diags(struct object *object, struct diag_list *diags);

enum name_style { NAME_LONG, NAME_SHORT, NAME_MANGLED };

/*
 * A symbol as people write it: C++, Rust and D demangled; NAME_SHORT leaves
 * out parameters.  The result is the caller's to free; never NULL.
 */
char *object_demangle(const char *mangled, enum name_style style);

#endif
