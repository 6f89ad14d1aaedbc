/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-libs: object isa base */
/* Any bytes as the bytecode of a method of Java, and any as the constant pool that it refers to. */
#include "base/arena.h"
#include "isa/isa.h"
#include "object/names/java_constants.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LENGTH_SIZE = 2 };

/* As a listing does: instruction by instruction, and each makes some progress. */
static void list(const uint8_t *code, size_t size, struct java_constants *constants)
{
	struct isa *isa = isa_bytecode_new(java_constant_put, constants);
	struct strbuf text = {0};
	struct isa_instruction instruction;

	for (size_t at = 0; at < size; at += instruction.length) {
		isa_text(isa, code + at, size - at, at, ISA_ATT, NULL, NULL, &instruction, &text);
		if (!instruction.length || instruction.length > size - at)
			abort();
		strbuf_clear(&text);
	}
	strbuf_fini(&text);
	isa_free(isa);
}

static void put_all(struct java_constants *constants)
{
	struct strbuf text = {0};

	for (uint32_t i = 0; i <= constants->count && i <= UINT16_MAX; i++)
		java_constant_put((uint16_t)i, constants, &text);
	strbuf_fini(&text);
}

/* The length of the code, 2 bytes, highest first; the code; the rest is the constant pool. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct java_constants constants;

	if (size < LENGTH_SIZE)
		return 0;
	size_t length = (size_t)data[0] << 8 | data[1], rest = size - LENGTH_SIZE;
	const uint8_t *code = data + LENGTH_SIZE;

	if (length > rest)
		length = rest;
	java_constants_read(code + length, rest - length, &arena, &constants);
	put_all(&constants);
	list(code, length, &constants);
	arena_fini(&arena);
	return 0;
}
