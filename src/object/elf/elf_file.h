/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF image in memory: a mapped file, a decompressed .gnu_debugdata or a
 * copy of the vDSO.  Nothing here trusts the image; every range that is handed
 * out lies inside it.  Object files (.o) have been relocated, and are not compressed.
 */
#ifndef HELIO_OBJECT_ELF_FILE_H
#define HELIO_OBJECT_ELF_FILE_H

#include "base/status.h"

#include <gelf.h>
#include <stdint.h>

struct elf_file {
	Elf *elf;
	char *path; /* NULL: not from a file */
	uint8_t *image;
	size_t size;
	bool mapped;	/* to be unmapped; else from malloc */
	bool is_copy;	/* in memory: others can write the file, or it is in an experiment */
	bool differs;	/* the image is not what the file is */
	uint64_t mtime; /* s */
	uint64_t file_size;
	uint64_t device, inode, changed_ns; /* which file it is, and as of when; 0: not from one */
	char *build_id;			    /* hex, or NULL */
};

struct bytes {
	const uint8_t *data;
	size_t size;
};

/*
 * STATUS_IO: cannot be read, see errno; STATUS_INVALID: not an ELF file, or
 * cut off before its section headers say that it ends.
 */
enum status elf_file_open(const char *path, struct elf_file *out);
/* Takes over an image from malloc, also when it fails. */
enum status elf_file_from_memory(uint8_t *image, size_t size, struct elf_file *out);
void elf_file_close(struct elf_file *file);
/* Debug sections that are compressed become plain ones; `elf` and ranges of before are gone. */
void elf_file_inflate(struct elf_file *file);

/* The first section of that type (SHT_NULL: any) and name (NULL: any), or NULL. */
Elf_Scn *elf_file_section(const struct elf_file *file, uint32_t type, const char *name,
			  GElf_Shdr *header);
/* The name of a section; "" where it has none. */
const char *elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header);
/* A build-id as text, to be freed. */
char *elf_file_hex(const uint8_t *data, size_t size);
/* Bytes of the file, or none where the range is not all inside. */
struct bytes elf_file_bytes(const struct elf_file *file, uint64_t offset, uint64_t size);
/* A section's bytes; none for SHT_NOBITS. */
struct bytes elf_file_section_bytes(const struct elf_file *file, const GElf_Shdr *header);
/* A debug section's bytes, decompressed, by its name without the dot in front; valid until closed.
 */
struct bytes elf_debug_section(Elf *elf, const char *name);

#endif
