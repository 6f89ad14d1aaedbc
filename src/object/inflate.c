/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw takes what zlib compressed as it is, but relocations of object files are of what was
 * compressed, and not every libdw knows zstd.  What comes out is put behind the file, which stays
 * mapped, and the section headers say so.
 */
#include "object/inflate.h"

#include "base/memory.h"

#include <elf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD /* glibc 2.37 has it */
#define ELFCOMPRESS_ZSTD 2
#endif
#define OLD_PREFIX ".zdebug_"
#define OLD_MAGIC  "ZLIB" /* then the size, most significant byte first */

enum {
	SECTION_LIMIT = 1 << 20,
	OLD_HEADER = 12,
	RATIO_LIMIT = 1100, /* zlib's best is 1032; of debug information also zstd's is far less */
	PAGE = 4096,
};
static const uint64_t size_limit = (uint64_t)4 << 30; /* of all that comes out */

/* What a section holds. */
struct packed {
	const uint8_t *data;
	size_t size;
	uint64_t out_size, align;
	uint32_t way; /* ELFCOMPRESS_ZLIB or ELFCOMPRESS_ZSTD */
	bool is_old;  /* the name says it, not a flag */
};

static bool is_inside(size_t size, uint64_t offset, uint64_t length)
{
	return offset <= size && length <= size - offset;
}

static Elf64_Shdr *sections_of(const uint8_t *image, size_t size, size_t *count)
{
	Elf64_Ehdr header = {0};
	Elf64_Shdr *sections;

	if (size >= sizeof(header))
		memcpy(&header, image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % sizeof(uint64_t) ||
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
				       header.ch_size,	      header.ch_addralign,
				       header.ch_type,	      false};
		return header.ch_type == ELFCOMPRESS_ZLIB || header.ch_type == ELFCOMPRESS_ZSTD;
	}
	if (!name || strncmp((const char *)image + name, OLD_PREFIX, strlen(OLD_PREFIX)) != 0 ||
	    section->sh_size <= OLD_HEADER || memcmp(data, OLD_MAGIC, strlen(OLD_MAGIC)) != 0)
		return false;
	uint64_t out_size;

	memcpy(&out_size, data + strlen(OLD_MAGIC), sizeof(out_size));
	*out = (struct packed){data + OLD_HEADER, section->sh_size - OLD_HEADER,
			       be64toh(out_size), section->sh_addralign,
			       ELFCOMPRESS_ZLIB,  true};
	return true;
}

/* Fills all that comes out, or fails. */
static bool unpack(const struct packed *packed, uint8_t *out)
{
	uLongf length = packed->out_size;

	if (packed->way == ELFCOMPRESS_ZSTD)
		return ZSTD_decompress(out, packed->out_size, packed->data, packed->size) ==
		       packed->out_size;
	return uncompress(out, &length, packed->data, packed->size) == Z_OK &&
	       length == packed->out_size;
}

static size_t round_up(size_t size, size_t unit)
{
	return (size + unit - 1) & ~(unit - 1);
}

/* How large the image gets; 0: nothing is compressed, or it would be too large. */
static size_t size_of_all(const uint8_t *image, size_t size, const Elf64_Shdr *sections,
			  size_t count)
{
	size_t begin = round_up(size, PAGE), total = begin;
	struct packed packed;

	for (size_t i = 1; i < count; i++) {
		if (!find_packed(image, size, &sections[i], &packed))
			continue;
		if (packed.out_size / RATIO_LIMIT > packed.size ||
		    packed.out_size > size_limit - (total - begin))
			return 0;
		total += round_up(packed.out_size, sizeof(uint64_t));
	}
	return total == begin ? 0 : total;
}

/* Fills what lies behind the image, and makes the headers tell of that. */
static bool unpack_all(const uint8_t *image, size_t size, uint8_t *out, Elf64_Shdr *headers,
		       size_t count)
{
	size_t end = round_up(size, PAGE);
	struct packed packed;

	for (size_t i = 1; i < count; i++) {
		Elf64_Shdr *section = &headers[i];

		if (!find_packed(image, size, section, &packed))
			continue;
		if (!unpack(&packed, out + end))
			return false;
		section->sh_offset = end;
		section->sh_size = packed.out_size;
		section->sh_addralign = packed.align;
		section->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		section->sh_name += packed.is_old; /* ".zdebug_info" becomes "..debug_info" */
		end += round_up(packed.out_size, sizeof(uint64_t));
	}
	return true;
}

/* Puts the image before what came out. */
static bool move_image(uint8_t *image, size_t size, bool is_mapped, uint8_t *out)
{
	if (is_mapped)
		return mremap(image, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, out) !=
			       MAP_FAILED &&
		       !mprotect(out, size, PROT_READ | PROT_WRITE);
	memcpy(out, image, size);
	free(image);
	return true;
}

static void put_headers(uint8_t *image, size_t size, const Elf64_Shdr *headers)
{
	size_t count;
	Elf64_Shdr *sections = sections_of(image, size, &count);

	for (size_t i = 1; i < count; i++) {
		if (headers[i].sh_name != sections[i].sh_name)
			image[name_place(image, size, &sections[i]) + 1] = '.';
	}
	memcpy(sections, headers, count * sizeof(*headers));
}

uint8_t *inflate_sections(uint8_t *image, size_t size, bool is_mapped, size_t *out_size)
{
	size_t count;
	const Elf64_Shdr *sections = sections_of(image, size, &count);

	*out_size = sections ? size_of_all(image, size, sections, count) : 0;
	if (!*out_size)
		return NULL;
	uint8_t *out = mmap(NULL, *out_size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	Elf64_Shdr *headers = xmalloc(count * sizeof(*headers));
	bool done;

	if (out == MAP_FAILED) {
		free(headers);
		return NULL;
	}
	memcpy(headers, sections, count * sizeof(*headers));
	done = unpack_all(image, size, out, headers, count) &&
	       move_image(image, size, is_mapped, out);
	if (done)
		put_headers(out, size, headers);
	else
		munmap(out, *out_size);
	free(headers);
	return done ? out : NULL;
}
