/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are pointers into a copy of the string table: one memcpy instead of
 * one allocation per symbol, and no mapping of a file that could change.
 *
 * Hostile tables: the work is linear (n log n for the sort) in the size of the
 * file, because a name is compared over NAME_LIMIT bytes at most and all
 * alias lists together are no longer than a few string tables.
 */
#include "object/elf/symbols.h"

#include "base/search.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAME_LIMIT = 4096,     /* bytes of names that matter in comparisons */
	ALIAS_LIMIT = 1000,    /* names at one address that are listed */
	ALIAS_TEXT_FACTOR = 4, /* alias lists together, in string tables; the rest is left out */
	/*
	 * Names together, in string tables, beside the size of the symbol table, and bytes: names
	 * may end in one another, and each that is shown is a text of its own.  Symbols beyond are
	 * left out; their code has no names.
	 */
	NAMES_FACTOR = 4,
	NAMES_LEAST = 1 << 20,
};

static int compare_ranges(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void code_ranges_add(struct code_ranges *ranges, uint64_t start, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;

	if (end > start)
		*vec_push(ranges) = (struct code_range){start, end};
}

void code_ranges_sort(struct code_ranges *ranges)
{
	size_t kept = 0;
	uint64_t end = 0;

	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		struct code_range range = ranges->items[i];

		if (kept && range.start < end)
			range.start = end;
		if (range.end <= range.start)
			continue;
		end = range.end;
		ranges->items[kept++] = range;
	}
	ranges->count = kept;
}

void code_ranges_read(const struct elf_file *file, struct code_ranges *ranges)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
	GElf_Shdr section_header;
	GElf_Phdr header;
	size_t count;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		if (gelf_getshdr(section, &section_header) &&
		    (section_header.sh_flags & wanted) == wanted)
			code_ranges_add(ranges, section_header.sh_addr, section_header.sh_size);
	}
	if (!ranges->count && !elf_getphdrnum(file->elf, &count)) {
		for (size_t i = 0; i < count; i++) {
			if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD &&
			    header.p_flags & PF_X)
				code_ranges_add(ranges, header.p_vaddr, header.p_memsz);
		}
	}
	code_ranges_sort(ranges);
}

const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t address)
{
	size_t low = VEC_UP_TO(ranges, start, address);

	if (!low || address >= ranges->items[low - 1].end)
		return NULL;
	return &ranges->items[low - 1];
}

/* Names of places in code that are no functions. */
static bool is_mark(const char *name, unsigned type)
{
	if (name[0] == '.')
		return name[1] == 'L' || type == STT_NOTYPE; /* .annobin_… */
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* A copy of the string table that is NUL-terminated and has NAME for NAME@VERSION. */
static char *copy_strings(struct bytes table, struct arena *arena)
{
	char *copy = arena_alloc(arena, table.size + 1);

	memcpy(copy, table.data, table.size);
	for (char *at = copy; (at = memchr(at, '@', (size_t)(copy + table.size - at))); at++) {
		if (at > copy && at[-1])
			*at = '\0';
	}
	return copy;
}

/* Data of no size is a mark of the linker's, such as the end of a section. */
static bool is_wanted(const GElf_Sym *symbol, unsigned types)
{
	if (types == SYMBOLS_OF_DATA && !symbol->st_size)
		return false;
	return types >> GELF_ST_TYPE(symbol->st_info) & 1 && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx != SHN_ABS && symbol->st_shndx != SHN_COMMON;
}

void symbols_read(const struct elf_file *file, uint32_t table_type, unsigned types,
		  const struct code_ranges *ranges, struct symbol_list *symbols,
		  struct arena *arena)
{
	GElf_Shdr header, strings_header;
	GElf_Sym symbol;
	Elf_Scn *section = elf_file_section(file, table_type, NULL, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	Elf_Scn *strings_section = data ? elf_getscn(file->elf, header.sh_link) : NULL;

	if (!data || !data->d_buf || !gelf_getshdr(strings_section, &strings_header))
		return;
	struct bytes strings = elf_file_section_bytes(file, &strings_header);

	if (!strings.data)
		return;
	const char *names = copy_strings(strings, arena);
	size_t room = NAMES_LEAST + data->d_size + strings.size * NAMES_FACTOR;

	symbols->text_size += strings.size;
	for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
		if (!is_wanted(&symbol, types) || symbol.st_name >= strings.size ||
		    !code_ranges_find(ranges, symbol.st_value))
			continue;
		unsigned type = GELF_ST_TYPE(symbol.st_info);
		const char *name = names + symbol.st_name;

		if (!name[0] || is_mark(name, type))
			continue;
		size_t length = strnlen(name, room);

		if (length == room) {
			symbols->left_out++;
			continue;
		}
		room -= length;
		*vec_push(symbols) = (struct symbol){
			.address = symbol.st_value,
			.size = symbol.st_size,
			.name = name,
			.kind = type == STT_NOTYPE ? SYMBOL_LABEL : SYMBOL_FUNCTION,
			.is_resolver = type == STT_GNU_IFUNC,
		};
	}
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_names(const void *a, const void *b)
{
	return strncmp(*(const char *const *)a, *(const char *const *)b, NAME_LIMIT);
}

/* All names of a group, sorted, once each; NULL for a single one. */
static const char *list_aliases(const struct symbol *group, size_t count, struct arena *arena)
{
	const char *names[ALIAS_LIMIT];
	size_t used = count < ALIAS_LIMIT ? count : ALIAS_LIMIT;
	struct strbuf text = {0};
	const char *result = NULL;

	for (size_t i = 0; i < used; i++)
		names[i] = group[i].name;
	qsort(names, used, sizeof(*names), compare_names);
	if (compare_names(&names[0], &names[used - 1])) {
		for (size_t i = 0; i < used; i++) {
			if (i && !compare_names(&names[i - 1], &names[i]))
				continue;
			if (i)
				strbuf_putc(&text, ' ');
			strbuf_add(&text, names[i], strnlen(names[i], NAME_LIMIT));
		}
		result = arena_strndup(arena, text.text, text.length);
	}
	strbuf_fini(&text);
	return result;
}

/* MPI's functions have two names: the second one, PMPI_Send, is for tools. */
static bool is_for_tools(const char *name)
{
	return !strncmp(name, "PMPI_", strlen("PMPI_")) || !strncmp(name, "pmpi_", strlen("pmpi_"));
}

/* What programs call: Open MPI's for Fortran have a name of the library's at the same address. */
static bool is_of_mpi(const char *name)
{
	return !strncmp(name, "MPI_", strlen("MPI_")) || !strncmp(name, "mpi_", strlen("mpi_"));
}

/* Whether a symbol stands rather for what is at its address. */
static bool is_of_better_kind(const struct symbol *symbol, const struct symbol *best)
{
	if (is_of_mpi(symbol->name) != is_of_mpi(best->name))
		return is_of_mpi(symbol->name);
	return symbol->kind > best->kind;
}

static bool is_better_name(const char *name, const char *best)
{
	if (is_for_tools(name) != is_for_tools(best))
		return is_for_tools(best);
	return compare_names(&name, &best) > 0;
}

/* The one symbol that stands for all at its address. */
static struct symbol merge_group(const struct symbol *group, size_t count)
{
	struct symbol best = group[0];
	uint64_t any_size = best.size;
	bool is_resolver = best.is_resolver;

	for (size_t i = 1; i < count; i++) {
		const struct symbol *symbol = &group[i];

		if (symbol->size > any_size)
			any_size = symbol->size;
		is_resolver |= symbol->is_resolver;
		if (is_of_better_kind(symbol, &best)) {
			best = *symbol;
		} else if (symbol->kind == best.kind) {
			uint64_t size = symbol->size > best.size ? symbol->size : best.size;

			if (is_better_name(symbol->name, best.name))
				best = *symbol;
			best.size = size;
		}
	}
	if (!best.size)
		best.size = any_size;
	best.is_resolver = is_resolver;
	return best;
}

void symbols_merge(struct symbol_list *symbols, struct arena *arena)
{
	struct symbol *items = symbols->items;
	size_t kept = 0;
	size_t alias_room = symbols->text_size * ALIAS_TEXT_FACTOR;

	if (symbols->count)
		qsort(items, symbols->count, sizeof(*items), compare_symbols);
	for (size_t first = 0, next; first < symbols->count; first = next) {
		for (next = first + 1; next < symbols->count; next++) {
			if (items[next].address != items[first].address)
				break;
		}
		struct symbol merged = merge_group(items + first, next - first);

		if (next - first > 1 && !merged.alias_list && alias_room) {
			merged.alias_list = list_aliases(items + first, next - first, arena);
			size_t length = merged.alias_list ? strlen(merged.alias_list) : 0;

			alias_room -= length < alias_room ? length : alias_room;
		}
		items[kept++] = merged;
	}
	symbols->count = kept;
}

const struct symbol *symbols_find(const struct symbol_list *symbols, uint64_t address)
{
	struct symbol key = {.address = address};

	if (!symbols->count)
		return NULL;
	return bsearch(&key, symbols->items, symbols->count, sizeof(key), compare_symbols);
}

/*
 * With -fno-reorder-functions gcc has a function's size include its cold part, which lies behind
 * it and has a symbol of its own.
 */
static void leave_out_part(struct symbol *function, const struct symbol *part)
{
	size_t length = strnlen(function->name, NAME_LIMIT);

	if (function->address + function->size == part->address + part->size &&
	    !strncmp(function->name, part->name, length) &&
	    !strncmp(part->name + length, ".cold", strlen(".cold")))
		function->size = part->address - function->address;
}

/* Where a symbol without a size ends at the latest, by the entries up to the `entry`th. */
static uint64_t find_end(const struct code_ends *ends, uint64_t address, size_t entry,
			 uint64_t limit)
{
	uint64_t start = entry ? ends->entries->items[entry - 1] : 0, size = 0;

	if (entry < ends->entries->count && ends->entries->items[entry] < limit)
		limit = ends->entries->items[entry];
	if (entry && entry <= ends->frames->count)
		size = entries_code_size(ends->file, ends->frames->items[entry - 1]);
	if (size && address - start < size)
		return size < limit - start ? start + size : limit;
	return ends->is_stripped ? entries_next_padding(ends->file, address, limit) : limit;
}

void symbols_extend(struct symbol_list *symbols, const struct code_ends *ends)
{
	const struct address_list *entries = ends->entries;
	struct symbol *items = symbols->items;
	uint64_t around_end = 0; /* where the function around the next symbol ends */
	size_t kept = 0, entry = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		struct symbol symbol = items[i];
		const struct code_range *range = code_ranges_find(ends->ranges, symbol.address);

		if (!range)
			continue;
		uint64_t limit = range->end;

		if (around_end > symbol.address && !symbol.size) {
			if (symbol.kind == SYMBOL_LABEL)
				continue;
			limit = around_end < limit ? around_end : limit;
		}
		if (!symbol.size) {
			if (i + 1 < symbols->count && items[i + 1].address < limit)
				limit = items[i + 1].address;
			while (entry < entries->count && entries->items[entry] <= symbol.address)
				entry++;
			symbol.size = find_end(ends, symbol.address, entry, limit) - symbol.address;
		} else if (symbol.size > limit - symbol.address) {
			symbol.size = limit - symbol.address;
		}
		if (kept)
			leave_out_part(&items[kept - 1], &symbol);
		if (symbol.address + symbol.size > around_end)
			around_end = symbol.address + symbol.size;
		items[kept++] = symbol;
	}
	symbols->count = kept;
}
