/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address to its FDE: the binary search table of .eh_frame_hdr, the
 * FDE's header, its CIE.  The search halves without branches, because half of
 * them would be mispredicted, at ten times the cost of a step.
 */
#include "collector/unwind/cfi.h"

#include "collector/unwind/cfi_program.h"

enum {
	PE_OMIT = 0xff,
	PE_FORMAT = 0x0f,
	PE_APPLICATION = 0x70,
	PE_INDIRECT = 0x80,
	PE_PCREL = 0x10,
	PE_SDATA4_DATAREL = 0x3b,
};

struct search_entry {
	int32_t start; /* both relative to .eh_frame_hdr */
	int32_t fde;
} __attribute__((packed, may_alias));

/* The bits of a LEB128 number: how many there were, and the last byte with the sign. */
static uint64_t leb128(struct cfi_reader *reader, unsigned int *bits, uint64_t *last)
{
	uint64_t value = 0;

	*bits = 0;
	do {
		*last = cfi_fixed(reader, 1);
		if (*bits < 64)
			value |= (*last & 0x7f) << *bits;
		*bits += 7;
	} while (*last & 0x80);
	return value;
}

uint64_t cfi_uleb(struct cfi_reader *reader)
{
	unsigned int bits;
	uint64_t last;

	return leb128(reader, &bits, &last);
}

int64_t cfi_sleb(struct cfi_reader *reader)
{
	unsigned int bits;
	uint64_t last;
	uint64_t value = leb128(reader, &bits, &last);

	if (bits < 64 && last & 0x40)
		value |= ~UINT64_C(0) << bits;
	return (int64_t)value;
}

bool cfi_expression(const struct unwind_module *module, int64_t place, struct cfi_reader *reader)
{
	uint64_t size;

	if (place < 0 || (uint64_t)place >= module->map_end - module->map_start)
		return false;
	reader->at = (const uint8_t *)(module->map_start + (uint64_t)place);
	reader->end = (const uint8_t *)module->map_end;
	reader->bad = false;
	size = cfi_uleb(reader);
	if (reader->bad || size > (size_t)(reader->end - reader->at))
		return false;
	reader->end = reader->at + size;
	return true;
}

/* A value in one of the DW_EH_PE formats; relocated if pc-relative, which is all that occurs. */
static uint64_t read_encoded(struct cfi_reader *reader, uint8_t encoding)
{
	uint64_t place = (uint64_t)reader->at;
	uint64_t value;

	switch (encoding & PE_FORMAT) {
	case 0x0:
	case 0x4:
	case 0xc:
		value = cfi_fixed(reader, 8);
		break;
	case 0x1:
		value = cfi_uleb(reader);
		break;
	case 0x2:
		value = cfi_fixed(reader, 2);
		break;
	case 0x3:
		value = cfi_fixed(reader, 4);
		break;
	case 0x9:
		value = (uint64_t)cfi_sleb(reader);
		break;
	case 0xa:
		value = (uint64_t)(int16_t)cfi_fixed(reader, 2);
		break;
	case 0xb:
		value = (uint64_t)(int32_t)cfi_fixed(reader, 4);
		break;
	default:
		reader->bad = true;
		return 0;
	}
	if ((encoding & PE_APPLICATION) == PE_PCREL)
		value += place;
	else if (encoding & (PE_APPLICATION | PE_INDIRECT))
		reader->bad = true;
	return value;
}

static bool inside(const struct unwind_module *module, uint64_t address, uint64_t size)
{
	return address >= module->map_start && address <= module->map_end &&
	       size <= module->map_end - address;
}

/* The FDE that the search table names for `pc`: 0 when there is none. */
static uint64_t search(const struct unwind_module *module, uint64_t pc)
{
	const uint8_t *header = module->eh_frame_hdr;
	uint64_t base = (uint64_t)header;
	struct cfi_reader reader;
	const struct search_entry *entry;
	uint64_t count, half;
	int64_t key;

	if (!header || !inside(module, base, module->eh_frame_hdr_size) ||
	    module->eh_frame_hdr_size < 12)
		return 0;
	/* The only layout that linkers write; anything else counts as no CFI. */
	if (header[0] != 1 || header[3] != PE_SDATA4_DATAREL)
		return 0;
	reader.at = header + 4;
	reader.end = header + module->eh_frame_hdr_size;
	reader.bad = false;
	if (header[1] != PE_OMIT)
		read_encoded(&reader, header[1]);
	count = read_encoded(&reader, header[2]);
	if (reader.bad || !count || count > (size_t)(reader.end - reader.at) / sizeof(*entry))
		return 0;
	entry = (const struct search_entry *)reader.at;
	key = (int64_t)(pc - base);
	if (key < entry->start)
		return 0;
	for (; count > 1; count -= half) {
		half = count / 2;
		entry = entry[half].start <= key ? entry + half : entry;
	}
	return base + (uint64_t)(int64_t)entry->fde;
}

/* The bytes of the CIE or FDE at `address`, after its length. */
static bool open_record(const struct unwind_module *module, uint64_t address,
			struct cfi_reader *reader)
{
	uint64_t size;

	if (!inside(module, address, 4))
		return false;
	reader->at = (const uint8_t *)address;
	reader->end = (const uint8_t *)module->map_end;
	reader->bad = false;
	size = cfi_fixed(reader, 4);
	/* 0xffffffff would be the 64-bit format, which no tool writes to .eh_frame. */
	if (!size || size >= 0xfffffff0 || size > (size_t)(reader->end - reader->at))
		return false;
	reader->end = reader->at + size;
	return true;
}

/* What the CIE's augmentation string promises about it and about its FDEs. */
static bool read_augmentation(struct cfi_reader *reader, const uint8_t *text, struct cfi_cie *cie)
{
	struct cfi_reader data;
	uint64_t size = cfi_uleb(reader);

	if (reader->bad || size > (size_t)(reader->end - reader->at))
		return false;
	data.at = reader->at;
	data.end = reader->at + size;
	data.bad = false;
	reader->at = data.end;
	cie->has_data = true;
	for (; *text; text++) {
		switch (*text) {
		case 'R':
			cie->encoding = (uint8_t)cfi_fixed(&data, 1);
			break;
		case 'L':
			cfi_fixed(&data, 1);
			break;
		case 'P':
			/* The personality routine may be indirect: only its size matters. */
			read_encoded(&data, (uint8_t)cfi_fixed(&data, 1) & PE_FORMAT);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':
			break;
		default:
			/* An unknown letter ends what can be understood, not what is needed. */
			return !data.bad && cie->encoding != PE_OMIT;
		}
	}
	return !data.bad;
}

static bool read_cie(const struct unwind_module *module, uint64_t address, struct cfi_cie *cie)
{
	struct cfi_reader reader;
	const uint8_t *text;
	uint64_t version;

	if (!open_record(module, address, &reader) || cfi_fixed(&reader, 4) != 0)
		return false;
	version = cfi_fixed(&reader, 1);
	text = reader.at;
	while (cfi_fixed(&reader, 1))
		;
	if (reader.bad || (version != 1 && version != 3))
		return false;
	cie->code_align = cfi_uleb(&reader);
	cie->data_align = cfi_sleb(&reader);
	cie->return_column = version == 1 ? cfi_fixed(&reader, 1) : cfi_uleb(&reader);
	cie->encoding = 0;
	cie->signal = false;
	cie->has_data = false;
	if (*text && (*text != 'z' || !read_augmentation(&reader, text + 1, cie)))
		return false;
	cie->program = reader.at;
	cie->end = reader.end;
	return !reader.bad && cie->return_column == CFI_RETURN;
}

enum cfi_answer cfi_find(const struct unwind_module *module, uint64_t pc, struct cfi_row *states,
			 struct cfi_result *result)
{
	uint64_t address = search(module, pc);
	struct cfi_program program;
	struct cfi_reader reader;
	struct cfi_cie cie;
	uint64_t place, start, size;

	if (!address)
		return CFI_NONE;
	if (!open_record(module, address, &reader))
		return CFI_BAD;
	place = (uint64_t)reader.at;
	place -= cfi_fixed(&reader, 4);
	if (reader.bad || !read_cie(module, place, &cie))
		return CFI_BAD;
	start = read_encoded(&reader, cie.encoding);
	size = read_encoded(&reader, cie.encoding & PE_FORMAT);
	if (cie.has_data) {
		uint64_t data = cfi_uleb(&reader);

		if (reader.bad || data > (size_t)(reader.end - reader.at))
			return CFI_BAD;
		reader.at += data;
	}
	if (reader.bad)
		return CFI_BAD;
	if (pc - start >= size)
		return CFI_NONE;
	program = (struct cfi_program){
		.module = module, .cie = &cie, .pc = pc, .location = start, .states = states};
	if (!cfi_program_run(&program, reader.at, reader.end))
		return CFI_BAD;
	result->row = states[1];
	result->module = module;
	result->function = start;
	result->signal = cie.signal;
	return CFI_FOUND;
}
