/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code below functions: the addresses that call stacks go through, their lines and
 * instructions, and what the events make of them.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_CODE_H
#define HELIO_ANALYSIS_CODE_H

#include "analysis/tree/tally.h"
#include "base/key_numbers.h"
#include "object/lines/lines.h"

struct isa;

/* A distinct address of a load object that a stack goes through. */
struct code_pc {
	uint64_t address;   /* in the object; the last byte of a call, for a caller */
	uint32_t object;    /* of the session */
	uint32_t function;  /* announced ones may have been at one address, one after the other */
	uint32_t file;	    /* for code_file(), or LINES_NONE; after code_need_lines() */
	uint32_t line : 31; /* 0: none */
	bool is_target : 1; /* <branch target>, in front of the instruction at the address */
};
#define CODE_LINE_MAX INT32_MAX

/*
 * The call stacks by pc, those of one process after the other: behind each node is its subtree, so
 * that what lies below it is a run of nodes.
 */
struct code_tree {
	size_t count;
	uint32_t *pc;  /* of each node, or NODE_NONE: a process's root */
	uint32_t *end; /* the first node that is not below it */
	VEC(uint32_t *)
	places; /* of each of session->scanned: its node for every one of its stacks */
	struct kept_sums kept; /* what all events add up to, of a session that has none */
};

/* A function that is a part of another one: f.cold, f.part.0. */
struct code_part {
	uint32_t function, parent;
};

struct code {
	VEC(struct code_pc) pcs;
	struct key_numbers known;	       /* code_hash() → pc; while the pcs are found */
	struct hash_map sources;	       /* function → the file of its first line, plus 1 */
	struct string_table announced_sources; /* of the functions before the one that is next */
	VEC(uint32_t) announced_first;	       /* the first function of each of them */
	uint32_t announced_next;
	VEC(struct code_part) parts; /* after code_need_parts() */
	uint32_t parts_sought;	     /* the functions before this one have been looked at */
	VEC(uint32_t *) processes;   /* of each of session->scanned: the pc of every location */
	uint32_t *order;	     /* of the pcs, by load object, function and address */
	struct hash_map has_lines;   /* load objects of whose pcs the lines are known */
	uint64_t *instructions;
	struct code_tree tree;
	/* from the cache: */
	VEC(const char *) units; /* names of units */
	struct hash_map unit_of; /* function → place there plus 1, or 0: unknown */
	size_t kept_knowledge;	 /* how much of all that has been kept */
};

/* Of a pc with another address: two of one function and address have one. */
uint64_t code_hash(const struct code_pc *pc, uint64_t address);

#define CODE_EVERY_OBJECT UINT32_MAX

/* All of them; made at the first call. */
const struct code *code_of(struct session *session);
/* Fills the lines of the pcs of one load object, or of all: CODE_EVERY_OBJECT. After code_of(). */
void code_need_lines(struct session *session, uint32_t object);
void code_fini(struct session *session);

/* code_sums.c: the tree, when all pcs are known, and its end. */
void code_make_tree(struct session *session);
void code_tree_fini(struct code *code);
/* What the chosen events add up to at the nodes of the tree. After code_of(). */
const struct finished_sums *code_weights(struct tally *tally);

/*
 * What the chosen events make of groups of pcs: an event counts for a group exclusively where
 * its stack's leaf is in it, inclusively once where any pc of its stack is.
 */
struct code_sums {
	struct finished_sums exclusive, inclusive;
	struct measure_sums total; /* one place */
};
/* group: by pc, or NODE_NONE: in none. The caller's to free with code_sums_fini. */
void code_count(struct tally *tally, const uint32_t *group, uint32_t groups, struct code_sums *out);
/* The same without a measure that nobody asks for: of many groups it takes memory. */
void code_count_but(struct tally *tally, const uint32_t *group, uint32_t groups,
		    enum measure left_out, struct code_sums *out);
/* Adds to a group what was spent in code that a Java machine has compiled, of methods that are
 * innermost there: of a method, all of which is in other groups, too. */
void code_count_compiled(struct tally *tally, uint32_t function, uint32_t group,
			 struct code_sums *out);
void code_sums_fini(struct code_sums *sums);
/* The value of a column in a group. */
double code_value(const struct code_sums *sums, uint32_t group, const struct metric_choice *choice);
double code_total(const struct code_sums *sums, const struct metric_choice *choice);

/*
 * By pc, the first address of the instruction that it is in, or itself where that is unknown.
 * After code_of(); lives as long.
 */
const uint64_t *code_instructions(struct session *session);

/* Fills the parts, of all functions that there are by now. After code_of(). */
void code_need_parts(struct session *session);

/* code_text.c: after code_of(). */

/* Whether it is a method of Java, at the addresses of its bytecode. */
bool code_is_bytecode(const struct function *function);
/* The lines of a load object, or NULL: it has no file. */
struct lines *code_lines(struct session *session, uint32_t object);
/* The path of a source file of a load object; lives as long as the session. */
const char *code_file(struct session *session, uint32_t object, uint32_t file);
/* Its last part. */
const char *code_file_name(struct session *session, uint32_t object, uint32_t file);
/* The file of a function's first line, its source context, or LINES_NONE. */
uint32_t code_source_of(struct session *session, uint32_t function);
/* What the object file of a function was made from, as recorded; NULL: unknown. */
const char *code_unit(struct session *session, uint32_t function);
/* Adds the rows of a function's code as lines_in_range() does. */
void code_rows(struct session *session, uint32_t function, struct line_rows *rows);
/* The bytes of a function and how many there are, arena-allocated; NULL: not there. */
const uint8_t *code_bytes(struct session *session, uint32_t function, struct arena *arena,
			  uint64_t *size);
/* A decoder for a function's instructions, or NULL; the arena has to live as long. */
struct isa *code_isa(struct session *session, uint32_t function, struct arena *arena);
/* Fills the lines of pcs of one load object, which are sorted by function and address. */
void code_find_lines(struct session *session, const uint32_t *order, size_t count);

#endif
