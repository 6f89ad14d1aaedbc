/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-libs: object base */
/*
 * Any text as a symbol's name.
 *
 * clang -g -O1 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -Isrc tests/fuzz/fuzz_demangle.c
 * src/object/names/demangle.c src/base/base.c -liberty -o fuzz_demangle
 */
#include "object/object.h"

#include "base/memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = xstrndup((const char *)data, size);

	free(object_demangle(name, NAME_LONG));
	free(object_demangle(name, NAME_SHORT));
	free(name);
	return 0;
}
