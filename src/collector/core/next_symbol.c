/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym(RTLD_NEXT) for names that may not be there.  For such a one dlsym allocates a message, with
 * the program's allocator; and this may be called from within that allocator, which on its first
 * call maps memory or takes a lock by functions that are ours.  Chromium's would wait for itself.
 * So the tables of the objects behind ours are read first, and dlsym is asked for what one of them
 * has: that it finds without allocating.
 */
#include "collector/core/next_functions.h"
#include "collector/storage/text.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>

struct search {
	const char *name, *version; /* version NULL: the one that programs are linked with today */
	bool behind;		    /* ours has been passed, */
	bool linker_behind; /* … then the dynamic linker: ours is among the first objects */
	bool found;
};

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const ElfW(Half) * versions;
	const ElfW(Verdef) * definitions;
};

/* The loader adds the bias to addresses in a dynamic section, but not where it cannot write. */
static const void *table_at(const ElfW(Dyn) * entry, uint64_t bias)
{
	uint64_t value = entry->d_un.d_ptr;

	return (const void *)(value < bias ? value + bias : value);
}

static struct tables tables_of(const struct dl_phdr_info *info)
{
	struct tables tables = {0};
	const ElfW(Dyn) *entry = NULL;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *table = table_at(entry, info->dlpi_addr);

		if (entry->d_tag == DT_SYMTAB)
			tables.symbols = table;
		else if (entry->d_tag == DT_STRTAB)
			tables.strings = table;
		else if (entry->d_tag == DT_GNU_HASH)
			tables.gnu_hash = table;
		else if (entry->d_tag == DT_HASH)
			tables.hash = table;
		else if (entry->d_tag == DT_VERSYM)
			tables.versions = table;
		else if (entry->d_tag == DT_VERDEF)
			tables.definitions = table;
	}
	return tables;
}

static bool has_version(const struct tables *tables, const char *version)
{
	const char *at = (const char *)tables->definitions;

	while (at) {
		const ElfW(Verdef) *definition = (const ElfW(Verdef) *)at;
		const ElfW(Verdaux) *aux = (const ElfW(Verdaux) *)(at + definition->vd_aux);

		if (text_equal(tables->strings + aux->vda_name, version))
			return true;
		at = definition->vd_next ? at + definition->vd_next : NULL;
	}
	return !tables->definitions;
}

/* What dlsym takes: of several versions not the hidden ones (glibc, elf/dl-lookup.c). */
static bool is_match(const struct tables *tables, uint32_t index, const struct search *search)
{
	enum { HIDDEN = 0x8000 };
	const ElfW(Sym) *symbol = &tables->symbols[index];

	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    !text_equal(tables->strings + symbol->st_name, search->name))
		return false;
	if (search->version)
		return has_version(tables, search->version);
	return !tables->versions || tables->versions[index] <= (HIDDEN | VER_NDX_GLOBAL);
}

static bool gnu_hash_has(const struct tables *tables, const struct search *search)
{
	enum { HASH_START = 5381, HASH_FACTOR = 33, HEADER_WORDS = 4 };
	const uint32_t *head = tables->gnu_hash;
	uint32_t buckets = head[0], first = head[1], filter_words = head[2], hash = HASH_START;
	const uint32_t *bucket =
		head + HEADER_WORDS + filter_words * (sizeof(ElfW(Addr)) / sizeof(*head));
	const uint32_t *chain = bucket + buckets;

	for (const char *c = search->name; *c; c++)
		hash = hash * HASH_FACTOR + (uint8_t)*c;
	uint32_t index = buckets ? bucket[hash % buckets] : 0;

	if (index < first || !index)
		return false;
	for (;; index++) {
		uint32_t of_symbol = chain[index - first];

		if ((of_symbol | 1) == (hash | 1) && is_match(tables, index, search))
			return true;
		if (of_symbol & 1) /* the last one of its bucket */
			return false;
	}
}

static bool hash_has(const struct tables *tables, const struct search *search)
{
	uint32_t count = tables->hash[1]; /* of symbols */

	for (uint32_t index = 1; index < count; index++)
		if (is_match(tables, index, search))
			return true;
	return false;
}

/* One whose tables cannot be read may have it. */
static bool has(const struct tables *tables, const struct search *search)
{
	if (!tables->symbols || !tables->strings)
		return true;
	if (tables->gnu_hash)
		return gnu_hash_has(tables, search);
	return !tables->hash || hash_has(tables, search);
}

static bool is_ours(const struct dl_phdr_info *info)
{
	static const char here;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    (uint64_t)&here - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static int look_in(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;

	(void)size;
	if (!search->behind) {
		search->behind = is_ours(info);
		return 0;
	}
	search->linker_behind |= info->dlpi_addr == getauxval(AT_BASE);
	const struct tables tables = tables_of(info);

	search->found = has(&tables, search);
	return search->found;
}

/* Whether dlsym may find it. Always, where ours was opened later: then its order is another. */
static bool may_be_there(const char *name, const char *version)
{
	struct search search = {.name = name, .version = version};

	dl_iterate_phdr(look_in, &search);
	return search.found || !search.linker_behind;
}

/* The program comes first. */
static int look_in_program(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	const struct tables tables = tables_of(info);

	(void)size;
	search->found = (tables.gnu_hash || tables.hash) && tables.symbols && tables.strings &&
			has(&tables, search);
	return 1;
}

bool next_program_exports(const char *name)
{
	struct search search = {.name = name};

	dl_iterate_phdr(look_in_program, &search);
	return search.found;
}

void *next_symbol(const char *name)
{
	return may_be_there(name, NULL) ? dlsym(RTLD_NEXT, name) : NULL;
}

void *next_symbol_version(const char *name, const char *version)
{
	return may_be_there(name, version) ? dlvsym(RTLD_NEXT, name, version) : NULL;
}
