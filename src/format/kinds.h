/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of traced data, each described once, in its file format/kind_NAME.h.  What else a
 * kind has is in docs/internals/analysis.md.
 */
#ifndef HELIO_FORMAT_KINDS_H
#define HELIO_FORMAT_KINDS_H

#include "format/kind_counter.h"
#include "format/kind_heap.h"
#include "format/kind_io.h"
#include "format/kind_jheap.h"
#include "format/kind_mpi.h"
#include "format/kind_omp.h"
#include "format/kind_sync.h"

#ifdef HELIO_KIND_DEMO
#include "format/kind_demo.h"
#define FORMAT_KIND_OF_TESTS(X) X(DEMO, demo)
#else
#define FORMAT_KIND_OF_TESTS(X)
#endif

#include <stdbool.h>

/* One line for each.  Nothing on disk depends on the order. */
#define FORMAT_KINDS(X)                                                                            \
	X(HEAP, heap)                                                                              \
	X(SYNC, sync)                                                                              \
	X(IO, io)                                                                                  \
	X(COUNTER, counter)                                                                        \
	X(MPI, mpi)                                                                                \
	X(OMP, omp)                                                                                \
	X(JHEAP, jheap)                                                                            \
	FORMAT_KIND_OF_TESTS(X)

#define X(NAME, name) TRACE_##NAME,
enum trace_kind { FORMAT_KINDS(X) TRACE_KINDS };
#undef X

struct format_kind {
	const char *file;
	const char *name;	 /* its word: among the settings in log.xml, in messages, in JSON */
	const char *subject;	 /* "heap": what is traced, before "tracing" or "data" */
	const char *title;	 /* "Heap Tracing": of its part of lists */
	const char *option;	 /* "-H on": what records it */
	char key;		 /* in the collector's parameters */
	bool is_wrapped;	 /* recorded by wrapped functions, of PARAMS_LIBRARY_NAME_TRACE */
	bool needs_mounts;	 /* its parameter ends with the namespace that `mounts` is of */
	const char *fields_text; /* for people, in the file's header */
	unsigned types;		 /* of records in our own files */
	unsigned fields;
	unsigned duration; /* 1 + the field that says how long an event took, ns; 0: none */
	const char *const *type_names;
	unsigned named_types;
	uint8_t brief[FORMAT_TRACE_TYPES_MAX]; /* by type: fields of a record without bit 6 */
	uint32_t stackless;		       /* a bit for each type without a call stack */
	enum trace_encoding encoding[TRACE_FIELDS_MAX];
};

#define X(NAME, name) [TRACE_##NAME] = FORMAT_KIND_##NAME,
static const struct format_kind format_kinds[TRACE_KINDS] = {FORMAT_KINDS(X)};
#undef X

#endif
