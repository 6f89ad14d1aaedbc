/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .eh_frame_hdr holds a sorted table of all FDEs: the beginning of every
 * function that can be unwound, stripped or not.  Reading the table takes a
 * few ns per entry; an FDE itself, which knows the end, is read only for symbols without a size.
 */
#include "object/elf/cursor.h"
#include "object/elf/symbols.h"

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
static void read_table(struct bytes table, uint64_t base, struct address_list *entries,
		       struct address_list *frames)
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
		int32_t distance[2];

		memcpy(distance, table.data + at, sizeof(distance));

		uint64_t address = base + (uint64_t)(int64_t)distance[0];

		if (entries->count && entries->items[entries->count - 1] > address)
			sorted = false;
		*vec_push(entries) = address;
		*vec_push(frames) = base + (uint64_t)(int64_t)distance[1];
	}
	if (sorted)
		return;
	qsort(entries->items, entries->count, sizeof(*entries->items), compare_addresses);
	frames->count = 0; /* no linker writes such a table: nobody's end is known */
}

void entries_read(const struct elf_file *file, struct address_list *entries,
		  struct address_list *frames)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
			continue;
		read_table(elf_file_bytes(file, header.p_offset, header.p_filesz), header.p_vaddr,
			   entries, frames);
		return;
	}
}

/* What is loaded at an address and behind it, as far as the file has it. */
static struct bytes loaded_at(const struct elf_file *file, uint64_t address)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return (struct bytes){0};
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz)
			continue;
		return elf_file_bytes(file, header.p_offset + (address - header.p_vaddr),
				      header.p_filesz - (address - header.p_vaddr));
	}
	return (struct bytes){0};
}

/* How a CIE's FDEs say where their code is. */
static unsigned read_encoding(struct cursor cie)
{
	unsigned encoding = DW_EH_PE_absptr;

	cursor_skip(&cie, 8); /* length, and that this is a CIE */
	unsigned version = cursor_byte(&cie);
	const char *augmentation = cursor_string(&cie);

	cursor_uleb(&cie);
	cursor_sleb(&cie);
	if (version == 1)
		cursor_byte(&cie);
	else
		cursor_uleb(&cie);
	if (*augmentation++ != 'z')
		return encoding;
	cursor_uleb(&cie);
	for (; *augmentation && !cie.failed; augmentation++) {
		if (*augmentation == 'R')
			encoding = cursor_byte(&cie);
		else if (*augmentation == 'L')
			cursor_byte(&cie);
		else if (*augmentation == 'P')
			cursor_skip(&cie, pointer_size(cursor_byte(&cie)));
	}
	return encoding;
}

uint64_t entries_code_size(const struct elf_file *file, uint64_t frame)
{
	struct cursor fde = cursor_at(loaded_at(file, frame), 0);
	uint64_t length = cursor_number(&fde, 4), distance = cursor_number(&fde, 4);

	if (fde.failed || length == UINT32_MAX || !distance || distance > frame + 4)
		return 0;
	struct cursor cie = cursor_at(loaded_at(file, frame + 4 - distance), 0);
	size_t size = cie.failed ? 0 : pointer_size(read_encoding(cie));

	cursor_skip(&fde, size);
	return cursor_number(&fde, size);
}

/* ---- code that nothing describes ---- */

/* The length of an instruction that assemblers pad with; 0: it is none. */
static size_t padding_length(struct bytes code)
{
	size_t at = 0;

	while (at < code.size && at < 11 && (code.data[at] == 0x66 || code.data[at] == 0x2e))
		at++;
	if (at < code.size && (code.data[at] == 0x90 || (!at && code.data[at] == 0xcc)))
		return at + 1;
	if (code.size - at < 3 || code.data[at] != 0x0f || code.data[at + 1] != 0x1f)
		return 0;
	unsigned mode = code.data[at + 2] >> 6, base = code.data[at + 2] & 7;

	return at + 3 + (base == 4) + (mode == 1) + (mode == 2 ? 4u : 0u);
}

uint64_t entries_next_padding(const struct elf_file *file, uint64_t start, uint64_t limit)
{
	enum { RETURN = 0xc3, ALIGNMENT = 16 };
	struct bytes code = loaded_at(file, start);
	GElf_Ehdr header;

	if (!gelf_getehdr(file->elf, &header) || header.e_machine != EM_X86_64)
		return limit;
	if (code.size > limit - start)
		code.size = limit - start;
	for (size_t i = 0; i < code.size; i++) {
		size_t at = i + 1, length;

		if (code.data[i] != RETURN)
			continue;
		while (at < code.size && (start + at) % ALIGNMENT &&
		       (length = padding_length((struct bytes){code.data + at, code.size - at})))
			at += length;
		if (at > i + 1 && at < code.size && (start + at) % ALIGNMENT == 0)
			return start + at;
	}
	return limit;
}
