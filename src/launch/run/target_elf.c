/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of program an ELF file is.  The dynamic linker loads the
 * collector, so a program without one, or one for which it ignores LD_PRELOAD,
 * would run unmeasured: better to say so than to leave an empty experiment.
 * <elf.h> suffices: a handful of fields at fixed places.
 */
#include "launch/run/exit.h"
#include "launch/run/target.h"

#include "base/file_map.h"
#include "base/own_calls.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The e_machine of the tool itself, which the collector shares. */
static unsigned own_machine(void)
{
	Elf64_Ehdr header = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
			header.e_machine = EM_NONE;
		close(fd);
	}
	return header.e_machine;
}

static enum status check_header(struct target *target, const Elf64_Ehdr *header, const char *path,
				struct diag_list *diags)
{
	unsigned machine = own_machine();

	if (memcmp(header->e_ident, ELFMAG, SELFMAG)) {
		diag_add(diags, DIAG_ERROR,
			 "Target '%s' is not a program for this machine: neither an ELF file nor a "
			 "script; run the program that reads it",
			 path);
	} else if (header->e_ident[EI_CLASS] != ELFCLASS64) {
		diag_add(diags, DIAG_ERROR,
			 "Target '%s' is a 32-bit program, and the collector is a 64-bit library: "
			 "build the program for 64 bits (without -m32)",
			 path);
	} else if (header->e_ident[EI_DATA] != ELFDATA2LSB ||
		   (machine != EM_NONE && header->e_machine != machine)) {
		diag_add(diags, DIAG_ERROR,
			 "Target '%s' is a program for another machine (ELF machine %u, here %u): "
			 "collect it on that machine",
			 path, header->e_machine, machine);
	} else if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
		diag_add(diags, DIAG_ERROR,
			 "Target '%s' is an object file or a core dump, not a program: link it "
			 "first",
			 path);
	} else {
		return STATUS_OK;
	}
	return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
}

/* The name in PT_INTERP, "" without one. */
static void read_interpreter(int fd, const Elf64_Ehdr *header, char name[PATH_MAX])
{
	name[0] = '\0';
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return;
		if (segment.p_type != PT_INTERP)
			continue;
		size_t room = segment.p_filesz < PATH_MAX ? segment.p_filesz : PATH_MAX - 1;
		ssize_t size = pread(fd, name, room, (off_t)segment.p_offset);

		name[size > 0 ? size : 0] = '\0';
		return;
	}
}

static enum status check_linking(struct target *target, int fd, const Elf64_Ehdr *header,
				 const char *path, struct diag_list *diags)
{
	char interpreter[PATH_MAX];

	read_interpreter(fd, header, interpreter);
	const char *slash = strrchr(interpreter, '/');
	const char *name = slash ? slash + 1 : interpreter;

	if (!*name) {
		diag_add(diags, DIAG_ERROR,
			 "Target '%s' is statically linked, and the collector can be loaded into "
			 "dynamically linked programs only: link it without -static "
			 "(Go: " TARGET_GO_REMEDY "), or use `perf record`",
			 path);
	} else if (!strncmp(name, "ld-musl", strlen("ld-musl"))) {
		diag_add(
			diags, DIAG_ERROR,
			"Target '%s' is linked with musl, which is not supported: build it against "
			"glibc",
			path);
	} else if (access(interpreter, F_OK)) {
		diag_add(diags, DIAG_ERROR,
			 "Target '%s' needs the dynamic linker '%s', which does not exist: install "
			 "the C library that it was built for",
			 path, interpreter);
		return target_refuse(target, LAUNCH_EXIT_NOT_FOUND);
	} else {
		return STATUS_OK;
	}
	return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
}

bool target_goes_past_libc(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_size <= 0)
		return false;
	/* its owner may change it meanwhile */
	struct file_map file = file_map(fd, &st);

	if (!file.data)
		return false;
	bool result = own_calls_in_file(file.data, file.size);

	munmap(file.data, file.size);
	return result;
}

static enum status check_calls(struct target *target, int fd, const char *path,
			       struct diag_list *diags)
{
	if (!target_goes_past_libc(fd))
		return STATUS_OK;
	diag_add(diags, DIAG_ERROR, "Target '%s' " TARGET_PAST_LIBC ", or use `perf record`", path);
	return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
}

/* The Go linker leaves its build id in a note of that name. */
static bool has_go_note(int fd, const Elf64_Phdr *segment)
{
	static const char name[] = {'G', 'o', 0, 0};
	enum { NOTES_MAX = 4096 };
	char notes[NOTES_MAX];
	ssize_t size = pread(fd, notes, sizeof(notes), (off_t)segment->p_offset);
	size_t end = size > 0 ? (size_t)size : 0;

	if (end > segment->p_filesz)
		end = segment->p_filesz;
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) + sizeof(name) <= end;) {
		Elf64_Nhdr note;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		if (note.n_namesz == sizeof(name) && !memcmp(notes + at, name, sizeof(name)))
			return true;
		at += ((size_t)note.n_namesz + 3) / 4 * 4 + ((size_t)note.n_descsz + 3) / 4 * 4;
	}
	return false;
}

bool target_is_go(const char *path)
{
	Elf64_Ehdr header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;

	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		header.e_phnum = 0;
	for (unsigned i = 0; i < header.e_phnum && !found; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header.e_phoff + (uint64_t)i * header.e_phentsize);

		found = pread(fd, &segment, sizeof(segment), at) == sizeof(segment) &&
			segment.p_type == PT_NOTE && has_go_note(fd, &segment);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* What would put the dynamic linker into its secure mode, for people; NULL: nothing. */
static const char *foreign_rights(int fd)
{
	struct stat st;
	struct statvfs fs;

	if (fstat(fd, &st) || (!fstatvfs(fd, &fs) && fs.f_flag & ST_NOSUID) ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != getuid())
		return "setuid";
	/* Without the group's execute bit the flag means something else. */
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid())
		return "setgid";
	if (getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "given file capabilities";
	return NULL;
}

enum status target_check_elf(struct target *target, int fd, const char *path,
			     struct diag_list *diags)
{
	Elf64_Ehdr header = {0};

	if (pread(fd, &header, sizeof(header), 0) < 0) {
		diag_add(diags, DIAG_ERROR, "Target '%s' cannot be read: %s", path,
			 strerror(errno));
		return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
	}
	enum status status = check_header(target, &header, path, diags);

	if (status == STATUS_OK)
		status = check_linking(target, fd, &header, path, diags);
	if (status == STATUS_OK)
		status = check_calls(target, fd, path, diags);
	if (status != STATUS_OK)
		return status;
	const char *rights = foreign_rights(fd);

	if (!rights)
		return STATUS_OK;
	diag_add(diags, DIAG_ERROR,
		 "Target '%s' is %s: the system does not let a program with rights of its own load "
		 "the collector; run a copy without them (cp), or collect as its owner",
		 path, rights);
	return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
}
