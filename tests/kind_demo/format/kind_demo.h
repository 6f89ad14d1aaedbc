/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of data of tests/kind_demo: calls of demo_call().  A row of format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_DEMO_H
#define HELIO_FORMAT_KIND_DEMO_H

#include "format/trace.h"

#define FORMAT_FILE_DEMO "demotrace"

#define FORMAT_DEMO_TYPES(X) X(CALL, "call")
enum { DEMO_AMOUNT, DEMO_FIELDS };

#define X(name, text) DEMO_##name,
enum format_demo_type { FORMAT_DEMO_TYPES(X) DEMO_TYPES };
#undef X

#define FORMAT_KIND_DEMO                                                                           \
	{                                                                                          \
		.subject = "demo", .title = "Demo Tracing", .option = "--demo on",                 \
		.is_wrapped = true, .file = FORMAT_FILE_DEMO, .name = "demo", .key = 'Z',          \
		.fields_text = "amount", .types = DEMO_TYPES, .fields = DEMO_FIELDS, .brief = {1}, \
		.encoding = {FIELD_NUMBER}, .type_names = FORMAT_TYPE_NAMES(FORMAT_DEMO_TYPES),    \
		.named_types = DEMO_TYPES                                                          \
	}

#endif
