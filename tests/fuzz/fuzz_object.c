/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-libs: object base */
/*
 * Any bytes as a load object: opened from a file and asked for functions.
 *
 * clang -g -O1 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -Isrc tests/fuzz/fuzz_object.c
 * src/object/[a-z]*.c src/base/base.c src/base/hash.c -lelf -llzma -liberty -o fuzz_object
 */
#include "object/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct object *object, uint64_t address)
{
	uint32_t index = object_function_at(object, address);

	if (index == OBJECT_NO_FUNCTION)
		return;
	const struct object_function *function = object_function(object, index);

	if (address < function->address || address - function->address >= function->size)
		abort();
	free(object_demangle(function->mangled, NAME_SHORT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];
	struct object_request request = {.path = path};
	struct diag_list diags = {0};
	struct object *object;

	if (file < 0) {
		file = memfd_create("object", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
		setenv("HELIO_DEBUG_ROOT", "/nonexistent", 1);
	}
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		return 0;
	object_open(&request, &object, &diags);

	uint32_t count = object_function_count(object);

	for (uint32_t i = 0; i < count && i < 1000; i++) {
		const struct object_function *function = object_function(object, i);

		ask(object, function->address);
		ask(object, function->address + function->size);
	}
	for (uint64_t address = 0; address < 0x4000; address += 97)
		ask(object, address);
	object_take_diags(object, &diags);
	object_free(object);
	diag_fini(&diags);
	return 0;
}
