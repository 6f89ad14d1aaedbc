/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables are walked once, unit by unit, and each row is asked whether a
 * wanted address lies in it: with thousands of addresses that is far cheaper
 * than to look up each, and needs no .debug_aranges.
 */
#include "object/sources.h"

#include "base/memory.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wanted {
	const uint64_t *addresses;
	size_t count;
};

/* Takes "//", "/./" and "/x/../" out of an absolute path, in place. */
static void normalize(char *path)
{
	char *out = path;

	for (const char *in = path; *in;) {
		size_t length = strcspn(in + 1, "/");

		if (length == 2 && !strncmp(in, "/..", 3)) {
			while (out > path && *--out != '/')
				;
		} else if (length && !(length == 1 && in[1] == '.')) {
			memmove(out, in, length + 1);
			out += length + 1;
		}
		in += length + 1;
	}
	*out = '\0';
}

/* Adds a name of the unit's line table, which may be relative to where it was compiled. */
static void add(Dwarf_Die *unit, const char *name, struct string_table *paths)
{
	Dwarf_Attribute attribute;
	const char *directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

	if (!name || (name[0] != '/' && (!directory || directory[0] != '/')))
		return;
	char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", directory, name);

	normalize(path);
	if (*path)
		string_table_add(paths, path);
	free(path);
}

/* Whether a wanted address lies in [start, end). */
static bool holds(const struct wanted *wanted, uint64_t start, uint64_t end)
{
	size_t low = 0, high = wanted->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wanted->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < wanted->count && wanted->addresses[low] < end;
}

static void add_used(Dwarf_Die *unit, const struct wanted *wanted, struct string_table *paths)
{
	Dwarf_Lines *lines;
	size_t count;
	const char *last = NULL;

	if (dwarf_getsrclines(unit, &lines, &count))
		return;
	for (size_t i = 0; i + 1 < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr start, end;
		bool ends = true;

		if (dwarf_lineaddr(line, &start) || dwarf_lineendsequence(line, &ends) || ends ||
		    dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end) ||
		    !holds(wanted, start, end))
			continue;
		const char *name = dwarf_linesrc(line, NULL, NULL);

		if (name != last)
			add(unit, name, paths);
		last = name;
	}
}

static void add_all(Dwarf_Die *unit, struct string_table *paths)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count))
		return;
	for (size_t i = 0; i < count; i++)
		add(unit, dwarf_filesrc(files, i, NULL, NULL), paths);
}

void object_sources(const char *path, const uint64_t *addresses, size_t count,
		    struct string_table *paths)
{
	const struct wanted wanted = {addresses, count};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		if (addresses)
			add_used(&die, &wanted, paths);
		else
			add_all(&die, paths);
	}
	dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
}
