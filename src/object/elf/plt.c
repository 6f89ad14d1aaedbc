/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the procedure linkage table.  A slot is named after the GOT entry
 * through which it jumps and the relocation that fills this entry.  The order
 * of slots says nothing (the linker sorts relocations), so the jump has to be
 * decoded.  That is the only knowledge of instruction sets in this module, and it
 * is one pattern of each.  x86-64:
 *
 *   ff 25 DISP32    jmp *DISP(%rip)      .plt, .plt.got, .plt.sec, with or
 *                                        without endbr64 and bnd before it
 *   68 IMM32        push $IMM            lazy .plt of CET programs: the slot's
 *                                        IMM-th relocation
 *
 * AArch64, with or without bti before it, so that slots differ in size:
 *
 *   adrp x16, PAGE
 *   ldr x17, [x16, OFFSET]
 */
#include "object/elf/symbols.h"

#include <stdlib.h>
#include <string.h>

enum {
	SLOT_SIZE = 16,
	SECTION_LIMIT = 8, /* PLT sections that are read; linkers make up to four */
	ENDBR_SIZE = 4,
	WORD = 4, /* an instruction of AArch64 */
};

/* A GOT entry and what fills it. */
struct got_entry {
	uint64_t address;
	const char *name; /* in the ELF image or the arena */
};
#define BTI_C 0xd503245fu

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
	case R_AARCH64_JUMP_SLOT:
	case R_AARCH64_GLOB_DAT:
		if (!dynamic_symbols || !dynamic_symbols->d_buf ||
		    !gelf_getsym(dynamic_symbols, (int)GELF_R_SYM(rela->r_info), &symbol))
			return NULL;
		return elf_strptr(file->elf, names, symbol.st_name);
	case R_X86_64_IRELATIVE:
	case R_AARCH64_IRELATIVE: {
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

/* What fills the GOT entry at an address, or NULL. */
static const struct got_entry *find_entry(const struct got *got, uint64_t address)
{
	struct got_entry key = {.address = address};

	return got->count ? bsearch(&key, got->items, got->count, sizeof(key), compare_entries)
			  : NULL;
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

		const struct got_entry *entry =
			find_entry(got, address + at + 6 + (uint64_t)(int64_t)value);

		if (entry)
			return entry->name;
	}
	return NULL;
}

/* One section of slots. */
struct plt {
	uint64_t address;
	struct bytes code;
	const struct got *got;
	bool is_lazy; /* its first slot calls the dynamic linker for all others */
	struct symbol_list *symbols;
	struct arena *arena;
};

static void name_slot(const struct plt *plt, size_t at, size_t size, const char *target)
{
	if (!target && (at || !plt->is_lazy))
		return;
	*vec_push(plt->symbols) = (struct symbol){
		.address = plt->address + at,
		.size = size,
		.name = arena_printf(plt->arena, "%.4000s@plt", target ? target : ""),
		.kind = SYMBOL_PLT,
	};
}

static void name_slots_x86(const struct plt *plt, size_t size)
{
	for (size_t at = 0; at + size <= plt->code.size; at += size) {
		struct bytes slot = {plt->code.data + at, size};

		name_slot(plt, at, size, slot_target(plt->got, slot, plt->address + at));
	}
}

static uint32_t word_at(struct bytes code, size_t at)
{
	uint32_t word;

	memcpy(&word, code.data + at, sizeof(word));
	return word;
}

/* What fills the GOT entry that the two instructions load from, or NULL. */
static const struct got_entry *loaded_entry(const struct plt *plt, size_t at)
{
	uint32_t page = word_at(plt->code, at), load = word_at(plt->code, at + WORD);
	int64_t pages = (int32_t)((page >> 5 & 0x7ffff) << 13) >> 11 | (page >> 29 & 3);

	if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return NULL;
	return find_entry(plt->got, ((plt->address + at) & ~UINT64_C(0xfff)) +
					    (uint64_t)pages * 0x1000 + (load >> 10 & 0xfff) * 8);
}

/* A slot reaches from its first instruction to the next slot. */
static void name_slots_aarch64(const struct plt *plt)
{
	const char *target = NULL;
	size_t begin = 0;

	for (size_t at = 0; at + 2 * WORD <= plt->code.size; at += WORD) {
		const struct got_entry *entry = loaded_entry(plt, at);
		bool has_bti = entry && at && word_at(plt->code, at - WORD) == BTI_C;
		size_t next = has_bti ? at - WORD : at;

		if (!entry)
			continue;
		if (next > begin)
			name_slot(plt, begin, next - begin, target);
		begin = next;
		target = entry->name;
	}
	if (plt->code.size > begin)
		name_slot(plt, begin, plt->code.size - begin, target);
}

static void name_slots(const struct elf_file *file, uint16_t machine, const struct got *got,
		       struct symbol_list *symbols, struct arena *arena)
{
	GElf_Shdr header;
	int sections = 0;

	for (Elf_Scn *section = NULL;
	     sections < SECTION_LIMIT && (section = elf_nextscn(file->elf, section));) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_file_section_name(file, &header);
		if (strncmp(name, ".plt", 4) != 0 && strcmp(name, ".iplt") != 0)
			continue;
		struct plt plt = {
			.address = header.sh_addr,
			.code = elf_file_section_bytes(file, &header),
			.got = got,
			.is_lazy = !strcmp(name, ".plt"),
			.symbols = symbols,
			.arena = arena,
		};

		if (machine == EM_AARCH64)
			name_slots_aarch64(&plt);
		else
			name_slots_x86(&plt, header.sh_entsize == 8 ? 8 : SLOT_SIZE);
		sections++;
	}
}

void plt_read(const struct elf_file *file, struct symbol_list *symbols, struct arena *arena)
{
	struct got got = {0};
	GElf_Ehdr elf_header;
	GElf_Shdr header;

	if (!gelf_getehdr(file->elf, &elf_header) ||
	    (elf_header.e_machine != EM_X86_64 && elf_header.e_machine != EM_AARCH64))
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
	name_slots(file, elf_header.e_machine, &got, symbols, arena);
	symbols_merge(symbols, arena);
	free(got.lazy);
	vec_fini(&got);
}
