/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a processor must provide for the unwinder: the functions below, and in a header of its own
 * ARCH_SP, ARCH_BP, ARCH_PC (registers by their numbers in DWARF), ARCH_PRESERVED (those that a
 * call preserves), ARCH_RETURN_SIZE, ARCH_RED_ZONE, the kernel's signal frame (ARCH_CONTEXT_*), and
 * arch_regs_of_here.
 */
#ifndef HELIO_COLLECTOR_UNWIND_ARCH_H
#define HELIO_COLLECTOR_UNWIND_ARCH_H

#include "collector/unwind/walk.h"

#if defined(__x86_64__)
#include "collector/unwind/x86_64.h"
#elif defined(__aarch64__)
#include "collector/unwind/aarch64.h"
#else
#error "the unwinder does not know this processor"
#endif

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
