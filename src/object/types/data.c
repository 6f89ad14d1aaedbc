/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read when somebody asks, which few do: from the file once more, since the symbols
 * of functions are all that is kept of it.
 */
#include "object/types/data.h"

#include "base/search.h"

#include <stdlib.h>

void data_ranges_read(const struct elf_file *file, struct data_symbols *data)
{
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));)
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
		    !(header.sh_flags & (SHF_EXECINSTR | SHF_TLS)))
			code_ranges_add(&data->ranges, header.sh_addr, header.sh_size);
	code_ranges_sort(&data->ranges);
}

void data_symbols_read(const struct elf_file *file, struct data_symbols *data)
{
	symbols_read(file, SHT_SYMTAB, SYMBOLS_OF_DATA, &data->ranges, &data->symbols,
		     &data->arena);
	symbols_read(file, SHT_DYNSYM, SYMBOLS_OF_DATA, &data->ranges, &data->symbols,
		     &data->arena);
}

void data_symbols_finish(struct data_symbols *data)
{
	symbols_merge(&data->symbols, &data->arena);
}

const struct symbol *data_symbols_find(const struct data_symbols *data, uint64_t address)
{
	const struct symbol *symbols = data->symbols.items;
	size_t low = VEC_UP_TO(&data->symbols, address, address);

	if (!low)
		return NULL;

	const struct symbol *symbol = &symbols[low - 1];

	return address - symbol->address < symbol->size || address == symbol->address ? symbol
										      : NULL;
}

void data_symbols_fini(struct data_symbols *data)
{
	vec_fini(&data->ranges);
	vec_fini(&data->symbols);
	arena_fini(&data->arena);
}
