/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is mapped by libelf and stays open: libdw finds split files and
 * alternate files relative to it.  libdw decompresses what is compressed when
 * it opens; from then on libelf gives out the plain bytes.
 */
#include "object/debug_info.h"

#include "base/memory.h"
#include "object/debug_file.h"
#include "object/debuginfod.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_lines(const struct elf_file *file)
{
	static const char *const names[] = {".debug_line", ".zdebug_line"};
	GElf_Shdr header;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (elf_file_section(file, SHT_PROGBITS, names[i], &header) && header.sh_size)
			return true;
	}
	return false;
}

struct bytes debug_info_section(Elf *elf, const char *name)
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

static bool open_dwarf(const char *path, int *fd, Elf **elf, Dwarf **dwarf)
{
	*dwarf = NULL;
	*elf = NULL;
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return false;
	elf_version(EV_CURRENT);
	*elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
	if (*elf)
		*dwarf = dwarf_begin_elf(*elf, DWARF_C_READ, NULL);
	if (*dwarf)
		return true;
	elf_end(*elf);
	close(*fd);
	*elf = NULL;
	*fd = -1;
	return false;
}

/* The path of the alternate file, to be freed; NULL: none is named, or it is not here. */
static char *find_alternate(Dwarf *dwarf, const char *path)
{
	const char *name;
	const void *id;
	ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	struct elf_file file;
	char *found = NULL;

	if (length <= 0)
		return NULL;
	char *build_id = elf_file_hex(id, (size_t)length);
	const char *slash = strrchr(path, '/');
	char *beside = name[0] == '/' || !slash
			       ? xstrdup(name)
			       : xasprintf("%.*s/%s", (int)(slash - path), path, name);

	if (debug_file_by_build_id(build_id, &file)) {
		found = xstrdup(file.path);
		elf_file_close(&file);
	} else if (elf_file_open(beside, &file) == STATUS_OK) {
		if (file.build_id && !strcmp(file.build_id, build_id))
			found = xstrdup(file.path);
		elf_file_close(&file);
	}
	free(beside);
	free(build_id);
	return found;
}

static void open_alternate(struct debug_info *info)
{
	char *path = find_alternate(info->dwarf, info->path);
	Elf *elf;

	info->alternate_fd = -1;
	if (path && open_dwarf(path, &info->alternate_fd, &elf, &info->alternate))
		dwarf_setalt(info->dwarf, info->alternate);
	free(path);
}

/* An object file is read from its relocated image. */
static bool open_relocated(struct elf_file *file, struct debug_info *out)
{
	out->dwarf = has_lines(file) ? dwarf_begin_elf(file->elf, DWARF_C_READ, NULL) : NULL;
	if (!out->dwarf) {
		elf_file_close(file);
		return false;
	}
	out->relocated = *file;
	out->elf = file->elf;
	out->path = xstrdup(file->path);
	return true;
}

/* Opens the file that has been looked at, and closes that. */
static bool open_info(struct elf_file *file, struct debug_info *out)
{
	if (file->relocated)
		return open_relocated(file, out);

	bool opened = has_lines(file) && open_dwarf(file->path, &out->fd, &out->elf, &out->dwarf);

	if (opened) {
		out->path = xstrdup(file->path);
		open_alternate(out);
	}
	elf_file_close(file);
	return opened;
}

/* Opens the path if it has the build-id, where one is known. */
static bool open_path(const char *path, const char *build_id, struct debug_info *out)
{
	struct elf_file file;

	if (!path || elf_file_open(path, &file) != STATUS_OK)
		return false;
	if (!build_id || (file.build_id && !strcmp(file.build_id, build_id)))
		return open_info(&file, out);
	elf_file_close(&file);
	return false;
}

static bool open_downloaded(const char *build_id, struct debug_info *out)
{
	char *path = build_id ? debuginfod_debug_file(build_id) : NULL;
	bool opened = open_path(path, build_id, out);

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
	bool opened =
		debug_file_find(&file, request->path, &debug, diags) && open_info(&debug, out);

	elf_file_close(&file);
	return opened;
}

bool debug_info_find(const struct debug_request *request, struct debug_info *out,
		     struct diag_list *diags)
{
	*out = (struct debug_info){.fd = -1, .alternate_fd = -1};
	return open_path(request->file, request->build_id, out) ||
	       open_path(request->archived, request->build_id, out) ||
	       open_separate(request, out, diags) || open_downloaded(request->build_id, out);
}

static void close_dwarf(int fd, Elf *elf, Dwarf *dwarf)
{
	dwarf_end(dwarf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

void debug_info_close(struct debug_info *info)
{
	Elf *alternate_elf = info->alternate ? dwarf_getelf(info->alternate) : NULL;

	if (info->relocated.elf) {
		dwarf_end(info->dwarf);
		elf_file_close(&info->relocated);
	} else {
		close_dwarf(info->fd, info->elf, info->dwarf);
	}
	close_dwarf(info->alternate_fd, alternate_elf, info->alternate);
	free(info->path);
	*info = (struct debug_info){.fd = -1, .alternate_fd = -1};
}
