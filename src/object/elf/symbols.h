/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From symbol tables to functions: one list of symbols, collected from several
 * files, sorted, with one entry left for each address.
 */
#ifndef HELIO_OBJECT_SYMBOLS_H
#define HELIO_OBJECT_SYMBOLS_H

#include "base/arena.h"
#include "base/memory.h"
#include "object/code_range.h"
#include "object/elf/elf_file.h"

/* Disjoint ranges of code, sorted: the executable sections, each for itself. */
struct code_ranges {
	struct code_range *items;
	size_t count, capacity;
};

/* Executable sections; where there are no section headers, executable segments. */
void code_ranges_read(const struct elf_file *file, struct code_ranges *ranges);
/* Made one by one: added, then sorted, which cuts off what overlaps the range before. */
void code_ranges_add(struct code_ranges *ranges, uint64_t start, uint64_t size);
void code_ranges_sort(struct code_ranges *ranges);
/* The range that holds the address, or NULL. */
const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t address);

/* Of several symbols at one address, the later kind names the function. */
enum symbol_kind {
	SYMBOL_LABEL,	 /* STT_NOTYPE */
	SYMBOL_PLT,	 /* named by us after what it jumps to */
	SYMBOL_FUNCTION, /* STT_FUNC, STT_GNU_IFUNC; of data: STT_OBJECT */
};

struct symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *alias_list; /* as in struct object_function */
	enum symbol_kind kind;
	bool is_resolver; /* STT_GNU_IFUNC; of a merged symbol: one of them is */
};
struct symbol_list {
	struct symbol *items;
	size_t count, capacity;
	size_t text_size; /* of the string tables behind the names */
	size_t left_out;  /* symbols that were not read, because names lie in one another */
};

/* Addresses, sorted. */
struct address_list {
	uint64_t *items;
	size_t count, capacity;
};

/*
 * Adds the symbols of the file's first table of that type (SHT_SYMTAB,
 * SHT_DYNSYM) that are of the types and lie in the ranges; the arena keeps their names.  Left out:
 * .L… labels and mapping symbols ($x, $d).  Symbol versions are cut off.
 */
enum {
	SYMBOLS_OF_CODE = 1 << STT_FUNC | 1 << STT_GNU_IFUNC | 1 << STT_NOTYPE,
	SYMBOLS_OF_DATA = 1 << STT_OBJECT,
};
void symbols_read(const struct elf_file *file, uint32_t table_type, unsigned types,
		  const struct code_ranges *ranges, struct symbol_list *symbols,
		  struct arena *arena);

/*
 * Sorts by address and leaves one symbol per address: the alphabetically last
 * name, functions before labels; the greatest size among symbols of its kind.
 */
void symbols_merge(struct symbol_list *symbols, struct arena *arena);
/* The symbol at exactly this address in a merged list, or NULL. */
const struct symbol *symbols_find(const struct symbol_list *symbols, uint64_t address);

/* What tells the ends of functions whose symbols do not. */
struct code_ends {
	const struct elf_file *file;
	const struct code_ranges *ranges;
	const struct address_list *entries, *frames; /* of entries_read() */
	bool is_stripped; /* functions without symbols may lie behind one that has one */
};

/*
 * Gives every symbol of a merged list a size: one without reaches up to the
 * next symbol, the next known entry point, the end that its entry's frame description tells, or
 * the end of the range or of the function around it.  In a stripped file it ends, where there is no
 * frame description, at the first padding behind a return.  Sizeless labels inside a function are
 * removed.
 */
void symbols_extend(struct symbol_list *symbols, const struct code_ends *ends);

/*
 * Adds a symbol NAME@plt for every PLT slot that can be named, and merges.
 * The list must be merged: it names what indirect functions resolve to.
 */
void plt_read(const struct elf_file *file, struct symbol_list *symbols, struct arena *arena);

/*
 * Where functions begin according to .eh_frame_hdr; empty if there is none.  frames: the addresses
 * of their frame descriptions, in the same order, or empty.
 */
void entries_read(const struct elf_file *file, struct address_list *entries,
		  struct address_list *frames);
/* The size of the code that a frame description is about; 0: not known. */
uint64_t entries_code_size(const struct elf_file *file, uint64_t frame);
/* The aligned address behind the first return that padding follows, or the limit. */
uint64_t entries_next_padding(const struct elf_file *file, uint64_t start, uint64_t limit);

#endif
