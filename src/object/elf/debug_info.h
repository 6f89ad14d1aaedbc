/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with DWARF, opened: the object itself or what has its debug
 * information, with its alternate file (dwz), if it has one.
 */
#ifndef HELIO_OBJECT_DEBUG_INFO_H
#define HELIO_OBJECT_DEBUG_INFO_H

#include "object/elf/elf_file.h"

#include <elfutils/libdw.h>

struct dwarf_file {
	Elf *elf;
	Dwarf *dwarf; /* NULL: there is none */
	int fd;
	struct elf_file image; /* holds `elf` instead of a file, if it differs from that */
};
struct debug_info {
	char *path;
	struct dwarf_file own, alternate;
};

/* Which object, and where its debug information may be; strings may be NULL. */
struct debug_request {
	const char *file;     /* that was found for the object */
	const char *path;     /* where the program had it */
	const char *build_id; /* of the file found */
	const char *archived; /* a debug file in the experiment */
};

/*
 * Finds and opens the first with line tables or units of: the file found, the
 * experiment's debug file, debug files by build-id and link, debuginfod.
 * False: none.
 */
bool debug_info_find(const struct debug_request *request, struct debug_info *out,
		     struct diag_list *diags);
void debug_info_close(struct debug_info *info);

#endif
