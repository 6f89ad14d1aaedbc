/* SPDX-License-Identifier: Apache-2.0 */
/* Data of an object and its symbols. */
#ifndef HELIO_OBJECT_DATA_H
#define HELIO_OBJECT_DATA_H

#include "object/elf/symbols.h"

/* Zero-initialised is empty. */
struct data_symbols {
	struct code_ranges ranges; /* of the data, not of code */
	struct symbol_list symbols;
	struct arena arena;
};

/* Where the object's data is: sections that are loaded and hold no code. */
void data_ranges_read(const struct elf_file *file, struct data_symbols *data);
/* Adds a file's symbols in these ranges: the object's own, or its debug file's. */
void data_symbols_read(const struct elf_file *file, struct data_symbols *data);
/* After the last file. */
void data_symbols_finish(struct data_symbols *data);
/* The symbol that covers an address, or NULL. */
const struct symbol *data_symbols_find(const struct data_symbols *data, uint64_t address);
void data_symbols_fini(struct data_symbols *data);

#endif
