/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions: what they do to the flow of control, what they refer to, and
 * their text.  x86-64 (and 32-bit x86) by Zydis, AArch64 by Capstone, Java's
 * bytecode by our own decoder, behind one interface.  No I/O, no global state: a decoder belongs to
 * one thread.
 */
#ifndef HELIO_ISA_ISA_H
#define HELIO_ISA_ISA_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum isa_syntax { ISA_ATT, ISA_INTEL }; /* AArch64 has one syntax only */

enum isa_kind {
	ISA_OTHER,
	ISA_CALL,
	ISA_JUMP,
	ISA_CONDITIONAL_JUMP,
	ISA_RETURN,
	ISA_TRAP,    /* ud2, hlt, int3, brk: nothing runs on behind it */
	ISA_INVALID, /* no instruction: one byte, "(bad)"; AArch64: a word, ".inst 0x…" */
};

struct isa_instruction {
	uint64_t address;
	uint32_t length; /* bytes; never 0 */
	enum isa_kind kind;
	bool has_target;      /* a call or jump to a known address */
	bool has_data;	      /* an operand at an address relative to this instruction */
	bool is_data_written; /* whose text is the address itself */
	bool has_constant;    /* a number of 32 bits or more is loaded: perhaps an address */
	uint64_t target;
	uint64_t data;
	uint64_t constant;
};

/*
 * Names an address: adds "symbol" or "symbol+0x12" to the text and returns
 * true, or adds nothing and returns false.
 */
typedef bool isa_symbolise(uint64_t address, void *arg, struct strbuf *text);

struct isa;

/* How long the instructions are that call the kernel on an ELF machine; 0: not known here. */
unsigned isa_system_call_size(uint16_t elf_machine);
/* Whether so many bytes are one of them. */
bool isa_is_system_call(uint16_t elf_machine, const uint8_t *bytes);

/* A decoder for an ELF machine (EM_X86_64, EM_386, EM_AARCH64); NULL: one that is not known here.
 */
struct isa *isa_new(uint16_t elf_machine);
/* Adds what a constant of a class is, by its place in the constant pool, or adds nothing. */
typedef void isa_constant(uint16_t index, void *arg, struct strbuf *text);
/*
 * One for Java's bytecode; the lower 16 bits of addresses are places in the method.  Where a jump
 * leads is written as such a place.  Constants: NULL: none are known.
 */
struct isa *isa_bytecode_new(isa_constant *constant, void *arg);
void isa_free(struct isa *isa);

/*
 * Decodes the instruction at the beginning of size bytes, size > 0, which are
 * at the address in the program.  A cut off or unknown one is ISA_INVALID.
 */
void isa_decode(struct isa *isa, const uint8_t *bytes, size_t size, uint64_t address,
		struct isa_instruction *out);

/* ---- what an instruction does with memory and with addresses in registers ---- */

/* Registers by their DWARF numbers; of x86-64 the general ones. */
enum { ISA_REGISTERS = 16, ISA_STACK_POINTER = 7, ISA_NO_REGISTER = 0xff };

/* Memory that is read or written: base + index * scale + displacement. */
struct isa_memory {
	uint8_t base, index; /* or ISA_NO_REGISTER; with neither the displacement is the address */
	uint8_t scale;
	bool has_segment; /* relative to the thread's own block */
	bool is_run;	  /* a string instruction: from there on, how far is not known */
	bool is_written;  /* or read and written */
	bool is_stack;	  /* what push, call, return and the like use the stack for */
	uint16_t size;	  /* bytes */
	int64_t displacement;
};

enum isa_move {
	ISA_MOVE_NONE,	       /* nothing below; `changed` tells which registers are others now */
	ISA_MOVE_COPY,	       /* to = from */
	ISA_MOVE_CONSTANT,     /* to = constant */
	ISA_MOVE_ADDRESS,      /* to = the address of memory[0], which is not accessed */
	ISA_MOVE_LOAD,	       /* to = memory[0], a whole register */
	ISA_MOVE_STORE,	       /* memory[0] = from, likewise */
	ISA_MOVE_ADD_CONSTANT, /* to += constant */
	ISA_MOVE_ADD,	       /* to += from */
	ISA_MOVE_ADD_LOAD,     /* to += memory[0] */
	ISA_MOVE_MULTIPLY,     /* to = from * constant */
	ISA_MOVE_CHOICE,       /* to = from, or stays */
};

struct isa_access {
	struct isa_memory memory[2];
	uint8_t count; /* of memory that is accessed */
	enum isa_move move;
	uint8_t to, from;
	bool is_narrow; /* the result has 32 bits: a number, no address */
	int64_t constant;
	int64_t pushed;	  /* added to the stack pointer besides; it is not among `changed` then */
	uint32_t changed; /* a bit per register that has another value afterwards, but for `to` */
};

/*
 * Decodes as isa_decode() and tells what it accesses.  False: invalid, or not known for this
 * machine (AArch64).
 */
bool isa_access(struct isa *isa, const uint8_t *bytes, size_t size, uint64_t address,
		struct isa_instruction *instruction, struct isa_access *out);

/*
 * As isa_decode(), and adds its text: mnemonic, one space, operands, as objdump -d
 * writes them up to spacing.  Targets are "0x401136 <symbol+0x12>"; RIP-relative operands
 * keep their form, "0x2ee4(%rip)", followed by "  # 0x404020 <symbol>"; those of
 * AArch64 are the address itself.  Without a symbol, or with symbolise NULL, the
 * part in angle brackets is left out.
 */
void isa_text(struct isa *isa, const uint8_t *bytes, size_t size, uint64_t address,
	      enum isa_syntax syntax, isa_symbolise *symbolise, void *arg,
	      struct isa_instruction *out, struct strbuf *text);

#endif
