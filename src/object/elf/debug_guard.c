/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw keeps something of each unit, and of each of them all abbreviations that it has met there,
 * and goes through all attributes of an entry to find one.  In a hostile file units share a table,
 * or tables lie in one another, and 200 KB became 2 GB.  So the heads of the units and the tables
 * are read first, as bytes.  What is said of such a file is that it has no debug information: no
 * compiler writes one.  What inflate.c refused to unpack libdw would.
 */
#include "object/elf/debug_guard.h"

#include "base/hash.h"
#include "object/elf/cursor.h"

#include <dwarf.h>
#include <string.h>

enum {
	ATTRIBUTES_MAX = 256,	/* of an abbreviation; compilers write up to 30 */
	LEAST_BYTES = 4 << 20,	/* of tables, each counted for every unit that has it, */
	BYTES_PER_FILE = 2,	/* and a half of the file's size */
	LEAST_UNITS = 16 << 10, /* and of units one for so many bytes of the file */
	BYTES_PER_UNIT = 256,
};

struct look {
	struct bytes tables;
	struct hash_map sizes; /* of a table, by where it begins */
	uint64_t bytes_left, units_left;
};

/* The size of an abbreviation table, or HASH_NONE: it has more than is left, or than can be. */
static uint32_t read_table(const struct look *look, uint64_t offset)
{
	struct cursor cursor = cursor_at(look->tables, offset);
	const uint8_t *begin = cursor.at;

	while (!cursor.failed && cursor_uleb(&cursor)) {
		unsigned attributes = 0;
		uint64_t name, form;

		cursor_uleb(&cursor);
		cursor_byte(&cursor);
		do {
			name = cursor_uleb(&cursor);
			form = cursor_uleb(&cursor);
			if (form == DW_FORM_implicit_const)
				cursor_sleb(&cursor);
		} while ((name || form) && ++attributes <= ATTRIBUTES_MAX);
		if (attributes > ATTRIBUTES_MAX || (uint64_t)(cursor.at - begin) > look->bytes_left)
			return HASH_NONE;
	}
	return (uint32_t)(cursor.at - begin);
}

/* Whether a unit's table may be read once more. */
static bool spend(struct look *look, uint64_t offset)
{
	uint32_t size = hash_map_get(&look->sizes, offset);

	if (size == HASH_NONE) {
		size = read_table(look, offset);
		if (size == HASH_NONE)
			return false;
		hash_map_put(&look->sizes, offset, size);
	}
	if (size > look->bytes_left || !look->units_left)
		return false;
	look->bytes_left -= size;
	look->units_left--;
	return true;
}

static bool look_at_units(struct look *look, struct bytes units)
{
	struct cursor cursor = cursor_at(units, 0);

	while (!cursor.failed && cursor_left(&cursor)) {
		uint64_t length = cursor_number(&cursor, 4);
		size_t word = length == UINT32_MAX ? 8 : 4;

		if (word == 8)
			length = cursor_number(&cursor, word);
		struct cursor head = cursor;

		if (cursor_number(&head, 2) >= 5)
			cursor_number(&head, 2); /* its type, and the size of an address */
		uint64_t offset = cursor_number(&head, word);

		if (!head.failed && !spend(look, offset))
			return false;
		cursor_skip(&cursor, length);
	}
	return true;
}

static bool is_packed(Elf *elf)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && (!strncmp(name, ".zdebug_", strlen(".zdebug_")) ||
			     (!strncmp(name, ".debug_", strlen(".debug_")) &&
			      header.sh_flags & SHF_COMPRESSED)))
			return true;
	}
	return false;
}

/* Units and tables of a file, or of a split one: the names of its sections have an ending. */
static bool look_at_sections(struct look *look, Elf *elf, const char *abbreviations,
			     const char *info, const char *types)
{
	look->tables = elf_debug_section(elf, abbreviations);
	bool sane = look_at_units(look, elf_debug_section(elf, info)) &&
		    look_at_units(look, elf_debug_section(elf, types));

	hash_map_fini(&look->sizes);
	return sane;
}

const char *debug_guard_look(Elf *elf)
{
	struct look look = {0};
	size_t size = 0;

	elf_rawfile(elf, &size);
	look.bytes_left = LEAST_BYTES + size / BYTES_PER_FILE;
	look.units_left = LEAST_UNITS + size / BYTES_PER_UNIT;
	if (is_packed(elf))
		return "it cannot be unpacked, or would be too large";
	if (look_at_sections(&look, elf, "debug_abbrev", "debug_info", "debug_types") &&
	    look_at_sections(&look, elf, "debug_abbrev.dwo", "debug_info.dwo", "debug_types.dwo"))
		return NULL;
	return "it names the same bytes again and again";
}
