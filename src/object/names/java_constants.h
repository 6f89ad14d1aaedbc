/* SPDX-License-Identifier: Apache-2.0 */
/* The constant pool of a Java class, as its class file has it. */
#ifndef HELIO_OBJECT_JAVA_CONSTANTS_H
#define HELIO_OBJECT_JAVA_CONSTANTS_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <stdint.h>

/* Where each constant begins in the bytes, by its number; 0: there is none. */
struct java_constants {
	const uint8_t *bytes;
	size_t size;
	const uint32_t *at;
	uint32_t count; /* one more than the greatest number */
};

/* The table is the arena's; the bytes have to live as long.  Damaged ones: up to the damage. */
void java_constants_read(const uint8_t *bytes, size_t size, struct arena *arena,
			 struct java_constants *out);
/*
 * Adds a constant as people write it, or nothing: "pkg.Class.method(int)", "pkg.Class.field",
 * "pkg.Class", a number, a string in quotation marks.  arg: struct java_constants.
 */
void java_constant_put(uint16_t index, void *arg, struct strbuf *text);

#endif
