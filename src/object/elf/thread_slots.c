/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How code of a library finds variables of threads: words of the global offset table that the
 * dynamic linker fills.  Relocations tell what with, for the object's own variables: where they lie
 * in its part of a thread's memory.
 *
 *   DTPMOD64, DTPOFF64  a pair for __tls_get_addr; a pair without the second has its place written
 *   TPOFF64             what to add to the thread's pointer
 *   TLSDESC             a function that returns that
 */
#include "object/types/variables_private.h"

#include "base/search.h"

#include <stdlib.h>

enum { WORD = 8 };

/* Eight bytes of the image at an address; 0: they are not in the file. */
static uint64_t word_at(const struct elf_file *file, uint64_t address)
{
	GElf_Phdr header;
	size_t count = 0;
	uint64_t word = 0;

	if (elf_getphdrnum(file->elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz)
			continue;
		struct bytes bytes = elf_file_bytes(
			file, header.p_offset + (address - header.p_vaddr), sizeof(word));

		if (bytes.data)
			memcpy(&word, bytes.data, sizeof(word));
		return word;
	}
	return 0;
}

/* False: it is no slot, or one of another object's variable. */
static bool read_slot(struct variables *variables, const GElf_Rela *rela, Elf_Data *symbols,
		      struct thread_slot *slot)
{
	GElf_Sym symbol = {0};
	int number = (int)GELF_R_SYM(rela->r_info);

	if (number && (!symbols || !gelf_getsym(symbols, number, &symbol) ||
		       symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_TLS))
		return false;
	slot->address = rela->r_offset;
	slot->place = symbol.st_value + (uint64_t)rela->r_addend;
	switch (GELF_R_TYPE(rela->r_info)) {
	case R_X86_64_DTPMOD64:
		slot->kind = THREAD_SLOT_PAIR;
		slot->place =
			number ? symbol.st_value : word_at(&variables->file, rela->r_offset + WORD);
		return true;
	case R_X86_64_TPOFF64:
		slot->kind = THREAD_SLOT_DISTANCE;
		return true;
	case R_X86_64_TLSDESC:
		slot->kind = THREAD_SLOT_FUNCTION;
		return true;
	default:
		return false;
	}
}

static void read_section(struct variables *variables, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL), *symbols = NULL;
	Elf_Scn *linked = elf_getscn(variables->file.elf, header->sh_link);
	GElf_Shdr symbols_header;
	struct thread_slot slot;
	GElf_Rela rela;

	if (header->sh_link && gelf_getshdr(linked, &symbols_header) &&
	    symbols_header.sh_type == SHT_DYNSYM)
		symbols = elf_getdata(linked, NULL);
	for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
		if (read_slot(variables, &rela, symbols, &slot))
			*vec_push(&variables->slots) = slot;
}

static int compare_slots(const void *a, const void *b)
{
	const struct thread_slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void read_slots(struct variables *variables)
{
	GElf_Ehdr file;
	GElf_Shdr header;

	variables->has_slots = true;
	if (!variables->file.elf || !variables->thread_block ||
	    !gelf_getehdr(variables->file.elf, &file) || file.e_machine != EM_X86_64)
		return;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(variables->file.elf, section));)
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			read_section(variables, section, &header);
	if (variables->slots.count)
		qsort(variables->slots.items, variables->slots.count,
		      sizeof(*variables->slots.items), compare_slots);
}

enum thread_slot_kind variables_thread_slot(struct variables *variables, uint64_t address,
					    int64_t *displacement)
{
	size_t up_to;

	if (!variables->has_slots)
		read_slots(variables);
	up_to = VEC_UP_TO(&variables->slots, address, address);
	if (!up_to || variables->slots.items[up_to - 1].address != address)
		return THREAD_SLOT_NONE;
	*displacement =
		(int64_t)(variables->slots.items[up_to - 1].place - variables->thread_block);
	return variables->slots.items[up_to - 1].kind;
}
