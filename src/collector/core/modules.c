/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load objects: what the unwinder needs of them, and what map.xml says.
 *
 * The list is a snapshot that handlers read without care.  It is looked at again
 * where the program is in our hands anyway (a thread begins, dlclose, the end);
 * dlopen is not wrapped, because it looks up its caller.  A handler that meets
 * code which it does not know asks _dl_find_object, which is made for signal
 * handlers, and notes the object at once.
 */
#include "collector/core/modules.h"

#include "collector/arch/sys.h"
#include "collector/core/handler_stack.h"
#include "collector/core/initial_objects.h"
#include "collector/core/snapshots.h"
#include "collector/core/time.h"
#include "collector/storage/experiment.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	MODULES_MAX = 8192, /* executable segments, over the whole life of the process */
	PUBLISH_TRIES = 1000,
	BUILD_ID_MAX = 32,
	NAME_MAX_HERE = PATH_MAX_HERE,
	HEAD_SIZE = 4096, /* of an object: holds its program headers, and mostly its notes */
	NOTES_MAX = 1024, /* bytes of a note segment that are looked at */
	LEARN_YIELDS = 1000,
};

/* What the loader has of an object. */
struct image {
	const char *name;
	uint64_t bias;
	const ElfW(Phdr) * phdr;
	int count;
	bool may_go; /* at any moment: it is read through copies */
};

/* One executable segment, loaded now or earlier. */
struct segment {
	struct unwind_module module;
	uint64_t file_offset;
	uint32_t flags; /* PF_* */
	uint32_t epoch;
	bool loaded;
	bool seen; /* in the scan under way */
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t build_id_size;
	uint64_t identity; /* a hash of its name and build id */
	bool has_file;	   /* of which the next two are, when it was loaded */
	int64_t mtime, file_size;
};

static struct segment *segments; /* MODULES_MAX, mapped */
static uint32_t segment_count;
static _Atomic int changing; /* the thread that changes the list; 0: none */
static bool loader_lost;     /* its lock may have been held by a thread that is not here */
static bool unpublished;     /* there was no room for the last change */

/* Weak: glibc has it since 2.35. */
extern int _dl_find_object(void *pc, struct dl_find_object *result) __attribute__((weak));

static uint64_t identify(const char *name, const struct segment *segment)
{
	uint64_t hash = text_hash(TEXT_HASH_START, name, text_length(name));

	return text_hash(hash, segment->build_id, segment->build_id_size);
}

static void read_build_id(struct segment *segment, const uint8_t *note, uint64_t size)
{
	const uint8_t *end = note + size;

	while (end - note >= (long)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
		const uint8_t *name = note + sizeof(*header);
		const uint8_t *data = name + ((header->n_namesz + 3) & ~3u);

		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && name[0] == 'G' &&
		    header->n_descsz <= BUILD_ID_MAX) {
			segment->build_id_size = header->n_descsz;
			for (uint32_t i = 0; i < header->n_descsz; i++)
				segment->build_id[i] = data[i];
			return;
		}
		note = data + ((header->n_descsz + 3) & ~3u);
	}
}

static void read_note_segment(struct segment *segment, uint64_t start, uint64_t size, bool may_go)
{
	static uint8_t copy[NOTES_MAX]; /* of who changes the list */

	if (may_go)
		read_build_id(segment, copy,
			      sys_read_memory(start, copy, size < NOTES_MAX ? size : NOTES_MAX));
	else
		read_build_id(segment, (const uint8_t *)start, size);
}

/* Fills in what the program headers tell of the object. */
static void read_headers(struct segment *segment, const struct image *image)
{
	struct unwind_module *module = &segment->module;
	const ElfW(Phdr) *phdr = image->phdr;

	for (int i = 0; i < image->count; i++) {
		uint64_t start = image->bias + phdr[i].p_vaddr;

		if (phdr[i].p_type == PT_NOTE && !segment->build_id_size)
			read_note_segment(segment, start, phdr[i].p_filesz, image->may_go);
		if (phdr[i].p_type == PT_GNU_EH_FRAME) {
			module->eh_frame_hdr = (const uint8_t *)start;
			module->eh_frame_hdr_size = phdr[i].p_memsz;
		}
	}
	/* CFI is read within the segment that holds it. */
	for (int i = 0; i < image->count; i++) {
		uint64_t start = image->bias + phdr[i].p_vaddr;
		uint64_t at = (uint64_t)module->eh_frame_hdr;

		if (phdr[i].p_type == PT_LOAD && at >= start && at < start + phdr[i].p_filesz) {
			module->map_start = start;
			module->map_end = start + phdr[i].p_filesz;
		}
	}
}

static void read_file_facts(struct segment *segment, const char *name)
{
	struct stat status;

	segment->has_file = name[0] == '/' && !sys_call(SYS_newfstatat, AT_FDCWD, name, &status, 0);
	if (!segment->has_file)
		return;
	segment->mtime = status.st_mtim.tv_sec;
	segment->file_size = status.st_size;
}

static void put_file_facts(struct text *line, const struct segment *segment)
{
	if (!segment->has_file)
		return;
	text_attribute_decimal(line, "mtime", segment->mtime);
	text_attribute_decimal(line, "filesize", segment->file_size);
}

/* While a recording begins, lines of map.xml are gathered here: one write is a process's life. */
static char gathered_room[16384];
static struct text gathered = TEXT_ON(gathered_room);
static bool gathering;

void modules_write_begin(void)
{
	gathering = false;
	if (gathered.length)
		experiment_append(FORMAT_FILE_MAP, &gathered);
	gathered.length = 0;
}

static void write_line(struct text *line)
{
	if (gathering && gathered.length + line->length >= gathered.size) {
		modules_write_begin();
		gathering = true;
	}
	if (gathering && line->length < gathered.size)
		text_puts(&gathered, line->buffer);
	else
		experiment_append(FORMAT_FILE_MAP, line);
}

/* By who changes the list. */
static void log_map(const struct segment *segment, const char *name, uint64_t tstamp)
{
	enum { MOST_OF_A_CHARACTER = 6, AROUND = 1024 };
	static char room[MOST_OF_A_CHARACTER * NAME_MAX_HERE + AROUND];
	char id_room[2 * BUILD_ID_MAX + 1];
	struct text line = TEXT_ON(room);
	struct text id = TEXT_ON(id_room);
	char modes[] = {segment->flags & PF_R ? 'r' : '-', segment->flags & PF_W ? 'w' : '-',
			segment->flags & PF_X ? 'x' : '-', '\0'};

	text_puts(&line, "<event kind=\"map\"");
	text_attribute_decimal(&line, "tstamp", (int64_t)tstamp);
	text_attribute_decimal(&line, "epoch", segment->epoch);
	text_attribute_hex(&line, "vaddr", segment->module.start);
	text_attribute_hex(&line, "size", segment->module.end - segment->module.start);
	text_attribute_hex(&line, "foffset", segment->file_offset);
	text_attribute_hex(&line, "bias", segment->module.bias);
	text_attribute(&line, "modes", modes);
	text_attribute(&line, "name", name);
	if (segment->build_id_size) {
		text_bytes_hex(&id, segment->build_id, segment->build_id_size);
		text_attribute(&line, "buildid", id_room);
	}
	put_file_facts(&line, segment);
	text_puts(&line, "/>\n");
	write_line(&line);
}

static void log_unmap(const struct segment *segment)
{
	char room[160];
	struct text line = TEXT_ON(room);

	text_puts(&line, "<event kind=\"unmap\"");
	text_attribute_decimal(&line, "tstamp", (int64_t)(clock_now_ns() - collector.start_ns));
	text_attribute_decimal(&line, "epoch", stacktable_epoch());
	text_attribute_hex(&line, "vaddr", segment->module.start);
	text_puts(&line, "/>\n");
	write_line(&line);
}

/* Names are kept once, one after the other, in a mapping that only grows at its end. */
static char *names;
static size_t names_used;
enum { NAMES_ROOM = 1 << 22 };
static uint32_t *name_offsets; /* of each segment */

static const char *name_of(const struct segment *segment)
{
	return names + name_offsets[segment - segments];
}

static void keep_name(uint32_t index, const char *name)
{
	size_t length = text_length(name);

	if (index && text_equal(names + name_offsets[index - 1], name)) {
		name_offsets[index] = name_offsets[index - 1];
		return;
	}
	if (names_used + length + 1 > NAMES_ROOM)
		length = 0;
	name_offsets[index] = (uint32_t)names_used;
	for (size_t i = 0; i < length; i++)
		names[names_used++] = name[i];
	names[names_used++] = '\0';
}

static bool overlap(const struct segment *a, const struct segment *b)
{
	return a->module.start < b->module.end && b->module.start < a->module.end;
}

static bool same(const struct segment *a, const struct segment *b)
{
	return a->module.start == b->module.start && a->module.end == b->module.end &&
	       a->identity == b->identity;
}

/*
 * Code of another object had been here since the epoch of `known` (or ever): stacks from before
 * must not be read with the new object.
 */
static bool takes_old_place(const struct segment *fresh, const struct segment *known)
{
	for (uint32_t i = 0; i < segment_count; i++)
		if (!segments[i].loaded && overlap(&segments[i], fresh) &&
		    !same(&segments[i], fresh) && (!known || segments[i].epoch > known->epoch))
			return true;
	return false;
}

/* The entry of a segment that is loaded, or was at the same place; else NULL. */
static struct segment *find_known(const struct segment *fresh)
{
	for (uint32_t i = 0; i < segment_count; i++)
		if (same(&segments[i], fresh))
			return &segments[i];
	return NULL;
}

/* What was at the place of a fresh segment is gone, before anyone has seen it go. */
static void drop_below(const struct segment *fresh)
{
	for (uint32_t i = 0; i < segment_count; i++) {
		if (!segments[i].loaded || !overlap(&segments[i], fresh))
			continue;
		segments[i].loaded = false;
		log_unmap(&segments[i]);
	}
}

/* Notes one executable segment; true if it is new. */
static bool note_segment(const struct image *image, const ElfW(Phdr) * load)
{
	struct segment fresh = {.file_offset = load->p_offset,
				.flags = load->p_flags,
				.loaded = true,
				.seen = true};

	fresh.module.start = image->bias + load->p_vaddr;
	fresh.module.end = fresh.module.start + load->p_memsz;
	fresh.module.bias = image->bias;
	read_headers(&fresh, image);
	fresh.identity = identify(image->name, &fresh);
	struct segment *known = find_known(&fresh);
	if (known && known->loaded) {
		known->seen = true;
		return false;
	}
	if (!known && segment_count == MODULES_MAX)
		return false;
	drop_below(&fresh);
	if (takes_old_place(&fresh, known))
		stacktable_next_epoch();
	fresh.epoch = stacktable_epoch();
	read_file_facts(&fresh, image->name);
	if (!known) {
		known = &segments[segment_count++];
		keep_name((uint32_t)(known - segments), image->name);
	}
	*known = fresh;
	log_map(known, image->name, clock_now_ns() - collector.start_ns);
	return true;
}

const char *modules_program(void)
{
	static char path[PATH_MAX_HERE];

	if (!path[0])
		sys_readlink("/proc/self/exe", path, sizeof(path) - 1);
	return path;
}

static const char *object_name(const char *name)
{
	if (text_starts(name, "linux-vdso") || text_starts(name, "linux-gate"))
		return "[vdso]";
	return name[0] ? name : modules_program();
}

static bool note_object(const struct image *image)
{
	bool changed = false;

	for (int i = 0; i < image->count; i++)
		if (image->phdr[i].p_type == PT_LOAD && image->phdr[i].p_flags & PF_X)
			changed |= note_segment(image, &image->phdr[i]);
	return changed;
}

static void *map_zeroed(size_t size)
{
	return sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static bool publish(void)
{
	struct unwind_modules *list = snapshots_room(segment_count);

	unpublished = !list;
	if (!list)
		return false;
	list->count = 0;
	for (uint32_t i = 0; i < segment_count; i++) {
		if (!segments[i].loaded)
			continue;
		uint32_t at = list->count++;

		for (; at && list->items[at - 1].start > segments[i].module.start; at--)
			list->items[at] = list->items[at - 1];
		list->items[at] = segments[i].module;
	}
	snapshots_publish(list);
	return true;
}

/* Outside handlers: what is gone must not stay in force, rather nothing is known. */
static void publish_at_last(void)
{
	for (int i = 0; i < PUBLISH_TRIES; i++) {
		if (publish())
			return;
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	snapshots_publish(NULL);
}

/* Sets who changes the list, or says in `owner` who does. */
static bool change_try(int *owner)
{
	int tid = sys_gettid();

	*owner = 0;
	return atomic_compare_exchange_strong(&changing, owner, tid);
}

static void change_begin(void)
{
	int owner;

	while (!change_try(&owner))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

/*
 * Lock order: the list's lock is taken after the loader's, never before it.  So the scan sees what
 * is loaded, and no other lock is waited for while the list's is held.
 */
struct scan {
	bool begun, changed;
};

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct scan *scan = argument;
	const struct image image = {.name = object_name(info->dlpi_name),
				    .bias = info->dlpi_addr,
				    .phdr = info->dlpi_phdr,
				    .count = info->dlpi_phnum};

	(void)size;
	if (!scan->begun)
		change_begin();
	scan->begun = true;
	scan->changed |= note_object(&image);
	return 0;
}

static bool drop_unseen(void)
{
	bool changed = false;

	for (uint32_t i = 0; i < segment_count; i++) {
		struct segment *segment = &segments[i];

		if (segment->loaded && !segment->seen) {
			segment->loaded = false;
			log_unmap(segment);
			changed = true;
		}
		segment->seen = false;
	}
	return changed;
}

bool modules_update(void)
{
	struct scan scan = {0};

	if (!segments || loader_lost)
		return false;
	dl_iterate_phdr(visit, &scan);
	if (!scan.begun)
		return false;
	if (drop_unseen() || scan.changed || unpublished)
		publish_at_last();
	atomic_store(&changing, 0);
	return true;
}

static void note_staying(uint64_t bias)
{
	change_begin();
	for (uint32_t i = 0; i < segment_count; i++)
		if (segments[i].loaded && segments[i].module.bias == bias)
			segments[i].module.stays = true;
	unpublished = true;
	atomic_store(&changing, 0);
}

void modules_note_staying(void)
{
	static _Atomic bool noted;

	if (!atomic_exchange(&noted, true) && !loader_lost)
		startup_for_each_object(note_staying);
}

void modules_after_fork(bool alone, bool in_use)
{
	loader_lost |= !alone;
	if (in_use)
		snapshots_forget();
}

const char *modules_path_at(uint64_t pc)
{
	for (uint32_t i = 0; i < segment_count; i++)
		if (segments[i].loaded && pc >= segments[i].module.start &&
		    pc < segments[i].module.end)
			return name_of(&segments[i]);
	return "";
}

bool modules_were_at(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < segment_count; i++)
		if (segments[i].module.start < end && start < segments[i].module.end)
			return true;
	return false;
}

void modules_next_epoch(void)
{
	change_begin();
	stacktable_next_epoch();
	publish_at_last(); /* what threads remember of their stacks is of the old epoch */
	atomic_store(&changing, 0);
}

enum unwind_object modules_at(uint64_t pc, const struct unwind_module *known)
{
	struct dl_find_object found;

	if (!_dl_find_object || _dl_find_object((void *)pc, &found))
		return UNWIND_OBJECT_NONE;
	return known && (const void *)known->eh_frame_hdr == found.dlfo_eh_frame
		       ? UNWIND_OBJECT_KNOWN
		       : UNWIND_OBJECT_NEW;
}

/*
 * The object that the loader has found.  If the address was on the stack by chance only, the
 * object may be unloaded meanwhile by another thread.  By who changes the list, as all here is kept
 * once.  False: it is gone.
 */
static bool read_image(struct image *image, const struct dl_find_object *found)
{
	static uint64_t head[HEAD_SIZE / sizeof(uint64_t)];
	static char name[NAME_MAX_HERE];
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)head;
	struct link_map map;

	if (sys_read_memory((uint64_t)found->dlfo_map_start, head, HEAD_SIZE) != HEAD_SIZE ||
	    sys_read_memory((uint64_t)found->dlfo_link_map, &map, sizeof(map)) != sizeof(map) ||
	    !sys_read_memory((uint64_t)map.l_name, name, NAME_MAX_HERE - 1))
		return false;
	if (elf->e_ident[0] != 0x7f || elf->e_ident[1] != 'E' || !elf->e_phoff ||
	    elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff > HEAD_SIZE ||
	    elf->e_phnum > (HEAD_SIZE - elf->e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	*image = (struct image){.name = object_name(name),
				.bias = map.l_addr,
				.phdr = (const ElfW(Phdr) *)((const char *)head + elf->e_phoff),
				.count = elf->e_phnum,
				.may_go = true};
	return true;
}

/* For a moment only: this may be a handler that has interrupted who changes the list. */
static bool change_begin_if(bool patient)
{
	int left = patient ? LEARN_YIELDS : 0, owner;

	while (!change_try(&owner)) {
		if (!left-- || owner == sys_gettid())
			return false;
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	return true;
}

void modules_left(void)
{
	int tid = sys_gettid();

	atomic_compare_exchange_strong(&changing, &tid, 0);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Logs what a mapping has of a segment in the same file. */
static void log_part(const struct map_line *line, uint32_t epoch, const struct segment *segment)
{
	const uint64_t first = segment->file_offset,
		       last = first + (segment->module.end - segment->module.start);
	const uint64_t begin = first > line->offset ? first : line->offset,
		       end = least(last, line->offset + (line->end - line->start));
	struct segment part = *segment;

	if (begin >= end)
		return;
	part.epoch = epoch;
	part.file_offset = begin;
	part.module.start = line->start + (begin - line->offset);
	part.module.end = part.module.start + (end - begin);
	part.module.bias = part.module.start -
			   (segment->module.start - segment->module.bias + (begin - first));
	log_map(&part, line->path, clock_now_ns() - collector.start_ns);
}

bool modules_log_copy(const struct map_line *line, uint32_t epoch)
{
	bool known = false;

	if (!change_begin_if(true))
		return true;
	for (uint32_t i = 0; i < segment_count; i++) {
		if (!segments[i].loaded || !text_equal(name_of(&segments[i]), line->path))
			continue;
		known = true;
		log_part(line, epoch, &segments[i]);
	}
	atomic_store(&changing, 0);
	return known;
}

void modules_log_mapped(const struct map_line *line, uint32_t epoch, const ElfW(Phdr) * load,
			const uint8_t *notes, size_t size)
{
	struct segment segment = {
		.module = {.start = load->p_vaddr, .end = load->p_vaddr + load->p_filesz},
		.file_offset = load->p_offset,
		.flags = load->p_flags};

	read_build_id(&segment, notes, size);
	read_file_facts(&segment, line->path);
	if (!change_begin_if(true))
		return;
	log_part(line, epoch, &segment);
	atomic_store(&changing, 0);
}

struct lesson {
	struct dl_find_object found;
	bool changed;
};

static void learn(void *arg)
{
	struct lesson *lesson = arg;
	struct image image;

	if (read_image(&image, &lesson->found))
		lesson->changed = note_object(&image);
}

bool modules_learn(uint64_t pc, bool patient)
{
	static char stack[32 * 1024] __attribute__((aligned(16))); /* of who changes the list */
	struct lesson lesson = {.changed = false};

	if (!_dl_find_object || !change_begin_if(patient))
		return false;
	if (!_dl_find_object((void *)pc, &lesson.found))
		run_on_stack(stack + sizeof(stack), learn, &lesson);
	if (lesson.changed || unpublished)
		publish();
	const struct unwind_module *module = unwind_module_find(pc);
	bool known = module && modules_at(pc, module) == UNWIND_OBJECT_KNOWN;

	atomic_store(&changing, 0);
	return known;
}

/*
 * The vDSO lies in no file: the founder keeps a copy, so that another machine,
 * or another kernel tomorrow, can name its functions.
 */
void modules_archive_vdso(uint64_t address)
{
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)address;
	char room[PATH_MAX_HERE], id_room[2 * BUILD_ID_MAX + 1] = "";
	struct text path = TEXT_ON(room);
	struct text id = TEXT_ON(id_room);

	for (uint32_t i = 0; address && i < segment_count; i++)
		if (segments[i].module.bias == address)
			text_bytes_hex(&id, segments[i].build_id, segments[i].build_id_size);
	if (!id.length)
		return;
	text_puts(&path, collector.directory);
	text_puts(&path, "/" FORMAT_DIR_ARCHIVES);
	file_make_directory(room);
	text_puts(&path, "/[vdso].");
	text_puts(&path, id_room);
	int fd = file_open(room, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return;
	/* The section headers are the last thing in the image. */
	file_append(fd, elf, elf->e_shoff + (uint64_t)elf->e_shnum * elf->e_shentsize);
	sys_close(fd);
}

int modules_open(void)
{
	char room[128];
	struct text line = TEXT_ON(room);

	text_puts(&line, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<maps>\n");
	gathered.length = 0;
	gathering = true;
	write_line(&line);
	if (!segments)
		segments = map_zeroed(MODULES_MAX * sizeof(*segments));
	if (!name_offsets)
		name_offsets = map_zeroed(MODULES_MAX * sizeof(*name_offsets));
	if (!names)
		names = map_zeroed(NAMES_ROOM);
	/* Attached to again, with more memory perhaps, only what is missing is mapped. */
	if (!segments || !name_offsets || !names)
		return -ENOMEM;
	atomic_store(&changing, 0); /* another thread of the parent may have held it */
	for (uint32_t i = 0; i < segment_count; i++)
		if (segments[i].loaded)
			log_map(&segments[i], name_of(&segments[i]), 0);
	return 0;
}
