/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols that were stripped from an object and are kept elsewhere. */
#ifndef HELIO_OBJECT_DEBUG_FILE_H
#define HELIO_OBJECT_DEBUG_FILE_H

#include "object/elf/elf_file.h"

/*
 * The debug file of a build-id (hex), ROOT/.build-id/xx/yyyy.debug.  False:
 * there is none with this build-id.
 */
bool debug_file_by_build_id(const char *build_id, struct elf_file *out);

/*
 * The separate debug file of a stripped object that is, or was, at the path:
 * by build-id, else by .gnu_debuglink in the path's directory, in .debug/
 * there, and in ROOT/DIRECTORY.  A linked file must have the object's build-id or, where one
 * of them has none, the checksum in the link; one that does not fit is
 * reported.
 */
bool debug_file_find(const struct elf_file *object, const char *path, struct elf_file *out,
		     struct diag_list *diags);

/*
 * The small ELF file in .gnu_debugdata of an object that is, or was, at the path, decompressed; one
 * that is not read is reported.
 */
bool debug_file_embedded(const struct elf_file *object, const char *path, struct elf_file *out,
			 struct diag_list *diags);

#endif
