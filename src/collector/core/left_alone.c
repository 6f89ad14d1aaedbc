/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/left_alone.h"

#include "base/own_calls.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int find_program(struct dl_phdr_info *info, size_t size, void *goes_past_libc)
{
	const struct own_calls_image image = {
		.size = UINT64_MAX,
		.bias = info->dlpi_addr,
		.segments = info->dlpi_phdr,
		.count = info->dlpi_phnum,
	};

	(void)size;
	*(bool *)goes_past_libc = own_calls_found(&image);
	return 1; /* the program is the first one */
}

const char *program_left_alone(void)
{
	const char *preload = getenv("LD_PRELOAD");
	bool goes_past_libc = false;

	dl_iterate_phdr(find_program, &goes_past_libc);
	if (goes_past_libc)
		return "it makes its threads and signal handlers without the C library (Go without "
		       "cgo)";
	if (preload && strstr(preload, "/vgpreload_"))
		return "valgrind runs it, for which our events are faults of its own";
	return NULL;
}
