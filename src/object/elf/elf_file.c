/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libelf reads the headers and translates tables; it works on our own mapping
 * (elf_memory), so that raw bytes can be had without copies and with our own
 * bounds checks.
 */
#include "object/elf/elf_file.h"

#include "base/file_map.h"
#include "base/memory.h"
#include "object/elf/file.h"
#include "object/elf/inflate.h"
#include "object/elf/relocate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID_LIMIT = 64 }; /* bytes; real ones have 8 to 32 */

struct bytes elf_file_bytes(const struct elf_file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->size || size > file->size - offset)
		return (struct bytes){0};
	return (struct bytes){file->image + offset, size};
}

struct bytes elf_file_section_bytes(const struct elf_file *file, const GElf_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS)
		return (struct bytes){0};
	return elf_file_bytes(file, header->sh_offset, header->sh_size);
}

const char *elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header)
{
	size_t names;
	const char *name = NULL;

	if (!elf_getshdrstrndx(file->elf, &names))
		name = elf_strptr(file->elf, names, header->sh_name);
	return name ? name : "";
}

Elf_Scn *elf_file_section(const struct elf_file *file, uint32_t type, const char *name,
			  GElf_Shdr *header)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		if (!gelf_getshdr(section, header))
			continue;
		if (type != SHT_NULL && header->sh_type != type)
			continue;
		if (!name || !strcmp(name, elf_file_section_name(file, header)))
			return section;
	}
	return NULL;
}

char *elf_file_hex(const uint8_t *data, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *text = xmalloc(size * 2 + 1);

	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[data[i] >> 4];
		text[2 * i + 1] = digits[data[i] & 15];
	}
	text[size * 2] = '\0';
	return text;
}

/* The build-id in a run of notes, or NULL. Notes of the host's byte order only. */
static char *build_id_in_notes(struct bytes notes)
{
	GElf_Nhdr note; /* the same three words in both ELF classes */

	for (size_t at = 0; notes.size - at >= sizeof(note);) {
		memcpy(&note, notes.data + at, sizeof(note));
		at += sizeof(note);

		size_t name_size = ((size_t)note.n_namesz + 3) & ~(size_t)3;

		if (name_size > notes.size - at)
			break;
		const uint8_t *name = notes.data + at;

		at += name_size;
		if (note.n_descsz > notes.size - at)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(name, "GNU", 4) && note.n_descsz && note.n_descsz <= BUILD_ID_LIMIT)
			return elf_file_hex(notes.data + at, note.n_descsz);

		size_t description_size = ((size_t)note.n_descsz + 3) & ~(size_t)3;

		if (description_size > notes.size - at)
			break;
		at += description_size;
	}
	return NULL;
}

/* Sections first: the program headers of a debug file point at data that is not there. */
static char *find_build_id(const struct elf_file *file)
{
	char *id = NULL;
	GElf_Shdr section_header;
	GElf_Phdr header;
	size_t count;

	for (Elf_Scn *section = NULL; !id && (section = elf_nextscn(file->elf, section));) {
		if (gelf_getshdr(section, &section_header) && section_header.sh_type == SHT_NOTE)
			id = build_id_in_notes(elf_file_section_bytes(file, &section_header));
	}
	if (id || elf_getphdrnum(file->elf, &count))
		return id;
	for (size_t i = 0; !id && i < count; i++) {
		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_NOTE)
			id = build_id_in_notes(
				elf_file_bytes(file, header.p_offset, header.p_filesz));
	}
	return id;
}

/*
 * Whether the section headers, which linkers put last, are all inside the
 * file.  libelf quietly makes do with those that are.
 */
static bool is_complete(const struct elf_file *file)
{
	GElf_Ehdr header;
	size_t count;

	if (!gelf_getehdr(file->elf, &header) || elf_getshdrnum(file->elf, &count))
		return false;
	if (!header.e_shoff)
		return true;
	if (header.e_shnum) /* else there are so many that the first section tells */
		count = header.e_shnum;
	return elf_file_bytes(file, header.e_shoff, (uint64_t)count * header.e_shentsize).data;
}

static void drop_image(struct elf_file *file)
{
	if (file->mapped)
		munmap(file->image, file->size);
	else
		free(file->image);
}

static bool inflate(struct elf_file *file)
{
	size_t size;
	uint8_t *image = inflate_sections(file->image, file->size, file->mapped, &size);

	if (!image)
		return false;
	file->image = image;
	file->size = size;
	file->mapped = file->differs = true;
	return true;
}

/* Object files: as if they had been linked. */
static void link_object_file(struct elf_file *file)
{
	if (!relocate_wanted(file->image, file->size))
		return;
	if (!inflate(file) && file->mapped &&
	    mprotect(file->image, file->size, PROT_READ | PROT_WRITE))
		return;
	file->differs = true;
	relocate(file->image, file->size);
}

static enum status load(struct elf_file *file)
{
	link_object_file(file);
	elf_version(EV_CURRENT);
	file->elf = elf_memory((char *)file->image, file->size);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !is_complete(file)) {
		elf_file_close(file);
		return STATUS_INVALID;
	}
	file->build_id = find_build_id(file);
	return STATUS_OK;
}

void elf_file_inflate(struct elf_file *file)
{
	if (file->differs)
		return;
	elf_end(file->elf);
	inflate(file);
	file->elf = elf_memory((char *)file->image, file->size);
}

enum status elf_file_from_memory(uint8_t *image, size_t size, struct elf_file *out)
{
	*out = (struct elf_file){.image = image, .size = size};
	return load(out);
}

/*
 * An experiment's copies are changed where they lie (`helio archive -F', rsync --inplace).  What
 * libelf and libdw read must not change after they have looked at it; all that is opened anew, or
 * beside them, has such a path too.
 */
static bool is_kept(const char *path)
{
	return strstr(path, "/archives/");
}

/* Whether it can be one: nothing else is worth a copy. */
static bool begins_as_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

enum status elf_file_open(const char *path, struct elf_file *out)
{
	struct stat info;
	int fd;
	enum status status = file_open_regular(path, &fd, &info);

	*out = (struct elf_file){0};
	if (status)
		return status;
	status = STATUS_INVALID;
	if (info.st_size < EI_NIDENT || !begins_as_elf(fd))
		goto out;
	struct file_map map = is_kept(path) ? file_map_copy(fd, &info) : file_map(fd, &info);

	status = STATUS_IO;
	if (!map.data)
		goto out;
	out->image = map.data;
	out->size = map.size;
	out->mapped = true;
	out->is_copy = map.is_copy;
	out->mtime = (uint64_t)info.st_mtime;
	out->file_size = out->size;
	out->device = info.st_dev;
	out->inode = info.st_ino;
	out->changed_ns =
		(uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec;
	out->path = xstrdup(path);
	status = load(out);
out:;
	int saved = errno;

	close(fd);
	errno = saved;
	return status;
}

void elf_file_close(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	drop_image(file);
	free(file->path);
	free(file->build_id);
	*file = (struct elf_file){0};
}

struct bytes elf_debug_section(Elf *elf, const char *name)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return (struct bytes){0};
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		const char *found = gelf_getshdr(section, &header)
					    ? elf_strptr(elf, names, header.sh_name)
					    : NULL;

		if (!found || found[0] != '.' || header.sh_type == SHT_NOBITS)
			continue;
		if (strcmp(found + 1, name) != 0 && !(found[1] == 'z' && !strcmp(found + 2, name)))
			continue;
		Elf_Data *data = elf_rawdata(section, NULL);

		if (data && data->d_buf)
			return (struct bytes){data->d_buf, data->d_size};
	}
	return (struct bytes){0};
}
