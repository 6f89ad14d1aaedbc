/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a file that views take names, lines and code from: the measured program, the file
 * of its split debug information, or a debug file as debuginfod has kept an answer of a server.
 */
#include "print_golden.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte says which; make_corpus.py knows the order, and the build-id. */
static const struct {
	const char *name, *program;
} files[] = {
	{GOLDEN_PROGRAM, GOLDEN_PROGRAM},
	{"split.dwo", GOLDEN_PROGRAM},
	{"debuginfod/00112233445566778899aabbccddeeff00112233/debuginfo", GOLDEN_STRIPPED},
};
enum { FILES = sizeof(files) / sizeof(*files) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;

	if (!begun) {
		golden_begin();
		setenv("DEBUGINFOD_URLS", "file:///nonexistent/", 1);
		setenv("DEBUGINFOD_CACHE_PATH", "debuginfod", 1);
		setenv("HELIO_CACHE", "off", 1);
	}
	begun = true;
	if (!size)
		return 0;
	size_t which = data[0] % FILES;

	golden_copy(files[which].program, GOLDEN_PROGRAM);
	golden_write(files[which].name, data + 1, size - 1);
	golden_print();
	return 0;
}
