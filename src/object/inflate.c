/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw takes compressed sections as they are, but relocations are of what was compressed.  What
 * comes out is put behind the file, and the section headers say so.
 */
#include "object/inflate.h"

#include "base/memory.h"

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define OLD_PREFIX ".zdebug_"
#define OLD_MAGIC  "ZLIB" /* then the size, most significant byte first */

enum {
	SIZE_LIMIT = 256 << 20, /* of all that comes out */
	SECTION_LIMIT = 1 << 20,
	OLD_HEADER = 12,
	RATIO_LIMIT = 1100, /* zlib's best is 1032 */
};

struct inflated {
	uint8_t *image;
	size_t size; /* the file and what came out so far; 8 bytes aligned */
};

/* What a section holds. */
struct packed {
	const uint8_t *data;
	size_t size;
	uint64_t out_size, align;
	bool is_old; /* the name says it, not a flag */
};

static bool is_inside(size_t size, uint64_t offset, uint64_t length)
{
	return offset <= size && length <= size - offset;
}

static Elf64_Shdr *sections_of(const uint8_t *image, size_t size, size_t *count)
{
	Elf64_Ehdr header;
	Elf64_Shdr *sections;

	memcpy(&header, image, sizeof(header));
	if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % sizeof(uint64_t) ||
	    !is_inside(size, header.e_shoff, sizeof(Elf64_Shdr)))
		return NULL;
	sections = (Elf64_Shdr *)(uintptr_t)(image + header.e_shoff);
	*count = header.e_shnum ? header.e_shnum : sections[0].sh_size;
	return *count < SECTION_LIMIT &&
			       is_inside(size, header.e_shoff, *count * sizeof(Elf64_Shdr))
		       ? sections
		       : NULL;
}

/* Where the name of a section is in the image, or 0. */
static size_t name_place(const uint8_t *image, size_t size, const Elf64_Shdr *section)
{
	Elf64_Ehdr header;
	size_t count;
	const Elf64_Shdr *sections = sections_of(image, size, &count);

	memcpy(&header, image, sizeof(header));
	if (header.e_shstrndx >= count)
		return 0;
	const Elf64_Shdr *names = &sections[header.e_shstrndx];

	if (!is_inside(size, names->sh_offset, names->sh_size) ||
	    section->sh_name >= names->sh_size ||
	    !memchr(image + names->sh_offset + section->sh_name, 0,
		    names->sh_size - section->sh_name))
		return 0;
	return names->sh_offset + section->sh_name;
}

/* False: the section is not compressed, or not in a way that is known. */
static bool find_packed(const uint8_t *image, size_t size, const Elf64_Shdr *section,
			struct packed *out)
{
	size_t name = name_place(image, size, section);
	Elf64_Chdr header;

	if (section->sh_type == SHT_NOBITS ||
	    !is_inside(size, section->sh_offset, section->sh_size))
		return false;

	const uint8_t *data = image + section->sh_offset;

	if (section->sh_flags & SHF_COMPRESSED && section->sh_size > sizeof(header)) {
		memcpy(&header, data, sizeof(header));
		*out = (struct packed){data + sizeof(header), section->sh_size - sizeof(header),
				       header.ch_size, header.ch_addralign, false};
		return header.ch_type == ELFCOMPRESS_ZLIB;
	}
	if (!name || strncmp((const char *)image + name, OLD_PREFIX, strlen(OLD_PREFIX)) != 0 ||
	    section->sh_size <= OLD_HEADER || memcmp(data, OLD_MAGIC, strlen(OLD_MAGIC)) != 0)
		return false;
	uint64_t out_size;

	memcpy(&out_size, data + strlen(OLD_MAGIC), sizeof(out_size));
	*out = (struct packed){data + OLD_HEADER, section->sh_size - OLD_HEADER, be64toh(out_size),
			       section->sh_addralign, true};
	return true;
}

static bool unpack(struct inflated *out, const struct packed *packed, Elf64_Shdr *section)
{
	uLongf length = packed->out_size;

	if (uncompress(out->image + out->size, &length, packed->data, packed->size) != Z_OK ||
	    length != packed->out_size)
		return false;
	section->sh_offset = out->size;
	section->sh_size = length;
	section->sh_addralign = packed->align;
	section->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	out->size += (length + 7) & ~(size_t)7;
	return true;
}

/* ".zdebug_info" becomes "..debug_info", and the name begins at the second dot. */
static void rename_section(const struct inflated *out, size_t place, Elf64_Shdr *section)
{
	if (out->image[place + 1] == 'z')
		out->image[place + 1] = '.';
	section->sh_name++;
}

/* How large the image gets; 0: nothing is compressed, or it would be too large. */
static size_t size_of_all(const uint8_t *image, size_t size, const Elf64_Shdr *sections,
			  size_t count)
{
	size_t begin = (size + 7) & ~(size_t)7, total = begin;
	struct packed packed;

	for (size_t i = 1; i < count; i++) {
		if (!find_packed(image, size, &sections[i], &packed))
			continue;
		if (packed.out_size / RATIO_LIMIT > packed.size ||
		    packed.out_size > SIZE_LIMIT - (total - begin))
			return 0;
		total += (packed.out_size + 7) & ~(size_t)7;
	}
	return total == begin ? 0 : total;
}

uint8_t *inflate_sections(const uint8_t *image, size_t size, size_t *out_size)
{
	size_t count, total;
	const Elf64_Shdr *sections = sections_of(image, size, &count);
	struct inflated out = {.size = (size + 7) & ~(size_t)7};
	struct packed packed;

	total = sections ? size_of_all(image, size, sections, count) : 0;
	if (!total)
		return NULL;
	out.image = xcalloc(1, total + 8);
	memcpy(out.image, image, size);

	Elf64_Shdr *copies = sections_of(out.image, size, &count);

	for (size_t i = 1; i < count; i++) {
		if (!find_packed(image, size, &sections[i], &packed))
			continue;
		if (!unpack(&out, &packed, &copies[i])) {
			free(out.image);
			return NULL;
		}
		if (packed.is_old)
			rename_section(&out, name_place(image, size, &sections[i]), &copies[i]);
	}
	*out_size = out.size;
	return out.image;
}
