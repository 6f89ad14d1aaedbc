/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is mapped by libelf and stays open: libdw finds split files relative to it.  Where
 * others can write to the file, libelf reads it instead (base/file_map.h).  Of object files and
 * what is compressed libdw reads an image that is not what the file is.
 */
#include "object/elf/debug_info.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/memory.h"
#include "object/elf/debug_file.h"
#include "object/elf/debug_guard.h"
#include "object/elf/debuginfod.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_lines(const struct elf_file *file)
{
	static const char *const names[] = {".debug_line", ".zdebug_line"};
	GElf_Shdr header;

	for (size_t i = 0; i < COUNT(names); i++) {
		if (elf_file_section(file, SHT_PROGBITS, names[i], &header) && header.sh_size)
			return true;
	}
	return false;
}

static void close_dwarf(struct dwarf_file *file)
{
	dwarf_end(file->dwarf);
	if (file->image.elf)
		elf_file_close(&file->image);
	else
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct dwarf_file){.fd = -1};
}

/* Opens a file that has been looked at, and takes it over. */
static bool open_dwarf(struct elf_file *file, struct dwarf_file *out, struct diag_list *diags)
{
	char *path = xstrdup(file->path ? file->path : "");
	const char *problem;

	*out = (struct dwarf_file){.fd = -1};
	elf_file_inflate(file);
	/* A copy is what was looked at; and libelf leaks sections that it has read itself. */
	if (file->differs || file->is_copy) {
		out->image = *file;
		out->elf = file->elf;
	} else {
		out->fd = folder_open_named(file->path, NULL);
		out->elf = out->fd >= 0 ? elf_begin(out->fd, ELF_C_READ_MMAP, NULL) : NULL;
		elf_file_close(file);
	}
	problem = out->elf ? debug_guard_look(out->elf) : NULL;
	if (problem)
		diag_add_once(diags, DIAG_WARNING,
			      "%s: its debug information is damaged: %s; none of it is read", path,
			      problem);
	else
		out->dwarf = dwarf_begin_elf(out->elf, DWARF_C_READ, NULL);
	free(path);
	if (!out->dwarf)
		close_dwarf(out);
	return out->dwarf;
}

/* The alternate file that is named, if it is here. */
static bool find_alternate(Dwarf *dwarf, const char *path, struct elf_file *out)
{
	const char *name;
	const void *id;
	ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);

	if (length <= 0)
		return false;
	char *build_id = elf_file_hex(id, (size_t)length);
	const char *slash = strrchr(path, '/');
	char *beside = name[0] == '/' || !slash
			       ? xstrdup(name)
			       : xasprintf("%.*s/%s", (int)(slash - path), path, name);
	bool found = debug_file_by_build_id(build_id, out);

	if (!found && elf_file_open(beside, out) == STATUS_OK) {
		found = out->build_id && !strcmp(out->build_id, build_id);
		if (!found)
			elf_file_close(out);
	}
	free(beside);
	free(build_id);
	return found;
}

/*
 * Where there is no alternate file libdw would open what is named so, and wait if that is a pipe.
 * It gets one that holds nothing.
 */
static void set_empty_alternate(Dwarf *dwarf, struct dwarf_file *out)
{
	enum { SECTIONS = 3 };
	static struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[SECTIONS];
		char names[sizeof("\0.debug_line\0.shstrtab")];
	} image = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_version = EV_CURRENT,
			   .e_shoff = offsetof(__typeof__(image), sections),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = SECTIONS,
			   .e_shstrndx = SECTIONS - 1},
		.sections = {{0},
			     {.sh_name = 1,
			      .sh_type = SHT_PROGBITS,
			      .sh_offset = offsetof(__typeof__(image), names),
			      .sh_size = 1,
			      .sh_addralign = 1},
			     {.sh_name = sizeof("\0.debug_line"),
			      .sh_type = SHT_STRTAB,
			      .sh_offset = offsetof(__typeof__(image), names),
			      .sh_size = sizeof(image.names),
			      .sh_addralign = 1}},
		.names = "\0.debug_line\0.shstrtab",
	};

	out->elf = elf_memory((char *)&image, sizeof(image));
	out->dwarf = out->elf ? dwarf_begin_elf(out->elf, DWARF_C_READ, NULL) : NULL;
	if (out->dwarf)
		dwarf_setalt(dwarf, out->dwarf);
}

/* Opens the file that has been looked at, and takes it over. */
static bool open_info(struct elf_file *file, struct debug_info *out, struct diag_list *diags)
{
	struct elf_file alternate;

	if (!has_lines(file)) {
		elf_file_close(file);
		return false;
	}
	char *path = xstrdup(file->path);

	if (!open_dwarf(file, &out->own, diags)) {
		free(path);
		return false;
	}
	out->path = path;
	if (find_alternate(out->own.dwarf, path, &alternate) &&
	    open_dwarf(&alternate, &out->alternate, diags))
		dwarf_setalt(out->own.dwarf, out->alternate.dwarf);
	else
		set_empty_alternate(out->own.dwarf, &out->alternate);
	return true;
}

/* Opens the path if it has the build-id, where one is known. */
static bool open_path(const char *path, const char *build_id, struct debug_info *out,
		      struct diag_list *diags)
{
	struct elf_file file;

	if (!path || elf_file_open(path, &file) != STATUS_OK)
		return false;
	if (!build_id || (file.build_id && !strcmp(file.build_id, build_id)))
		return open_info(&file, out, diags);
	elf_file_close(&file);
	return false;
}

static bool open_downloaded(const struct debug_request *request, struct debug_info *out,
			    struct diag_list *diags)
{
	const char *name = request->path ? request->path : request->build_id;
	char *path = request->build_id ? debuginfod_debug_file(request->build_id, name) : NULL;
	bool opened = open_path(path, request->build_id, out, diags);

	free(path);
	return opened;
}

/* A debug file by link or build-id, for a file that is still there. */
static bool open_separate(const struct debug_request *request, struct debug_info *out,
			  struct diag_list *diags)
{
	struct elf_file file, debug;

	if (!request->file || elf_file_open(request->file, &file) != STATUS_OK)
		return false;
	bool opened = debug_file_find(&file, request->path, &debug, diags) &&
		      open_info(&debug, out, diags);

	elf_file_close(&file);
	return opened;
}

bool debug_info_find(const struct debug_request *request, struct debug_info *out,
		     struct diag_list *diags)
{
	*out = (struct debug_info){.own.fd = -1, .alternate.fd = -1};
	return open_path(request->file, request->build_id, out, diags) ||
	       open_path(request->archived, request->build_id, out, diags) ||
	       open_separate(request, out, diags) || open_downloaded(request, out, diags);
}

void debug_info_close(struct debug_info *info)
{
	close_dwarf(&info->own);
	close_dwarf(&info->alternate);
	free(info->path);
	*info = (struct debug_info){.own.fd = -1, .alternate.fd = -1};
}
