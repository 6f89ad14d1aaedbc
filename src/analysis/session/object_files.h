/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of load objects, each opened once however many paths lead to it: links, `./` in names,
 * copies in archives that are links.  A load object is what the experiment calls it; what was read
 * of its file is shared.
 */
#ifndef HELIO_ANALYSIS_OBJECT_FILES_H
#define HELIO_ANALYSIS_OBJECT_FILES_H

#include "base/hash.h"
#include "base/memory.h"
#include "object/object.h"

struct object_file {
	struct object_identity identity;
	struct object *object; /* NULL: nobody has it open now */
	uint32_t users;
};

/* Zero-initialised is empty. */
struct object_files {
	VEC(struct object_file) items;
	struct hash_map by_identity; /* hash, or one of the next numbers → item */
};

/*
 * *object was opened just now; if its file is open already, it is freed and becomes that one.
 * Returns the file's number, HASH_NONE of what is no file.
 */
uint32_t object_files_share(struct object_files *files, struct object **object);
/* One user less; the last one frees the object. */
void object_files_let_go(struct object_files *files, struct object *object, uint32_t number);
void object_files_fini(struct object_files *files);

#endif
