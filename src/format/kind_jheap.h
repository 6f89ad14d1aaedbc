/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of Java objects.  A row of format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_JHEAP_H
#define HELIO_FORMAT_KIND_JHEAP_H

#include "format/trace.h"

#define FORMAT_FILE_JHEAP "jheaptrace"

/*
 * jheaptrace: a sample of the objects that a Java machine allocated, and which of them its
 * collections have found dead.  number: of the object, from 1 on; weight: how many objects of its
 * size it stands for; class: a text.  COLLECTED: of an earlier object, by a thread of the machine
 * that says so some time after the collection.
 */
#define FORMAT_JHEAP_TYPES(X)                                                                      \
	X(ALLOCATED, "allocation")                                                                 \
	X(COLLECTED, "collected")
enum { JHEAP_NUMBER, JHEAP_SIZE, JHEAP_WEIGHT, JHEAP_CLASS, JHEAP_FIELDS };

#define X(name, text) JHEAP_##name,
enum format_jheap_type { FORMAT_JHEAP_TYPES(X) JHEAP_TYPES };
#undef X

/* Its parameter: bytes between sampled objects; off. */
#define FORMAT_KIND_JHEAP                                                                          \
	{                                                                                          \
		.subject = "Java heap", .title = "Java Heap", .option = "--java-heap on",          \
		.file = FORMAT_FILE_JHEAP, .name = "java_heap", .key = 'J',                        \
		.fields_text = "number size weight class", .types = JHEAP_TYPES,                   \
		.fields = JHEAP_FIELDS, .brief = {[JHEAP_ALLOCATED] = 4, [JHEAP_COLLECTED] = 1},   \
		.stackless = 1u << JHEAP_COLLECTED,                                                \
		.encoding = {FIELD_NEAR, FIELD_NUMBER, FIELD_NUMBER, FIELD_TEXT},                  \
		.type_names = FORMAT_TYPE_NAMES(FORMAT_JHEAP_TYPES), .named_types = JHEAP_TYPES    \
	}

#endif
