/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/maps.h"

#include "collector/arch/sys.h"
#include "collector/core/modules.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"
#include "collector/unwind/unwind.h"

#include <elf.h>
#include <link.h>

enum {
	LINE_ROOM = 8192,  /* holds any path with what is before it */
	HEAD_SIZE = 4096,  /* of an object: holds its program headers */
	NOTES_SIZE = 1024, /* bytes of its notes that are looked at */
	NOTED_MAX = 256,
	PAGE = 4096,
};

/* "7f0c1000-7f0c2000 r-xp 0002a000 fe:00 4711   /path"; false: it is none. */
static bool parse(const char *at, struct map_line *line)
{
	line->start = text_hex_number(at, &at);
	if (*at++ != '-')
		return false;
	line->end = text_hex_number(at, &at);
	if (*at++ != ' ')
		return false;
	line->modes = at;
	while (*at && *at != ' ')
		at++;
	line->offset = text_hex_number(*at ? at + 1 : at, &at);
	while (*at && *at != '/' && *at != '[')
		at++;
	line->path = at;
	return true;
}

bool maps_for_each(char *room, size_t size, void (*visit)(const struct map_line *line, void *arg),
		   void *arg)
{
	struct map_line line;
	size_t kept = 0;
	bool beheaded = false;
	long got;
	int fd = file_open_proc("/proc/self/maps", O_RDONLY);

	if (fd < 0)
		return false;
	while ((got = sys_read(fd, room + kept, size - kept)) > 0) {
		size_t begin = 0, end = kept + (size_t)got;

		for (size_t i = kept; i < end; i++)
			if (room[i] == '\n') {
				room[i] = '\0';
				if (!beheaded && parse(room + begin, &line))
					visit(&line, arg);
				beheaded = false;
				begin = i + 1;
			}
		kept = end - begin;
		for (size_t i = 0; i < kept; i++)
			room[i] = room[begin + i];
		/* Longer than any path that could be opened; there are lines behind it. */
		if (kept == size) {
			beheaded = true;
			kept = 0;
		}
	}
	sys_close(fd);
	return true;
}

/* Logs what an object's file says of the code in a mapping of it, if it is an object's. */
static void log_file(const struct map_line *line, uint32_t epoch)
{
	static uint64_t head[HEAD_SIZE / sizeof(uint64_t)];
	static uint8_t notes[NOTES_SIZE];
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)head;
	const ElfW(Phdr) *phdr = (const ElfW(Phdr) *)((const char *)head + sizeof(*elf));
	int fd = sys_open(line->path, O_RDONLY | O_NONBLOCK, 0);
	long notes_size = 0;

	if (fd < 0)
		return;
	if (sys_pread(fd, head, HEAD_SIZE, 0) == HEAD_SIZE && text_starts((char *)head, ELFMAG) &&
	    elf->e_phoff == sizeof(*elf) && elf->e_phentsize == sizeof(*phdr) &&
	    elf->e_phnum <= (HEAD_SIZE - sizeof(*elf)) / sizeof(*phdr)) {
		for (int i = 0; i < elf->e_phnum && !notes_size; i++)
			if (phdr[i].p_type == PT_NOTE)
				notes_size =
					sys_pread(fd, notes,
						  phdr[i].p_filesz < NOTES_SIZE ? phdr[i].p_filesz
										: NOTES_SIZE,
						  phdr[i].p_offset);
		for (int i = 0; i < elf->e_phnum; i++)
			if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X)
				modules_log_mapped(line, epoch, &phdr[i], notes,
						   notes_size > 0 ? (size_t)notes_size : 0);
	}
	sys_close(fd);
}

/* What map.xml has been told of. */
static struct {
	uint64_t start, end, offset;
} noted[NOTED_MAX];
static uint32_t noted_count;
static _Atomic bool busy; /* what is static here is somebody's */

void maps_forget(void)
{
	noted_count = 0;
	atomic_store(&busy, false);
}

/* Not twice for one mapping, and no more than these: a program may map and unmap in a loop. */
static bool note(const struct map_line *line)
{
	for (uint32_t i = 0; i < noted_count; i++)
		if (noted[i].start == line->start && noted[i].end == line->end &&
		    noted[i].offset == line->offset)
			return false;
	if (noted_count == NOTED_MAX)
		return false;
	noted[noted_count].start = line->start;
	noted[noted_count].end = line->end;
	noted[noted_count++].offset = line->offset;
	return true;
}

static void log_code(const struct map_line *line, uint32_t epoch)
{
	if (line->path[0] == '/' && !text_starts(line->path, "/dev/") && note(line) &&
	    !modules_log_copy(line, epoch))
		log_file(line, epoch);
}

static void visit(const struct map_line *line, void *unused)
{
	(void)unused;
	/* Nobody can tell from when on it is there: from the beginning, where nothing else was. */
	if (line->modes[2] == 'x' && !modules_were_at(line->start, line->end))
		log_code(line, 0);
}

void maps_log_code(void)
{
	static char room[LINE_ROOM];

	if ((!collector.late && !unwind_met_foreign()) || atomic_exchange(&busy, true))
		return;
	maps_for_each(room, sizeof(room), visit, NULL);
	atomic_store(&busy, false);
}

void maps_mapped(void *address, size_t size, int fd, uint64_t offset)
{
	static char path[PATH_MAX_HERE];
	char room[64];
	struct text link = TEXT_ON(room);
	struct map_line line = {.start = (uint64_t)address,
				.end = (uint64_t)address + (size + PAGE - 1) / PAGE * PAGE,
				.offset = offset,
				.path = path};

	if (!atomic_load(&collector.recording) || !collector_is_ours() ||
	    atomic_exchange(&busy, true))
		return;
	text_puts(&link, "/proc/self/fd/");
	text_decimal(&link, fd);

	long length = file_readlink_proc(room, path, sizeof(path) - 1);

	if (length > 0) {
		path[length] = '\0';
		log_code(&line, stacktable_epoch());
	}
	atomic_store(&busy, false);
}
