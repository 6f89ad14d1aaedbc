/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a decoder, and the symbols behind what it wrote. */
#include "isa/isa.h"

#include "isa/isa_private.h"

#include <elf.h>

struct isa *isa_new(uint16_t elf_machine)
{
	switch (elf_machine) {
	case EM_X86_64:
		return isa_x86_new(true);
	case EM_386:
		return isa_x86_new(false);
#ifdef HAVE_CAPSTONE
	case EM_AARCH64:
		return isa_aarch64_new();
#endif
	default:
		return NULL;
	}
}

unsigned isa_system_call_size(uint16_t elf_machine)
{
	switch (elf_machine) {
	case EM_X86_64:
	case EM_386:
		return 2;
	case EM_AARCH64:
		return 4;
	default:
		return 0;
	}
}

bool isa_is_system_call(uint16_t elf_machine, const uint8_t *bytes)
{
	if (elf_machine == EM_AARCH64) /* svc */
		return (bytes[0] & 0x1f) == 0x01 && !(bytes[2] & 0xe0) && bytes[3] == 0xd4;
	return (bytes[0] == 0x0f && bytes[1] == 0x05) || /* syscall */
	       (bytes[0] == 0xcd && bytes[1] == 0x80);	 /* int $0x80 */
}

void isa_free(struct isa *isa)
{
	if (isa)
		isa->free(isa);
}

void isa_decode(struct isa *isa, const uint8_t *bytes, size_t size, uint64_t address,
		struct isa_instruction *out)
{
	const struct isa_code code = {bytes, size, address};

	isa->decode(isa, &code, out);
}

bool isa_access(struct isa *isa, const uint8_t *bytes, size_t size, uint64_t address,
		struct isa_instruction *instruction, struct isa_access *out)
{
	const struct isa_code code = {bytes, size, address};

	isa->decode(isa, &code, instruction);
	return isa->access && instruction->kind != ISA_INVALID && isa->access(isa, &code, out);
}

/* Adds " <symbol>", or nothing. */
static void add_symbol(uint64_t address, isa_symbolise *symbolise, void *arg, struct strbuf *text)
{
	struct strbuf name = {0};

	if (symbolise && symbolise(address, arg, &name))
		strbuf_printf(text, " <%s>", name.text);
	strbuf_fini(&name);
}

void isa_text(struct isa *isa, const uint8_t *bytes, size_t size, uint64_t address,
	      enum isa_syntax syntax, isa_symbolise *symbolise, void *arg,
	      struct isa_instruction *out, struct strbuf *text)
{
	const struct isa_code code = {bytes, size, address};

	strbuf_puts(text, isa->text(isa, &code, syntax, out));
	if (out->has_target) {
		add_symbol(out->target, symbolise, arg, text);
	} else if (out->has_data) {
		if (!out->is_data_written)
			strbuf_printf(text, "  # 0x%lx", out->data);
		add_symbol(out->data, symbolise, arg, text);
	}
}
