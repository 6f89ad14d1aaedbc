/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as .eh_frame_hdr and .eh_frame of a mapped module: what is asked of
 * them stays inside them and comes to an end. Compiled with the unwinder's
 * sources, because in the collector they carry no sanitizer.
 */
#include "collector/unwind/cfi.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TABLE = 12, ENTRY = 8, ENTRIES = 64, REACH = 1 << 24 };

static void ask(const struct unwind_module *module, uint64_t pc)
{
	struct cfi_row states[CFI_STATES];
	struct cfi_result result;
	struct cfi_reader reader;

	if (cfi_find(module, pc, states, &result) != CFI_FOUND)
		return;
	for (int i = 0; i < CFI_COLUMNS; i++) {
		uint32_t column = result.row.column[i];

		if (cfi_kind(column) == CFI_EXPRESSION || cfi_kind(column) == CFI_VALUE_EXPRESSION)
			cfi_expression(module, cfi_value(column), &reader);
	}
	if (result.row.cfa_register == CFI_CFA_EXPRESSION)
		cfi_expression(module, result.row.cfa_offset, &reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t start = (uint64_t)data;
	struct unwind_module module = {
		.start = start - REACH,
		.end = start + REACH,
		.eh_frame_hdr = data,
		.eh_frame_hdr_size = size,
		.map_start = start,
		.map_end = start + size,
	};

	for (size_t at = TABLE; at + ENTRY <= size && at < TABLE + ENTRIES * ENTRY; at += ENTRY) {
		int32_t location;

		memcpy(&location, data + at, sizeof(location));
		ask(&module, start + (uint64_t)(int64_t)location);
		ask(&module, start + (uint64_t)(int64_t)location + 21);
	}
	ask(&module, start);
	return 0;
}
