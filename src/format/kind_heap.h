/* SPDX-License-Identifier: Apache-2.0 */
/* Heap tracing: allocations and what became of them.  A row of format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_HEAP_H
#define HELIO_FORMAT_KIND_HEAP_H

#include "format/trace.h"

#define FORMAT_FILE_HEAP "heaptrace"

#define FORMAT_HEAP_TYPES(X)                                                                       \
	X(MALLOC, "malloc")                                                                        \
	X(CALLOC, "calloc")                                                                        \
	X(REALLOC, "realloc")                                                                      \
	X(ALIGNED, "aligned")                                                                      \
	X(FREE, "free")                                                                            \
	X(MMAP, "mmap")                                                                            \
	X(MUNMAP, "munmap")                                                                        \
	X(MREMAP, "mremap")                                                                        \
	X(BRK, "brk")                                                                              \
	X(LOST, "lost")                                                                            \
	X(SEARCHED, "searched")
/*
 * old: of realloc and mremap, the block before.  A realloc that moves is two events, the free
 * and the realloc.  weight: how many allocations one of a sample stands for; 0: all are recorded.
 * brk: address: the new break, size: by how much it went up, 0: it went down.
 * Of the search for lost blocks at the end of a process: lost: size: enum format_heap_loss;
 * searched: address: live blocks that were looked at, size: lost ones
 */
enum { HEAP_ADDRESS, HEAP_SIZE, HEAP_OLD, HEAP_WEIGHT, HEAP_FIELDS };
/* Pointers to a block that was lost: none; only from lost blocks; only into its middle. */
enum format_heap_loss { HEAP_LOST_DEFINITELY = 1, HEAP_LOST_INDIRECTLY, HEAP_LOST_POSSIBLY };

#define X(name, text) HEAP_##name,
enum format_heap_type { FORMAT_HEAP_TYPES(X) HEAP_TYPES };
#undef X

/*
 * Its parameter: all; all,noscan: without a search for lost blocks at the end; or a number:
 * bytes between sampled allocations.
 */
#define FORMAT_KIND_HEAP                                                                           \
	{                                                                                          \
		.subject = "heap", .title = "Heap Tracing", .option = "-H on", .is_wrapped = true, \
		.file = FORMAT_FILE_HEAP, .name = "heap", .key = 'H',                              \
		.fields_text = "address size old-address weight", .types = HEAP_TYPES,             \
		.fields = HEAP_FIELDS,                                                             \
		.brief = {[HEAP_MALLOC] = 2,  [HEAP_CALLOC] = 2,  [HEAP_REALLOC] = 3,              \
			  [HEAP_ALIGNED] = 2, [HEAP_FREE] = 1,	  [HEAP_MMAP] = 2,                 \
			  [HEAP_MUNMAP] = 2,  [HEAP_MREMAP] = 3,  [HEAP_BRK] = 2,                  \
			  [HEAP_LOST] = 2,    [HEAP_SEARCHED] = 2},                                \
		.stackless = 1u << HEAP_FREE | 1u << HEAP_LOST | 1u << HEAP_SEARCHED,              \
		.encoding = {FIELD_NEAR, FIELD_NUMBER, FIELD_NEAR, FIELD_NUMBER},                  \
		.type_names = FORMAT_TYPE_NAMES(FORMAT_HEAP_TYPES), .named_types = HEAP_TYPES      \
	}

#endif
