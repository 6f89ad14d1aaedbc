/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a dynamically linked program goes past the C library: Go without cgo,
 * whichever linker made it.  It makes threads without pthread_create and handlers
 * without sigaction, and gives its threads no thread-local storage, so nothing
 * that is loaded into it can know of its signals.
 *
 * Two things tell, and neither is a name that a build could leave out.  The program
 * imports no function but the C library's start, if that; and its own code holds
 * the instructions of rt_sigaction.  The first is seldom true, so looking for the
 * second costs other programs nothing.
 *
 * Only memory is read, so that it serves inside a program and for a mapped file.
 */
#ifndef HELIO_BASE_OWN_CALLS_H
#define HELIO_BASE_OWN_CALLS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An ELF program as its file is mapped, or as it was loaded. */
struct own_calls_image {
	const uint8_t *start;
	uint64_t size; /* of the file; UINT64_MAX: it is loaded */
	uint64_t bias; /* … where it is loaded: added to addresses */
	const Elf64_Phdr *segments;
	unsigned count;
};

/* The bytes at an address of the program; NULL: not there. */
static inline const uint8_t *own_calls_at(const struct own_calls_image *image, uint64_t address,
					  uint64_t size)
{
	if (image->size == UINT64_MAX)
		return (const uint8_t *)(uintptr_t)(image->bias + address);
	for (unsigned i = 0; i < image->count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		uint64_t within = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    within >= segment->p_filesz || size > segment->p_filesz - within ||
		    segment->p_offset > image->size ||
		    segment->p_filesz > image->size - segment->p_offset)
			continue;
		return image->start + segment->p_offset + within;
	}
	return NULL;
}

/* The same for what is read as a structure; NULL too where that would not be aligned. */
static inline const void *own_calls_table(const struct own_calls_image *image, uint64_t address,
					  uint64_t size, uint64_t alignment)
{
	const uint8_t *at = own_calls_at(image, address, size);

	return (uintptr_t)at % alignment ? NULL : at;
}

/* A value of the dynamic section. The loader has made an address of some, not of all. */
static inline uint64_t own_calls_dynamic(const struct own_calls_image *image, int64_t tag)
{
	for (unsigned i = 0; i < image->count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		uint64_t entries = segment->p_memsz / sizeof(Elf64_Dyn);

		if (segment->p_type != PT_DYNAMIC)
			continue;
		const Elf64_Dyn *entry = (const Elf64_Dyn *)own_calls_table(
			image, segment->p_vaddr, segment->p_memsz, sizeof(uint64_t));

		for (; entry && entries && entry->d_tag != DT_NULL; entry++, entries--)
			if (entry->d_tag == tag) {
				uint64_t value = entry->d_un.d_ptr;
				bool moved = image->size == UINT64_MAX && value >= image->bias;

				return moved ? value - image->bias : value;
			}
	}
	return 0;
}

static inline bool own_calls_is_start(const struct own_calls_image *image, uint64_t name)
{
	static const char start[] = "__libc_start_main";
	const char *text = (const char *)own_calls_at(image, name, sizeof(start));

	for (size_t i = 0; text && i < sizeof(start); i++)
		if (text[i] != start[i])
			return false;
	return text;
}

/* Imports come first in a table of symbols that has a GNU hash table; else all are looked at. */
static inline bool own_calls_imports_nothing(const struct own_calls_image *image)
{
	enum { SYMBOLS_MAX = 100000 };
	uint64_t symbols = own_calls_dynamic(image, DT_SYMTAB);
	uint64_t strings = own_calls_dynamic(image, DT_STRTAB);
	uint64_t gnu = own_calls_dynamic(image, DT_GNU_HASH);
	uint64_t hash = gnu ? gnu : own_calls_dynamic(image, DT_HASH);
	const uint32_t *head = hash ? (const uint32_t *)own_calls_table(
					      image, hash, 2 * sizeof(*head), sizeof(*head))
				    : NULL;

	if (!head || !symbols || !strings || head[1] > SYMBOLS_MAX)
		return false;
	for (uint32_t i = 1; i < head[1]; i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)own_calls_table(
			image, symbols + i * sizeof(*symbol), sizeof(*symbol), sizeof(uint64_t));

		if (!symbol)
			return false;
		if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
		    !own_calls_is_start(image, strings + symbol->st_name))
			return false;
	}
	return true;
}

/* The number of rt_sigaction put into its register, and the system call. */
static inline bool own_calls_in_code(const uint8_t *code, uint64_t size)
{
#if defined(__aarch64__)
	static const uint8_t call[] = {0xc8, 0x10, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
#else
	static const uint8_t call[] = {0xb8, 0x0d, 0, 0, 0, 0x0f, 0x05};
#endif
	for (uint64_t i = 0; i + sizeof(call) <= size; i++) {
		size_t same = 0;

		while (same < sizeof(call) && code[i + same] == call[same])
			same++;
		if (same == sizeof(call))
			return true;
	}
	return false;
}

static inline bool own_calls_found(const struct own_calls_image *image)
{
	if (!own_calls_imports_nothing(image))
		return false;
	for (unsigned i = 0; i < image->count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type != PT_LOAD ||
		    (segment->p_flags & (PF_R | PF_X)) != (PF_R | PF_X))
			continue;
		const uint8_t *code = own_calls_at(image, segment->p_vaddr, segment->p_filesz);

		if (code && own_calls_in_code(code, segment->p_filesz))
			return true;
	}
	return false;
}

/* The same of a file that is mapped whole; no program's file: false. */
static inline bool own_calls_in_file(const void *file, uint64_t size)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;

	if (size < sizeof(*header) || header->e_phentsize != sizeof(Elf64_Phdr) ||
	    header->e_phoff > size || header->e_phoff % sizeof(uint64_t) ||
	    header->e_phnum > (size - header->e_phoff) / sizeof(Elf64_Phdr))
		return false;
	const struct own_calls_image image = {
		.start = (const uint8_t *)file,
		.size = size,
		.segments = (const Elf64_Phdr *)((const uint8_t *)file + header->e_phoff),
		.count = header->e_phnum,
	};

	return own_calls_found(&image);
}

#endif
