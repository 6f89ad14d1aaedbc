/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the unwinder knows of x86-64: register numbers (psABI figure 3.36), the
 * kernel's signal frame, and how to recognise machine code that has no CFI.
 */
#ifndef HELIO_COLLECTOR_UNWIND_X86_64_H
#define HELIO_COLLECTOR_UNWIND_X86_64_H

#include "collector/unwind/walk.h"

enum {
	ARCH_RAX,
	ARCH_RDX,
	ARCH_RCX,
	ARCH_RBX,
	ARCH_RSI,
	ARCH_RDI,
	ARCH_BP,
	ARCH_SP,
	ARCH_R8,
	ARCH_R12 = 12,
	ARCH_R15 = 15,
	ARCH_PC = 16,
};

/* The registers that a call preserves. */
#define ARCH_PRESERVED (1u << ARCH_RBX | 1u << ARCH_BP | 1u << ARCH_SP | 0xfu << ARCH_R12)

enum {
	ARCH_RETURN_SIZE = 8,  /* the return address lies right below the CFA */
	ARCH_RED_ZONE = 128,   /* bytes below sp that a leaf function may use */
	ARCH_CONTEXT_BP = 120, /* in the ucontext, where sp points when a handler has returned */
	ARCH_CONTEXT_SP = 160,
	ARCH_CONTEXT_PC = 168,
};

/* Where the ucontext holds a register, by DWARF number. */
extern const uint8_t arch_context_offset[UNWIND_REGS];

/*
 * The rule for code in `module` (NULL: in none) that has no CFI, when its bytes
 * give one: a signal return trampoline, or a slot of a procedure linkage table.
 * 0: they do not.  `pc` is the address to look up.
 */
uint64_t arch_rule_from_code(const struct unwind_module *module, uint64_t pc);

/* Whether a call instruction lies before an address of code. */
bool arch_is_after_call(const struct walk *walk, uint64_t address);

/* The same for an address outside all modules that may be read. */
bool arch_is_after_foreign_call(struct walk *walk, uint64_t address);

/* The step out of a frame without CFI: frame pointer, or return address at the top of the stack. */
enum step arch_fallback(struct walk *walk);

/*
 * Finds bp of a frame whose CFA is bp + `offset` when bp is not known: the first
 * place above sp that looks as that function's frame would.  `function` is where
 * its code begins.
 */
bool arch_search_bp(struct walk *walk, uint64_t function, int64_t offset);

#endif
