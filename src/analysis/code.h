/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code below functions: the addresses that call stacks go through, their lines and
 * instructions, and what the events make of them.  Private to this room.
 */
#ifndef HELIO_ANALYSIS_CODE_H
#define HELIO_ANALYSIS_CODE_H

#include "analysis/session.h"
#include "object/lines.h"

/* A distinct address of a load object that a stack goes through. */
struct code_pc {
	uint32_t object; /* of the session */
	uint32_t function;
	uint64_t address; /* in the object; the last byte of a call, for a caller */
	uint32_t file;	  /* for lines_file() of the object, or LINES_NONE */
	uint32_t line;	  /* 0: none */
};

struct code {
	VEC(struct code_pc) pcs;
	struct hash_map known;	   /* object and address → pc; by a hash of both */
	VEC(uint32_t *) processes; /* of each of session->scanned: the pc of every location */
	uint64_t *instructions;
};

/* All of them, with their lines; made at the first call. */
const struct code *code_of(struct session *session);
void code_fini(struct session *session);

/*
 * What the chosen events make of groups of pcs: an event counts for a group exclusively where
 * its stack's leaf is in it, inclusively once where any pc of its stack is.
 */
struct code_sums {
	struct measure_sums exclusive, inclusive;
	struct measure_sums total; /* one place */
};
/* group: by pc. The caller's to free with code_sums_fini. */
void code_count(struct session *session, const uint32_t *group, uint32_t groups,
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

/* The bytes of a function, arena-allocated; NULL: not there. */
const uint8_t *code_bytes(struct session *session, uint32_t function, struct arena *arena);

/* The lines of a load object, or NULL: it has no file. */
struct lines *code_lines(struct session *session, uint32_t object);

#endif
