/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction accesses, by its operand and the debug information: a variable with a
 * fixed address, one on the stack, or something of a type.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_DATA_TRACK_H
#define HELIO_ANALYSIS_DATA_TRACK_H

#include "analysis/data/data_object.h"
#include "object/types/variables.h"

struct data_tracker;

/* Of one load object. */
struct data_tracker *data_tracker_new(struct object *object);
void data_tracker_free(struct data_tracker *tracker);

enum access_kind {
	ACCESS_UNKNOWN,	 /* `reason` says why */
	ACCESS_STATIC,	 /* memory with a fixed address */
	ACCESS_VARIABLE, /* of a thread, or on the stack */
	ACCESS_TYPE,	 /* through a pointer */
};

enum data_argument { ARGUMENT_FIRST, ARGUMENT_SECOND, DATA_ARGUMENTS };

struct data_access {
	enum access_kind kind;
	enum data_reason reason;
	bool is_exact;	  /* static: `address` is what is accessed, not only near to it */
	bool is_anywhere; /* … of any element of an array that there is */
	bool is_run;	  /* `offset` is not known: string instructions, indices of bytes */
	uint16_t size;	  /* bytes */
	uint64_t address; /* in the object */
	const struct variable *variable;
	uint32_t type;	/* of the variable, or pointed to */
	int64_t offset; /* in it */
};

/*
 * The access of the instruction at an address of the object or, `after`, of the one whose end the
 * address is, where a watch point stops.
 */
struct data_access data_track(struct data_tracker *tracker, uint64_t address, bool after);
/*
 * What the argument of a call leads to, somewhere in it: the call holds the address, or ends there.
 */
struct data_access data_track_argument(struct data_tracker *tracker, uint64_t address,
				       enum data_argument argument);
/* Whether the instruction at an address reads or writes memory: only one of them. */
void data_track_direction(const struct data_tracker *tracker, uint64_t address, bool *reads,
			  bool *writes);

#endif
