/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the procedure linkage table.  A slot is named after the GOT entry
 * through which it jumps and the relocation that fills this entry.  The order
 * of slots says nothing (the linker sorts relocations), so the jump has to be
 * decoded.  That is the only knowledge of an instruction set in this room, and
 * it is one pattern of x86-64:
 *
 *   ff 25 DISP32    jmp *DISP(%rip)      .plt, .plt.got, .plt.sec, with or
 *                                        without endbr64 and bnd before it
 *   68 IMM32        push $IMM            lazy .plt of CET programs: the slot's
 *                                        IMM-th relocation
 */
#include "object/symbols.h"

#include <stdlib.h>
#include <string.h>

enum {
	SLOT_SIZE = 16,
	SECTION_LIMIT = 8, /* PLT sections that are read; linkers make up to four */
	ENDBR_SIZE = 4,
};

/* A GOT entry and what fills it. */
struct got_entry {
	uint64_t address;
	const char *name; /* in the ELF image or the arena */
};
struct got {
	struct got_entry *items;
	size_t count, capacity;
	size_t lazy_count; /* of those, the first are .rela.plt in its own order */
	struct got_entry *lazy;
};

static int compare_entries(const void *a, const void *b)
{
	const struct got_entry *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static const char *relocation_target(const struct elf_file *file, const GElf_Rela *rela,
				     Elf_Data *dynamic_symbols, size_t names,
				     const struct symbol_list *symbols)
{
	GElf_Sym symbol;

	switch (GELF_R_TYPE(rela->r_info)) {
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT:
		if (!dynamic_symbols || !dynamic_symbols->d_buf ||
		    !gelf_getsym(dynamic_symbols, (int)GELF_R_SYM(rela->r_info), &symbol))
			return NULL;
		return elf_strptr(file->elf, names, symbol.st_name);
	case R_X86_64_IRELATIVE: {
		const struct symbol *resolver = symbols_find(symbols, (uint64_t)rela->r_addend);

		return resolver ? resolver->name : NULL;
	}
	default:
		return NULL;
	}
}

static void read_relocations(const struct elf_file *file, const char *section_name,
			     const struct symbol_list *symbols, struct got *got)
{
	GElf_Shdr header, symbols_header;
	GElf_Rela rela;
	Elf_Scn *section = elf_file_section(file, SHT_RELA, section_name, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	Elf_Scn *symbols_section = data ? elf_getscn(file->elf, header.sh_link) : NULL;
	Elf_Data *dynamic_symbols = NULL;

	if (!data || !data->d_buf)
		return;
	if (gelf_getshdr(symbols_section, &symbols_header) && symbols_header.sh_type == SHT_DYNSYM)
		dynamic_symbols = elf_getdata(symbols_section, NULL);
	for (int i = 0; gelf_getrela(data, i, &rela); i++) {
		*vec_push(got) = (struct got_entry){
			rela.r_offset,
			relocation_target(file, &rela, dynamic_symbols,
					  dynamic_symbols ? symbols_header.sh_link : 0, symbols),
		};
	}
}

static const char *slot_target(const struct got *got, struct bytes slot, uint64_t address)
{
	int32_t value;
	size_t at = slot.size >= ENDBR_SIZE && !memcmp(slot.data, "\xf3\x0f\x1e\xfa", ENDBR_SIZE)
			    ? ENDBR_SIZE
			    : 0;

	if (slot.size >= at + 5 && slot.data[at] == 0x68) {
		memcpy(&value, slot.data + at + 1, sizeof(value));
		return (uint32_t)value < got->lazy_count ? got->lazy[value].name : NULL;
	}
	for (; at + 6 <= slot.size; at++) {
		if (slot.data[at] != 0xff || slot.data[at + 1] != 0x25)
			continue;
		memcpy(&value, slot.data + at + 2, sizeof(value));

		struct got_entry key = {.address = address + at + 6 + (uint64_t)(int64_t)value};
		const struct got_entry *entry = got->count ? bsearch(&key, got->items, got->count,
								     sizeof(key), compare_entries)
							   : NULL;

		if (entry)
			return entry->name;
	}
	return NULL;
}

static void name_slots(const struct elf_file *file, const GElf_Shdr *header, const char *name,
		       const struct got *got, struct symbol_list *symbols, struct arena *arena)
{
	struct bytes code = elf_file_section_bytes(file, header);
	size_t size = header->sh_entsize == 8 ? 8 : SLOT_SIZE;

	for (size_t at = 0; at + size <= code.size; at += size) {
		struct bytes slot = {code.data + at, size};
		const char *target = slot_target(got, slot, header->sh_addr + at);

		if (!target && (at || strcmp(name, ".plt") != 0))
			continue;
		/* The first slot of .plt calls the dynamic linker for all others. */
		*vec_push(symbols) = (struct symbol){
			.address = header->sh_addr + at,
			.size = size,
			.name = arena_printf(arena, "%.4000s@plt", target ? target : ""),
			.kind = SYMBOL_PLT,
		};
	}
}

void plt_read(const struct elf_file *file, struct symbol_list *symbols, struct arena *arena)
{
	struct got got = {0};
	GElf_Ehdr elf_header;
	GElf_Shdr header;
	int sections = 0;

	if (!gelf_getehdr(file->elf, &elf_header) || elf_header.e_machine != EM_X86_64)
		return;
	read_relocations(file, ".rela.plt", symbols, &got);
	got.lazy_count = got.count;
	got.lazy = xcalloc(got.count, sizeof(*got.lazy));
	if (got.count)
		memcpy(got.lazy, got.items, got.count * sizeof(*got.lazy));
	if (elf_file_section(file, SHT_PROGBITS, ".plt.got", &header))
		read_relocations(file, ".rela.dyn", symbols, &got);
	if (got.count)
		qsort(got.items, got.count, sizeof(*got.items), compare_entries);

	for (Elf_Scn *section = NULL;
	     sections < SECTION_LIMIT && (section = elf_nextscn(file->elf, section));) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_file_section_name(file, &header);
		if (strncmp(name, ".plt", 4) != 0 && strcmp(name, ".iplt") != 0)
			continue;
		name_slots(file, &header, name, &got, symbols, arena);
		sections++;
	}
	symbols_merge(symbols, arena);
	free(got.lazy);
	vec_fini(&got);
}
