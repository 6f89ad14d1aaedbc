/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .eh_frame_hdr holds a sorted table of all FDEs: the beginning of every
 * function that can be unwound, stripped or not.  Reading the table takes a
 * few ns per entry; the FDEs themselves are not needed.
 */
#include "object/symbols.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static size_t pointer_size(unsigned encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	default:
		return 8;
	}
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Reads a table in the one encoding that linkers write: pairs of 32-bit distances to the header. */
static void read_table(struct bytes table, uint64_t base, struct address_list *entries)
{
	const unsigned table_encoding = DW_EH_PE_datarel | DW_EH_PE_sdata4;
	uint32_t count;
	bool sorted = true;

	if (table.size < 4 || table.data[0] != 1 || table.data[2] != DW_EH_PE_udata4 ||
	    table.data[3] != table_encoding)
		return;
	size_t at = 4;

	if (table.data[1] != DW_EH_PE_omit)
		at += pointer_size(table.data[1]);
	if (table.size < at + sizeof(count))
		return;
	memcpy(&count, table.data + at, sizeof(count));
	at += sizeof(count);
	for (uint32_t i = 0; i < count && table.size - at >= 8; i++, at += 8) {
		int32_t distance;

		memcpy(&distance, table.data + at, sizeof(distance));

		uint64_t address = base + (uint64_t)(int64_t)distance;

		if (entries->count && entries->items[entries->count - 1] > address)
			sorted = false;
		*vec_push(entries) = address;
	}
	if (!sorted)
		qsort(entries->items, entries->count, sizeof(*entries->items), compare_addresses);
}

void entries_read(const struct elf_file *file, struct address_list *entries)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
			continue;
		read_table(elf_file_bytes(file, header.p_offset, header.p_filesz), header.p_vaddr,
			   entries);
		return;
	}
}
