/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gprofng does not record of a load object: where its code lies in ELF, and its build-id.
 * Both are in the copy in archives/, or in the file itself as it is now.
 */
#include "experiment/gprofng/gprofng.h"

#include "base/folder.h"
#include "base/path.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HASH_LENGTH = 11, HEADERS_MAX = 128, NOTES_MAX = 4096, BUILD_ID_MAX = 64 };

/* Its name is NAME_ and a hash of the directory, 64 bits as letters, digits, "-" and "_". */
const char *gprofng_object_copy(const struct experiment *experiment, const char *path,
				struct arena *arena)
{
	const char *base = path_name(path), *copy = NULL;
	size_t length = strlen(base), found = 0;
	DIR *directory = folder_list(experiment->family, FORMAT_DIR_ARCHIVES);

	if (!directory)
		return NULL;
	for (struct dirent *entry; (entry = readdir(directory));) {
		const char *rest = entry->d_name + length;

		if (strncmp(entry->d_name, base, length) != 0 || *rest != '_' ||
		    strlen(rest + 1) > HASH_LENGTH || found++)
			continue;
		copy = arena_printf(arena, "%s/%s", experiment->archives, entry->d_name);
	}
	closedir(directory);
	return found == 1 ? copy : NULL;
}

/* The build-id in the notes of a segment, as hex; or nothing. */
static void read_notes(struct gprofng_object *object, int fd, const Elf64_Phdr *part)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t notes[NOTES_MAX];
	size_t wanted = part->p_filesz < NOTES_MAX ? (size_t)part->p_filesz : NOTES_MAX;
	ssize_t size = pread(fd, notes, wanted, (off_t)part->p_offset);
	size_t align = part->p_align == 8 ? 8 : 4, at = 0;
	Elf64_Nhdr note;

	while (size > 0 && (size_t)size - at > sizeof(note)) {
		size_t left = (size_t)size - at - sizeof(note);

		memcpy(&note, notes + at, sizeof(note));

		size_t name = (note.n_namesz + align - 1) & ~(align - 1);
		size_t text = (note.n_descsz + align - 1) & ~(align - 1);

		if (name > left || text > left - name)
			return;
		at += sizeof(note) + name;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    note.n_descsz <= BUILD_ID_MAX && !memcmp(notes + at - name, "GNU", 4))
			for (size_t i = 0; i < note.n_descsz; i++) {
				object->build_id[2 * i] = digits[notes[at + i] >> 4];
				object->build_id[2 * i + 1] = digits[notes[at + i] & 15];
			}
		at += text;
	}
}

static void read_part(struct gprofng_object *object, int fd, const Elf64_Phdr *part)
{
	if (part->p_type == PT_LOAD && part->p_flags & PF_X)
		*vec_push(&object->loads) =
			(struct gprofng_load){part->p_offset, part->p_filesz, part->p_vaddr};
	else if (part->p_type == PT_NOTE && !object->build_id[0])
		read_notes(object, fd, part);
}

void gprofng_object_read(struct gprofng_object *object, const char *path)
{
	int fd = folder_open_named(path, NULL);
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (fd < 0)
		return;
	if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.e_phentsize == sizeof(part))
		for (unsigned i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
			off_t at = (off_t)(head.e_phoff + i * sizeof(part));

			if (pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part))
				break;
			read_part(object, fd, &part);
		}
	close(fd);
}

void gprofng_object_fini(struct gprofng_object *object)
{
	vec_fini(&object->loads);
}
