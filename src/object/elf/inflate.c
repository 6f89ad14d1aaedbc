/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw takes what zlib compressed as it is, but relocations of object files are of what was
 * compressed, and not every libdw knows zstd.  What comes out is put behind the file, which stays
 * mapped, and the section headers say so.
 */
#include "object/elf/inflate.h"

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
	PAGE = 4096,
	/* Of all that comes out: headers may name the same compressed bytes many times. */
	RATIO_LIMIT = 6,       /* of debug information it is 3 to 5 */
	SIZE_LIMIT = 24 << 20, /* bytes beyond that ratio */
};

/*
 * What a section holds.  It is read once: the file may change meanwhile, and what was checked must
 * be what is used.
 */
struct packed {
	size_t section;
	size_t name; /* where its name, which says that it is compressed, is; 0: a flag says it */
	const uint8_t *data;
	size_t size;
	uint64_t out_size, align;
	uint32_t way; /* ELFCOMPRESS_ZLIB or ELFCOMPRESS_ZSTD */
};

struct packed_list {
	struct packed *items;
	size_t count, capacity;
};

/* A copy of the section headers. */
struct sections {
	Elf64_Shdr *headers;
	size_t count;
	uint64_t place; /* in the image */
	size_t names;	/* the section with their names */
};

static bool is_inside(size_t size, uint64_t offset, uint64_t length)
{
	return offset <= size && length <= size - offset;
}

/* Copies the section headers, which are then to be freed; false: there are none, or not all. */
static bool read_sections(const uint8_t *image, size_t size, struct sections *out)
{
	Elf64_Ehdr header = {0};
	Elf64_Shdr first;

	if (size >= sizeof(header))
		memcpy(&header, image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % sizeof(uint64_t) ||
	    !is_inside(size, header.e_shoff, sizeof(first)))
		return false;
	memcpy(&first, image + header.e_shoff, sizeof(first));
	*out = (struct sections){
		.place = header.e_shoff,
		.count = header.e_shnum ? header.e_shnum : first.sh_size,
		.names = header.e_shstrndx,
	};
	if (out->count >= SECTION_LIMIT ||
	    !is_inside(size, out->place, out->count * sizeof(Elf64_Shdr)))
		return false;
	out->headers = xmalloc((out->count + 1) * sizeof(*out->headers));
	memcpy(out->headers, image + out->place, out->count * sizeof(*out->headers));
	return true;
}

/* Where the name of a section is in the image, or 0. */
static size_t name_place(const uint8_t *image, size_t size, const struct sections *sections,
			 const Elf64_Shdr *section)
{
	if (sections->names >= sections->count)
		return 0;
	const Elf64_Shdr *names = &sections->headers[sections->names];

	if (!is_inside(size, names->sh_offset, names->sh_size) ||
	    section->sh_name >= names->sh_size ||
	    !memchr(image + names->sh_offset + section->sh_name, 0,
		    names->sh_size - section->sh_name))
		return 0;
	return names->sh_offset + section->sh_name;
}

/* False: the section is not compressed, or not in a way that is known. */
static bool find_packed(const uint8_t *image, size_t size, const struct sections *sections,
			size_t index, struct packed *out)
{
	const Elf64_Shdr *section = &sections->headers[index];
	size_t name = name_place(image, size, sections, section);
	Elf64_Chdr header;

	if (section->sh_type == SHT_NOBITS ||
	    !is_inside(size, section->sh_offset, section->sh_size))
		return false;

	const uint8_t *data = image + section->sh_offset;

	if (section->sh_flags & SHF_COMPRESSED && section->sh_size > sizeof(header)) {
		memcpy(&header, data, sizeof(header));
		*out = (struct packed){
			.section = index,
			.data = data + sizeof(header),
			.size = section->sh_size - sizeof(header),
			.out_size = header.ch_size,
			.align = header.ch_addralign,
			.way = header.ch_type,
		};
		return header.ch_type == ELFCOMPRESS_ZLIB || header.ch_type == ELFCOMPRESS_ZSTD;
	}
	if (!name || strncmp((const char *)image + name, OLD_PREFIX, strlen(OLD_PREFIX)) != 0 ||
	    section->sh_size <= OLD_HEADER || memcmp(data, OLD_MAGIC, strlen(OLD_MAGIC)) != 0)
		return false;
	uint64_t out_size;

	memcpy(&out_size, data + strlen(OLD_MAGIC), sizeof(out_size));
	*out = (struct packed){
		.section = index,
		.name = name,
		.data = data + OLD_HEADER,
		.size = section->sh_size - OLD_HEADER,
		.out_size = be64toh(out_size),
		.align = section->sh_addralign,
		.way = ELFCOMPRESS_ZLIB,
	};
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

/* Lists what is compressed; how large the image gets, 0: nothing, or it would be too large. */
static size_t find_all(const uint8_t *image, size_t size, const struct sections *sections,
		       struct packed_list *list)
{
	size_t begin = round_up(size, PAGE), total = begin;
	struct packed packed;

	for (size_t i = 1; i < sections->count; i++) {
		if (!find_packed(image, size, sections, i, &packed))
			continue;
		if (packed.out_size > SIZE_LIMIT + size * RATIO_LIMIT - (total - begin))
			return 0;
		total += round_up(packed.out_size, sizeof(uint64_t));
		*vec_push(list) = packed;
	}
	return total == begin ? 0 : total;
}

/* Fills what lies behind the image, and makes the headers tell of that. */
static bool unpack_all(size_t size, uint8_t *out, Elf64_Shdr *headers,
		       const struct packed_list *list)
{
	size_t end = round_up(size, PAGE);

	for (size_t i = 0; i < list->count; i++) {
		const struct packed *packed = &list->items[i];
		Elf64_Shdr *section = &headers[packed->section];

		if (!unpack(packed, out + end))
			return false;
		section->sh_offset = end;
		section->sh_size = packed->out_size;
		section->sh_addralign = packed->align;
		section->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		section->sh_name += packed->name != 0; /* ".zdebug_info" becomes "..debug_info" */
		end += round_up(packed->out_size, sizeof(uint64_t));
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

static void put_headers(uint8_t *image, const struct sections *sections,
			const struct packed_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].name)
			image[list->items[i].name + 1] = '.';
	memcpy(image + sections->place, sections->headers,
	       sections->count * sizeof(*sections->headers));
}

uint8_t *inflate_sections(uint8_t *image, size_t size, bool is_mapped, size_t *out_size)
{
	struct sections sections = {0};
	struct packed_list list = {0};
	uint8_t *out = MAP_FAILED;
	bool done = false;

	*out_size =
		read_sections(image, size, &sections) ? find_all(image, size, &sections, &list) : 0;
	if (*out_size)
		out = mmap(NULL, *out_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (out != MAP_FAILED) {
		done = unpack_all(size, out, sections.headers, &list) &&
		       move_image(image, size, is_mapped, out);
		if (done)
			put_headers(out, &sections, &list);
		else
			munmap(out, *out_size);
	}
	vec_fini(&list);
	free(sections.headers);
	return done ? out : NULL;
}
