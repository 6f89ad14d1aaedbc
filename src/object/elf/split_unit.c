/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw would open .dwo files by itself, whatever has their name: it waits for good at a pipe.  So
 * it is never asked for split units, and knows nothing of packages anyway.  From a package or a
 * .dwo file an ELF image is made in memory that is what the .dwo file was, with the skeleton's part
 * of .debug_addr added, because libdw does not know that the two belong together.  Ranges, which
 * need the skeleton's base, are read here for the same reason.
 */
#include "object/elf/split_unit.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "object/elf/debug_guard.h"
#include "object/lines/path.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STRINGS ".debug_str.dwo"

enum {
	COLUMN_LIMIT = 16, /* of a package's index; 8 are defined */
	PIECE_LIMIT = 12,  /* sections of an image, but for their names */
	PAGE = 4096,
	/* Each unit has a copy of its .dwo file, which is of no other as a rule: so many times the
	   size of all of them, and so many bytes more, are copied. */
	COPIES = 4,
	COPIES_ROOM = 16 << 20,
};

/* A unit that was taken out of a file. */
struct extract {
	Elf *elf;
	Dwarf *dwarf;
	uint8_t *image;
	size_t size;
	struct elf_file file; /* the .dwo file, where it is no package's */
};
struct package {
	struct elf_file file;
	int fd; /* of the same bytes; -1: there is no package */
	struct bytes index;
	uint32_t columns, units, slots;
};
struct found_unit {
	bool is_found;
	struct split_unit unit;
};
struct split_store {
	struct package package;
	VEC(struct extract) extracts;
	struct hash_map sought; /* the index in `found`, by the skeleton */
	VEC(struct found_unit) found;
	struct hash_map files; /* .dwo files, by their content */
	uint64_t files_size, copied_size;
};

/* What the columns of the index stand for. */
struct contribution {
	uint32_t id, version; /* version 0: all */
	const char *section;
};
static const struct contribution contributions[] = {
	{1, 0, ".debug_info.dwo"},	  {3, 0, ".debug_abbrev.dwo"},	 {4, 0, ".debug_line.dwo"},
	{6, 0, ".debug_str_offsets.dwo"}, {8, 5, ".debug_rnglists.dwo"}, {5, 2, ".debug_loc.dwo"},
	{5, 5, ".debug_loclists.dwo"},
};

/* A section of an image. Each begins on a page of its own. */
struct piece {
	const char *name;
	struct bytes bytes;
	uint64_t mapped_from; /* offset in the package: mapped, not copied; 0: copied */
};
struct pieces {
	struct piece items[PIECE_LIMIT + 1];
	size_t count;
};

static void add_piece(struct pieces *pieces, const char *name, struct bytes bytes)
{
	if (bytes.data && pieces->count < PIECE_LIMIT)
		pieces->items[pieces->count++] = (struct piece){.name = name, .bytes = bytes};
}

static uint32_t word_at(struct bytes bytes, uint64_t offset)
{
	struct cursor cursor = cursor_at(bytes, offset);

	return (uint32_t)cursor_number(&cursor, sizeof(uint32_t));
}

static struct bytes part_of(struct bytes bytes, uint64_t offset, uint64_t size)
{
	if (offset > bytes.size || size > bytes.size - offset)
		return (struct bytes){0};
	return (struct bytes){bytes.data + offset, size};
}

static struct bytes section_bytes(const struct elf_file *file, const char *name)
{
	GElf_Shdr header;

	if (!elf_file_section(file, SHT_PROGBITS, name, &header))
		return (struct bytes){0};
	return elf_file_section_bytes(file, &header);
}

/* The bytes of an image that does not lie in its file; -1: no memory. */
static int memory_file(const struct elf_file *file)
{
	int fd = memfd_create("package", MFD_CLOEXEC);
	size_t done = 0;

	for (ssize_t got = 1; fd >= 0 && done < file->size && got > 0; done += (size_t)got)
		got = write(fd, file->image + done, file->size - done);
	if (fd >= 0 && done < file->size) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool open_package(const char *path, struct package *package)
{
	enum { HEADER = 16 };

	if (elf_file_open(path, &package->file) != STATUS_OK)
		return false;
	package->index = section_bytes(&package->file, ".debug_cu_index");
	package->columns = word_at(package->index, 4);
	package->units = word_at(package->index, 8);
	package->slots = word_at(package->index, 12);

	uint64_t size = HEADER + (uint64_t)package->slots * 12 + (uint64_t)package->columns * 4 +
			(uint64_t)package->columns * package->units * 8;

	if (package->slots && package->columns <= COLUMN_LIMIT && size <= package->index.size) {
		bool is_inflated = package->file.size > package->file.file_size;

		package->fd = is_inflated || package->file.is_copy ? memory_file(&package->file)
								   : folder_open_named(path, NULL);
		if (package->fd >= 0)
			return true;
	}
	elf_file_close(&package->file);
	return false;
}

/* PROGRAM.dwp beside the file that has the skeletons, or beside the program. */
static void seek_package(struct lines *lines)
{
	const char *const names[] = {lines->debug.path, lines->request.file, lines->request.path};
	struct package *package = &lines->split->package;
	bool opened = false;

	package->fd = -1;
	for (size_t i = 0; i < COUNT(names) && !opened; i++) {
		char *path = names[i] ? xasprintf("%s.dwp", names[i]) : NULL;

		opened = path && open_package(path, package);
		free(path);
	}
}

/* The row of a unit's contributions in the index, from 1; 0: it is not there. */
static uint32_t find_row(const struct package *package, uint64_t id)
{
	const uint64_t ids = 16, rows = ids + (uint64_t)package->slots * 8;

	for (uint32_t slot = 0; slot < package->slots; slot++) {
		struct cursor cursor = cursor_at(package->index, ids + (uint64_t)slot * 8);
		uint32_t row = word_at(package->index, rows + (uint64_t)slot * 4);

		if (row && row <= package->units && cursor_number(&cursor, 8) == id)
			return row;
	}
	return 0;
}

static const char *section_of_column(uint32_t id, uint32_t version)
{
	for (size_t i = 0; i < COUNT(contributions); i++) {
		const struct contribution *known = &contributions[i];

		if (known->id == id && (!known->version || known->version == version))
			return known->section;
	}
	return NULL;
}

/* Strings are common to all units, and many. */
static void add_strings(const struct package *package, struct pieces *pieces)
{
	struct bytes bytes = section_bytes(&package->file, STRINGS);

	if (!bytes.data)
		return;
	add_piece(pieces, STRINGS, bytes);
	pieces->items[pieces->count - 1].mapped_from = (uint64_t)(bytes.data - package->file.image);
}

/* The unit's parts of the package's sections. */
static void add_contributions(const struct package *package, uint32_t row, struct pieces *pieces)
{
	uint64_t columns = 16 + (uint64_t)package->slots * 12;
	uint64_t offsets = columns + (uint64_t)row * package->columns * 4;
	uint64_t sizes = offsets + (uint64_t)package->units * package->columns * 4;
	uint32_t version = word_at(package->index, 0) & UINT16_MAX;

	for (uint32_t i = 0; i < package->columns; i++) {
		uint64_t at = (uint64_t)i * 4;
		const char *name =
			section_of_column(word_at(package->index, columns + at), version);

		if (name)
			add_piece(pieces, name,
				  part_of(section_bytes(&package->file, name),
					  word_at(package->index, offsets + at),
					  word_at(package->index, sizes + at)));
	}
	add_strings(package, pieces);
}

/* What stands behind a base, that one of the attributes has, in a section of the skeleton's file.
 */
static struct bytes behind_base(struct lines *lines, Dwarf_Die *skeleton,
				const unsigned *attributes, const char *section)
{
	struct bytes bytes = elf_debug_section(lines->debug.own.elf, section);
	Dwarf_Attribute attribute;
	Dwarf_Word base = 0;

	for (; *attributes; attributes++)
		dwarf_formudata(dwarf_attr(skeleton, *attributes, &attribute), &base);
	return base < bytes.size ? part_of(bytes, base, bytes.size - base) : (struct bytes){0};
}

/* Where a piece goes behind what is there already: where pages of a file can be mapped. */
static uint64_t place(uint64_t end, const struct piece *piece)
{
	uint64_t page = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);

	return page + piece->mapped_from % PAGE;
}

static bool fill(uint8_t *image, uint64_t offset, const struct piece *piece, int fd)
{
	uint64_t before = piece->mapped_from % PAGE;

	if (piece->mapped_from)
		return mmap(image + offset - before, piece->bytes.size + before,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
			    (off_t)(piece->mapped_from - before)) != MAP_FAILED;
	memcpy(image + offset, piece->bytes.data, piece->bytes.size);
	return true;
}

/* Headers for the pieces, and for their names, which become the last piece. */
static uint64_t make_headers(struct pieces *pieces, struct strbuf *names, Elf64_Shdr *headers)
{
	uint64_t end = sizeof(Elf64_Ehdr);

	strbuf_putc(names, '\0');
	for (size_t i = 0; i < pieces->count; i++) {
		headers[i + 1].sh_name = (Elf64_Word)names->length;
		strbuf_add(names, pieces->items[i].name, strlen(pieces->items[i].name) + 1);
	}
	pieces->items[pieces->count++] =
		(struct piece){.bytes = {(uint8_t *)names->text, names->length}};
	for (size_t i = 0; i < pieces->count; i++) {
		Elf64_Shdr *header = &headers[i + 1];

		header->sh_type = i + 1 < pieces->count ? SHT_PROGBITS : SHT_STRTAB;
		header->sh_offset = place(end, &pieces->items[i]);
		header->sh_size = pieces->items[i].bytes.size;
		header->sh_addralign = 1;
		end = header->sh_offset + header->sh_size;
	}
	return end;
}

/* An ELF file with these sections, in pages of its own, or NULL; *size is its size. */
static uint8_t *make_image(struct pieces *pieces, int fd, uint16_t machine, size_t *size)
{
	const struct piece section_headers = {0};
	Elf64_Shdr headers[PIECE_LIMIT + 2] = {0};
	struct strbuf names = {0};
	uint64_t end = place(make_headers(pieces, &names, headers), &section_headers);
	size_t count = pieces->count + 1;
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = end,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(*headers),
		.e_shnum = (Elf64_Half)count,
		.e_shstrndx = (Elf64_Half)(count - 1),
	};

	*size = end + count * sizeof(*headers);
	uint8_t *image =
		mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool filled = image != MAP_FAILED;

	for (size_t i = 0; filled && i < pieces->count; i++)
		filled = fill(image, headers[i + 1].sh_offset, &pieces->items[i], fd);
	strbuf_fini(&names);
	if (image == MAP_FAILED)
		return NULL;
	if (!filled) {
		munmap(image, *size);
		return NULL;
	}
	memcpy(image, &header, sizeof(header));
	memcpy(image + end, headers, count * sizeof(*headers));
	return image;
}

/* The unit with that id of a split file made of these sections. */
static bool open_extract(struct split_store *store, struct pieces *pieces, uint16_t machine,
			 uint64_t id, struct split_unit *out)
{
	struct extract extract = {0};
	Dwarf_CU *cu = NULL;
	uint64_t found;

	extract.image = make_image(pieces, store->package.fd, machine, &extract.size);
	if (!extract.image)
		return false;
	extract.elf = elf_memory((char *)extract.image, extract.size);
	const char *problem = debug_guard_look(extract.elf);

	if (problem) /* which stays, whatever another file of that name is */
		out->problem = problem;
	else
		extract.dwarf = dwarf_begin_elf(extract.elf, DWARF_C_READ, NULL);
	*vec_push(&store->extracts) = extract;
	while (extract.dwarf &&
	       !dwarf_get_units(extract.dwarf, cu, &cu, NULL, NULL, &out->die, NULL)) {
		if (!dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &found, NULL, NULL) && found == id)
			return true;
	}
	return false;
}

/* The unit's part of .debug_addr; in DWARF 5 a header before it tells where it ends. */
static struct bytes addresses_of(struct lines *lines, Dwarf_Die *skeleton, bool is_old)
{
	static const unsigned bases[] = {DW_AT_addr_base, DW_AT_GNU_addr_base, 0};
	enum { HEADER = 8, BEHIND_LENGTH = 4 };
	struct bytes section = elf_debug_section(lines->debug.own.elf, "debug_addr");
	struct bytes bytes = behind_base(lines, skeleton, bases, "debug_addr");

	if (is_old || !bytes.data || bytes.data - section.data < HEADER)
		return bytes;
	uint32_t length =
		word_at(section, (uint64_t)(bytes.data - section.data) - HEADER) - BEHIND_LENGTH;

	if (length < bytes.size)
		bytes.size = length;
	return bytes;
}

static struct bytes piece_named(const struct pieces *pieces, const char *name)
{
	for (size_t i = 0; i < pieces->count; i++) {
		if (!strcmp(pieces->items[i].name, name))
			return pieces->items[i].bytes;
	}
	return (struct bytes){0};
}

/* What libdw has to be told of a unit. */
struct request {
	uint64_t id;
	bool is_old; /* before DWARF 5 */
	Dwarf_Die skeleton;
};

/* Opens the unit that these sections are of. */
static bool open_pieces(struct lines *lines, const struct request *request, struct pieces *pieces,
			struct split_unit *out)
{
	static const unsigned range_bases[] = {DW_AT_GNU_ranges_base, 0};
	struct split_ranges *ranges = &out->ranges;
	Dwarf_Die skeleton = request->skeleton;
	GElf_Ehdr header;

	if (!gelf_getehdr(lines->debug.own.elf, &header))
		return false;
	ranges->is_old = request->is_old;
	dwarf_lowpc(&skeleton, &ranges->base);
	ranges->addresses = addresses_of(lines, &skeleton, request->is_old);
	ranges->lists = request->is_old ? behind_base(lines, &skeleton, range_bases, "debug_ranges")
					: piece_named(pieces, ".debug_rnglists.dwo");
	out->locations = *ranges;
	out->locations.lists =
		piece_named(pieces, request->is_old ? ".debug_loc.dwo" : ".debug_loclists.dwo");
	/* As .dwo, libdw looks into these. */
	add_piece(pieces, ".debug_addr.dwo", ranges->addresses);
	if (request->is_old)
		add_piece(pieces, ".debug_ranges.dwo", ranges->lists);
	out->is_packed = open_extract(lines->split, pieces, header.e_machine, request->id, out);
	return out->is_packed;
}

static bool find_in_package(struct lines *lines, const struct request *request,
			    struct split_unit *out)
{
	const struct package *package = &lines->split->package;
	struct pieces pieces = {0};
	uint32_t row = package->fd >= 0 ? find_row(package, request->id) : 0;

	if (!row)
		return false;
	add_contributions(package, row, &pieces);
	return open_pieces(lines, request, &pieces, out);
}

/* The sections of a .dwo file. */
static void add_sections(const struct elf_file *file, struct pieces *pieces)
{
	for (size_t i = 0; i < COUNT(contributions); i++)
		add_piece(pieces, contributions[i].section,
			  section_bytes(file, contributions[i].section));
	add_piece(pieces, ".debug_types.dwo", section_bytes(file, ".debug_types.dwo"));
	add_piece(pieces, STRINGS, section_bytes(file, STRINGS));
}

static const char *dwo_name(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &attribute));

	return name ? name : dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute));
}

/* The .dwo file where the skeleton says, or beside the file that has the skeleton. */
static bool open_split_file(struct lines *lines, Dwarf_Die *skeleton, struct elf_file *out)
{
	Dwarf_Attribute attribute;
	const char *name = dwo_name(skeleton);
	const char *directory = dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &attribute));
	const char *slash = strrchr(lines->debug.path, '/');
	char *beside =
		slash ? xstrndup(lines->debug.path, (size_t)(slash - lines->debug.path)) : NULL;
	const char *const places[] = {directory, beside};
	bool opened = false;

	for (size_t i = 0; i < 2 && name && !opened; i++) {
		char *path = path_join(places[i], name);

		opened = elf_file_open(path, out) == STATUS_OK;
		free(path);
	}
	free(beside);
	return opened;
}

/* Thousands of skeletons may name one file. */
static void count_copy(struct split_store *store, const struct elf_file *file)
{
	uint64_t key = hash_text(file->image, file->size);

	store->copied_size += file->size;
	if (hash_map_get(&store->files, key) == HASH_NONE) {
		hash_map_put(&store->files, key, 0);
		store->files_size += file->size;
	}
}

static bool find_in_file(struct lines *lines, const struct request *request, struct split_unit *out)
{
	struct pieces pieces = {0};
	Dwarf_Die skeleton = request->skeleton;
	struct split_store *store = lines->split;
	struct elf_file file;
	size_t before = store->extracts.count;

	if (store->copied_size > COPIES * store->files_size + COPIES_ROOM ||
	    !open_split_file(lines, &skeleton, &file))
		return false;
	count_copy(store, &file);
	add_sections(&file, &pieces);

	bool found = open_pieces(lines, request, &pieces, out);

	if (store->extracts.count > before) /* lists are read in the file's own bytes */
		store->extracts.items[before].file = file;
	else
		elf_file_close(&file);
	return found;
}

static void report_missing(struct lines *lines, Dwarf_Die *skeleton, const char *problem)
{
	const char *name = dwo_name(skeleton);

	name = name ? name : "a .dwo file";
	if (problem)
		diag_add_once(lines->diags, DIAG_WARNING,
			      "%s: the debug information of %s is damaged: %s; none of it is read",
			      lines->debug.path, name, problem);
	else
		diag_add_once(
			lines->diags, DIAG_WARNING,
			"%s: %s with its debug information is not there; its inlined functions are "
			"not shown",
			lines->debug.path, name);
}

static bool find_split(struct lines *lines, const struct request *request, const struct unit *unit,
		       struct split_unit *out)
{
	if (!find_in_package(lines, request, out) && !find_in_file(lines, request, out)) {
		Dwarf_Die skeleton = request->skeleton;

		report_missing(lines, &skeleton, out->problem);
		return false;
	}
	lines_table_of_split(lines, out->die.cu, unit->table);
	return true;
}

/* The index in what has been found, and found now if it has not been sought. */
static uint32_t seek_once(struct lines *lines, const struct request *request,
			  const struct unit *unit)
{
	uint64_t key = (uint64_t)(uintptr_t)unit->cu;

	if (!lines->split) {
		lines->split = xcalloc(1, sizeof(*lines->split));
		seek_package(lines);
	}
	struct split_store *store = lines->split;
	uint32_t known = hash_map_get(&store->sought, key);

	if (known == HASH_NONE) {
		struct found_unit fresh = {0};

		fresh.is_found = find_split(lines, request, unit, &fresh.unit);
		known = hash_map_put(&store->sought, key, (uint32_t)store->found.count);
		*vec_push(&store->found) = fresh;
	}
	return known;
}

bool split_unit_find(struct lines *lines, struct unit *unit, struct split_unit *out)
{
	struct request request = {0};
	Dwarf_Half version;
	uint8_t type;

	*out = (struct split_unit){0};
	/* never for the split unit, which libdw would seek */
	if (dwarf_cu_info(unit->cu, &version, &type, &out->die, NULL, &request.id, NULL, NULL))
		return false;
	if (type != DW_UT_skeleton)
		return true;
	request.is_old = version < 5;
	request.skeleton = out->die;

	uint32_t at = seek_once(lines, &request, unit);
	const struct found_unit *found = &lines->split->found.items[at];

	*out = found->unit;
	return found->is_found;
}

static bool ranges_in_package(const struct split_unit *unit, Dwarf_Die *die,
			      struct split_cursor *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;

	if (!unit->is_packed || dwarf_formudata(dwarf_attr(die, DW_AT_ranges, &attribute), &offset))
		return false;
	*out = attribute.form == DW_FORM_rnglistx ? split_ranges_with(&unit->ranges, offset)
						  : split_ranges_at(&unit->ranges, offset);
	return true;
}

bool split_unit_locations(const struct split_unit *unit, Dwarf_Attribute *attribute,
			  struct split_cursor *out)
{
	Dwarf_Word offset;

	if (!unit->is_packed || dwarf_formudata(attribute, &offset))
		return false;
	*out = attribute->form == DW_FORM_loclistx ? split_ranges_with(&unit->locations, offset)
						   : split_ranges_at(&unit->locations, offset);
	return true;
}

void split_unit_each_range(const struct split_unit *unit, Dwarf_Die *die,
			   bool (*visit)(const uint64_t range[2], void *arg), void *arg)
{
	struct split_cursor cursor;
	uint64_t range[2];
	Dwarf_Addr base;
	ptrdiff_t next = 0;

	if (ranges_in_package(unit, die, &cursor)) {
		while (split_ranges_next(&cursor, &range[0], &range[1]) && visit(range, arg))
			;
		return;
	}
	while ((next = dwarf_ranges(die, next, &base, &range[0], &range[1])) > 0 &&
	       visit(range, arg))
		;
}

void split_store_free(struct split_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->extracts.count; i++) {
		struct extract *extract = &store->extracts.items[i];

		dwarf_end(extract->dwarf);
		elf_end(extract->elf);
		munmap(extract->image, extract->size);
		if (extract->file.elf)
			elf_file_close(&extract->file);
	}
	vec_fini(&store->extracts);
	vec_fini(&store->found);
	hash_map_fini(&store->sought);
	hash_map_fini(&store->files);
	if (store->package.fd >= 0) {
		elf_file_close(&store->package.file);
		close(store->package.fd);
	}
	free(store);
}
