/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw finds .dwo files by itself, and knows nothing of packages.  From a
 * package an ELF image is made in memory that is what the .dwo file was, with
 * the skeleton's part of .debug_addr added, because libdw does not know that
 * the two belong together.  Ranges, which need the skeleton's base, are read
 * here for the same reason.
 */
#include "object/split_unit.h"

#include "base/strbuf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_LIMIT = 16, /* of a package's index; 8 are defined */
	PIECE_LIMIT = 12,  /* sections of an image */
	PIECE_ALIGNMENT = 8,
};

/* A unit that was taken out of the package. */
struct extract {
	Elf *elf;
	Dwarf *dwarf;
	uint8_t *image;
};
struct split_package {
	struct elf_file file;
	struct bytes index;
	uint32_t columns, units, slots;
	VEC(struct extract) extracts;
};

/* What the columns of the index stand for. */
struct contribution {
	uint32_t id, version; /* version 0: all */
	const char *section;
};
static const struct contribution contributions[] = {
	{1, 0, ".debug_info.dwo"},	  {3, 0, ".debug_abbrev.dwo"},	 {4, 0, ".debug_line.dwo"},
	{6, 0, ".debug_str_offsets.dwo"}, {8, 5, ".debug_rnglists.dwo"},
};

struct piece {
	const char *name;
	struct bytes bytes;
};
struct pieces {
	struct piece items[PIECE_LIMIT];
	size_t count;
};

static void add_piece(struct pieces *pieces, const char *name, struct bytes bytes)
{
	if (bytes.data && pieces->count < PIECE_LIMIT)
		pieces->items[pieces->count++] = (struct piece){name, bytes};
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

static struct bytes package_section(const struct split_package *package, const char *name)
{
	GElf_Shdr header;

	if (!elf_file_section(&package->file, SHT_PROGBITS, name, &header))
		return (struct bytes){0};
	return elf_file_section_bytes(&package->file, &header);
}

static bool open_package(const char *path, struct split_package *package)
{
	enum { HEADER = 16 };

	if (elf_file_open(path, &package->file) != STATUS_OK)
		return false;
	package->index = package_section(package, ".debug_cu_index");
	package->columns = word_at(package->index, 4);
	package->units = word_at(package->index, 8);
	package->slots = word_at(package->index, 12);

	uint64_t size = HEADER + (uint64_t)package->slots * 12 + (uint64_t)package->columns * 4 +
			(uint64_t)package->columns * package->units * 8;

	if (package->slots && package->columns <= COLUMN_LIMIT && size <= package->index.size)
		return true;
	elf_file_close(&package->file);
	return false;
}

/* PROGRAM.dwp beside the file that has the skeletons, or beside the program. */
static void seek_package(struct lines *lines)
{
	const char *const names[] = {lines->debug.path, lines->request.file, lines->request.path};
	struct split_package *package = xcalloc(1, sizeof(*package));

	lines->has_sought_package = true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path = names[i] ? xasprintf("%s.dwp", names[i]) : NULL;
		bool opened = path && open_package(path, package);

		free(path);
		if (opened) {
			lines->package = package;
			return;
		}
	}
	free(package);
}

/* The row of a unit's contributions in the index, from 1; 0: it is not there. */
static uint32_t find_row(const struct split_package *package, uint64_t id)
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
	for (size_t i = 0; i < sizeof(contributions) / sizeof(*contributions); i++) {
		const struct contribution *known = &contributions[i];

		if (known->id == id && (!known->version || known->version == version))
			return known->section;
	}
	return NULL;
}

/* The unit's parts of the package's sections; strings are common to all units. */
static void add_contributions(const struct split_package *package, uint32_t row,
			      struct pieces *pieces)
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
				  part_of(package_section(package, name),
					  word_at(package->index, offsets + at),
					  word_at(package->index, sizes + at)));
	}
	add_piece(pieces, ".debug_str.dwo", package_section(package, ".debug_str.dwo"));
}

/* What stands behind a base, that one of the attributes has, in a section of the skeleton's file.
 */
static struct bytes behind_base(struct lines *lines, Dwarf_Die *skeleton,
				const unsigned *attributes, const char *section)
{
	struct bytes bytes = debug_info_section(lines->debug.elf, section);
	Dwarf_Attribute attribute;
	Dwarf_Word base = 0;

	for (; *attributes; attributes++)
		dwarf_formudata(dwarf_attr(skeleton, *attributes, &attribute), &base);
	return base < bytes.size ? part_of(bytes, base, bytes.size - base) : (struct bytes){0};
}

/* Where a piece goes, behind what is there already. */
static uint64_t place(uint64_t size)
{
	return (size + PIECE_ALIGNMENT - 1) & ~(uint64_t)(PIECE_ALIGNMENT - 1);
}

/* An ELF file with these sections; *size is its size. */
static uint8_t *make_image(const struct pieces *pieces, uint16_t machine, size_t *size)
{
	Elf64_Shdr headers[PIECE_LIMIT + 2] = {0};
	struct strbuf names = {0};
	uint64_t end = sizeof(Elf64_Ehdr);
	size_t last = pieces->count + 1; /* the section of the names */

	strbuf_putc(&names, '\0');
	for (size_t i = 0; i <= pieces->count; i++) {
		bool is_names = i == pieces->count;
		const char *name = is_names ? ".shstrtab" : pieces->items[i].name;
		Elf64_Shdr *header = &headers[i + 1];

		header->sh_name = (Elf64_Word)names.length;
		strbuf_add(&names, name, strlen(name) + 1);
		header->sh_type = is_names ? SHT_STRTAB : SHT_PROGBITS;
		header->sh_offset = place(end);
		header->sh_size = is_names ? names.length : pieces->items[i].bytes.size;
		header->sh_addralign = 1;
		end = header->sh_offset + header->sh_size;
	}
	*size = place(end) + (last + 1) * sizeof(*headers);

	uint8_t *image = xcalloc(1, *size);
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = place(end),
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(*headers),
		.e_shnum = (Elf64_Half)(last + 1),
		.e_shstrndx = (Elf64_Half)last,
	};

	memcpy(image, &header, sizeof(header));
	for (size_t i = 0; i < pieces->count; i++)
		memcpy(image + headers[i + 1].sh_offset, pieces->items[i].bytes.data,
		       pieces->items[i].bytes.size);
	memcpy(image + headers[last].sh_offset, names.text, names.length);
	memcpy(image + place(end), headers, (last + 1) * sizeof(*headers));
	strbuf_fini(&names);
	return image;
}

/* The first unit of a split file made of these sections. */
static bool open_extract(struct split_package *package, const struct pieces *pieces,
			 uint16_t machine, Dwarf_Die *die)
{
	struct extract extract = {0};
	Dwarf_CU *cu = NULL;
	size_t size;

	extract.image = make_image(pieces, machine, &size);
	extract.elf = elf_memory((char *)extract.image, size);
	extract.dwarf = dwarf_begin_elf(extract.elf, DWARF_C_READ, NULL);
	*vec_push(&package->extracts) = extract;
	return extract.dwarf && !dwarf_get_units(extract.dwarf, NULL, &cu, NULL, NULL, die, NULL);
}

static struct bytes piece_named(const struct pieces *pieces, const char *name)
{
	for (size_t i = 0; i < pieces->count; i++) {
		if (!strcmp(pieces->items[i].name, name))
			return pieces->items[i].bytes;
	}
	return (struct bytes){0};
}

static bool find_in_package(struct lines *lines, struct split_unit *unit, uint64_t id, bool is_old)
{
	static const unsigned address_bases[] = {DW_AT_addr_base, DW_AT_GNU_addr_base, 0};
	static const unsigned range_bases[] = {DW_AT_GNU_ranges_base, 0};
	struct split_ranges *ranges = &unit->ranges;
	Dwarf_Die skeleton = unit->die;
	struct pieces pieces = {0};
	GElf_Ehdr header;

	if (!lines->has_sought_package)
		seek_package(lines);
	uint32_t row = lines->package ? find_row(lines->package, id) : 0;

	if (!row || !gelf_getehdr(lines->debug.elf, &header))
		return false;
	add_contributions(lines->package, row, &pieces);
	ranges->is_old = is_old;
	dwarf_lowpc(&skeleton, &ranges->base);
	ranges->addresses = behind_base(lines, &skeleton, address_bases, "debug_addr");
	ranges->lists = is_old ? behind_base(lines, &skeleton, range_bases, "debug_ranges")
			       : piece_named(&pieces, ".debug_rnglists.dwo");
	/* As .dwo, libdw looks into these. */
	add_piece(&pieces, ".debug_addr.dwo", ranges->addresses);
	if (is_old)
		add_piece(&pieces, ".debug_ranges.dwo", ranges->lists);
	unit->is_packed = open_extract(lines->package, &pieces, header.e_machine, &unit->die);
	return unit->is_packed;
}

static void report_missing(struct lines *lines, Dwarf_Die *skeleton)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &attribute));

	if (!name)
		name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute));
	diag_add_once(lines->diags, DIAG_WARNING,
		      "%s: %s with its debug information is not there; its inlined functions are "
		      "not shown",
		      lines->debug.path, name ? name : "a .dwo file");
}

bool split_unit_find(struct lines *lines, struct unit *unit, struct split_unit *out)
{
	Dwarf_Die split;
	Dwarf_Half version;
	uint64_t id;
	uint8_t type;

	*out = (struct split_unit){0};
	if (dwarf_cu_info(unit->cu, &version, &type, &out->die, &split, &id, NULL, NULL))
		return false;
	if (type != DW_UT_skeleton)
		return true;
	if (split.addr) {
		out->die = split;
	} else if (!find_in_package(lines, out, id, version < 5)) {
		report_missing(lines, &out->die);
		return false;
	}
	lines_table_of_split(lines, out->die.cu, unit->table);
	return true;
}

void split_package_close(struct split_package *package)
{
	if (!package)
		return;
	for (size_t i = 0; i < package->extracts.count; i++) {
		dwarf_end(package->extracts.items[i].dwarf);
		elf_end(package->extracts.items[i].elf);
		free(package->extracts.items[i].image);
	}
	vec_fini(&package->extracts);
	elf_file_close(&package->file);
	free(package);
}
