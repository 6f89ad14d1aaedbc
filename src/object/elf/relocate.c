/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdwfl can do this, with a description of each machine from another library, and then
 * everybody has to speak to it; done to the image before anybody reads it, nobody else needs to
 * know that there are object files.  Only the kinds of relocations that compilers use in debug
 * information, frame information and direct branches are known, a handful for each machine.
 */
#include "object/elf/relocate.h"

#include "base/array.h"

#include <elf.h>
#include <string.h>

enum {
	SECTION_LIMIT = 1 << 20,
	ALIGNMENT_LIMIT = 1 << 16,
};

/* The image, with headers that lie inside it. */
struct layout {
	uint8_t *image;
	size_t size;
	uint16_t machine;
	Elf64_Shdr *sections;
	size_t count;
};

/* How a place of the image is filled in. */
struct kind {
	uint16_t machine;
	uint32_t type;
	uint8_t bytes;
	bool is_relative; /* to the place itself */
	bool is_branch;	  /* the low 26 bits of an instruction, in words */
};
static const struct kind kinds[] = {
	{EM_X86_64, R_X86_64_64, 8, false, false},
	{EM_X86_64, R_X86_64_32, 4, false, false},
	{EM_X86_64, R_X86_64_32S, 4, false, false},
	{EM_X86_64, R_X86_64_PC32, 4, true, false},
	{EM_X86_64, R_X86_64_PLT32, 4, true, false},
	{EM_X86_64, R_X86_64_PC64, 8, true, false},
	{EM_AARCH64, R_AARCH64_ABS64, 8, false, false},
	{EM_AARCH64, R_AARCH64_ABS32, 4, false, false},
	{EM_AARCH64, R_AARCH64_PREL32, 4, true, false},
	{EM_AARCH64, R_AARCH64_PREL64, 8, true, false},
	{EM_AARCH64, R_AARCH64_CALL26, 4, true, true},
	{EM_AARCH64, R_AARCH64_JUMP26, 4, true, true},
};

static const struct kind *find_kind(uint16_t machine, uint32_t type)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].machine == machine && kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

static bool is_inside(size_t size, uint64_t offset, uint64_t length)
{
	return offset <= size && length <= size - offset;
}

bool relocate_wanted(const uint8_t *image, size_t size)
{
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, image, sizeof(header));
	return !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL &&
	       (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64);
}

/* The section headers, which an assembler aligns; false: they are elsewhere. */
static bool find_sections(struct layout *layout)
{
	Elf64_Ehdr header;

	memcpy(&header, layout->image, sizeof(header));
	layout->machine = header.e_machine;
	if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % sizeof(uint64_t) ||
	    !is_inside(layout->size, header.e_shoff, sizeof(Elf64_Shdr)))
		return false;
	layout->sections = (Elf64_Shdr *)(layout->image + header.e_shoff);
	layout->count = header.e_shnum ? header.e_shnum : layout->sections[0].sh_size;
	return layout->count < SECTION_LIMIT &&
	       is_inside(layout->size, header.e_shoff, layout->count * sizeof(Elf64_Shdr));
}

static void place_sections(struct layout *layout, bool is_code, uint64_t *next)
{
	for (size_t i = 1; i < layout->count; i++) {
		Elf64_Shdr *section = &layout->sections[i];
		uint64_t align = section->sh_addralign;

		if (!(section->sh_flags & SHF_ALLOC) ||
		    !(section->sh_flags & SHF_EXECINSTR) == is_code ||
		    section->sh_size > UINT32_MAX)
			continue;
		if (!align || align > ALIGNMENT_LIMIT || align & (align - 1))
			align = 1;
		section->sh_addr = *next = (*next + align - 1) & ~(align - 1);
		*next += section->sh_size;
	}
}

/* Entries of a section whose size and place are sound; *count: how many. */
static void *entries(const struct layout *layout, const Elf64_Shdr *section, size_t size,
		     size_t *count)
{
	*count = 0;
	if (!is_inside(layout->size, section->sh_offset, section->sh_size) ||
	    section->sh_offset % sizeof(uint64_t))
		return NULL;
	*count = section->sh_size / size;
	return layout->image + section->sh_offset;
}

static void move_symbols(const struct layout *layout, const Elf64_Shdr *table)
{
	size_t count;
	Elf64_Sym *symbols = entries(layout, table, sizeof(*symbols), &count);

	for (size_t i = 0; i < count; i++)
		if (symbols[i].st_shndx < layout->count && symbols[i].st_shndx < SHN_LORESERVE)
			symbols[i].st_value += layout->sections[symbols[i].st_shndx].sh_addr;
}

static void fill_in(uint8_t *at, const struct kind *kind, uint64_t value)
{
	uint32_t word;

	if (!kind->is_branch) {
		memcpy(at, &value, kind->bytes);
		return;
	}
	memcpy(&word, at, sizeof(word));
	word = (word & 0xfc000000) | (value >> 2 & 0x3ffffff);
	memcpy(at, &word, sizeof(word));
}

static void apply(const struct layout *layout, const Elf64_Shdr *relocations)
{
	size_t count, symbol_count;
	const Elf64_Rela *items = entries(layout, relocations, sizeof(*items), &count);

	if (relocations->sh_info >= layout->count || relocations->sh_link >= layout->count)
		return;
	const Elf64_Shdr *target = &layout->sections[relocations->sh_info];
	const Elf64_Sym *symbols = entries(layout, &layout->sections[relocations->sh_link],
					   sizeof(*symbols), &symbol_count);

	if (target->sh_type == SHT_NOBITS || target->sh_flags & SHF_COMPRESSED ||
	    !is_inside(layout->size, target->sh_offset, target->sh_size))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct kind *kind =
			find_kind(layout->machine, (uint32_t)ELF64_R_TYPE(items[i].r_info));
		uint64_t number = ELF64_R_SYM(items[i].r_info), offset = items[i].r_offset;

		if (!kind || number >= symbol_count || symbols[number].st_shndx == SHN_UNDEF ||
		    !is_inside(target->sh_size, offset, kind->bytes))
			continue;
		fill_in(layout->image + target->sh_offset + offset, kind,
			symbols[number].st_value + (uint64_t)items[i].r_addend -
				(kind->is_relative ? target->sh_addr + offset : 0));
	}
}

void relocate(uint8_t *image, size_t size)
{
	struct layout layout = {.image = image, .size = size};
	uint64_t next = 0;

	if (!find_sections(&layout))
		return;
	place_sections(&layout, true, &next);
	place_sections(&layout, false, &next);
	for (size_t i = 1; i < layout.count; i++)
		if (layout.sections[i].sh_type == SHT_SYMTAB)
			move_symbols(&layout, &layout.sections[i]);
	for (size_t i = 1; i < layout.count; i++)
		if (layout.sections[i].sh_type == SHT_RELA)
			apply(&layout, &layout.sections[i]);
}
