/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the memory of a process that is attached to: a load object whose headers, tables
 * of symbols and strings are the process's to make.
 */
#include "launch/attach/remote.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is named lies in the string, which has an end. */
static void visit(const char *name, uint64_t start, uint64_t size, void *sum)
{
	for (; *name; name++)
		*(uint64_t *)sum += (unsigned char)*name;
	*(uint64_t *)sum += start + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[] = "/a/libc.so";
	struct remote remote = {.memory = memfd_create("memory", MFD_CLOEXEC)};
	struct remote_object object = {.name = name, .end = size};
	struct remote_mapping mapping = {.end = size, .readable = true, .executable = true};
	struct remote_symbols symbols;
	uint64_t sum = 0;
	char text[64];

	if (remote.memory < 0 || write(remote.memory, data, size) != (ssize_t)size)
		abort();
	*vec_push(&remote.objects) = object;
	*vec_push(&remote.mappings) = mapping;
	if (remote_symbols_read(&remote, &object, &symbols)) {
		remote_symbol(&symbols, "dlopen");
		remote_symbols_each(&symbols, visit, &sum);
		remote_symbols_free(&symbols);
	}
	remote_find_code(&remote, &object, "\x0f\x05", 2);
	remote_read_string(&remote, size / 2, text, sizeof(text));
	vec_fini(&remote.objects);
	vec_fini(&remote.mappings);
	close(remote.memory);
	return 0;
}
