/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a register's value, and the arithmetic of that. Private to this module. */
#ifndef HELIO_ANALYSIS_DATA_VALUE_H
#define HELIO_ANALYSIS_DATA_VALUE_H

#include "isa/isa.h"
#include "object/types/variables.h"

enum flow_kind {
	FLOW_NONE,     /* nothing is known */
	FLOW_MULTIPLE, /* a number, `offset` times something; 0: zero */
	FLOW_DISTANCE, /* of something in a thread's block from the thread's pointer */
	FLOW_POINTER,  /* offset bytes into something of a type */
	FLOW_FRAME,    /* offset bytes from the frame's canonical address */
	FLOW_STATIC,   /* the address `offset` of the object */
	FLOW_THREAD,   /* offset bytes from the thread's pointer */
};

struct flow_value {
	enum flow_kind kind;
	/* a pointer that goes along an array: its offset is that in any element, from 0 */
	bool is_moved;
	bool is_strided; /* a pointer to an array's elements, which may lie any distance apart */
	uint32_t type;
	int64_t offset;
	const struct variable *variable; /* that a pointer points into, or NULL */
};

extern const struct flow_value flow_nothing;

static inline struct flow_value flow_value(enum flow_kind kind, int64_t offset)
{
	return (struct flow_value){.kind = kind, .type = TYPE_NONE, .offset = offset};
}

static inline bool flow_is_address(struct flow_value value)
{
	return value.kind >= FLOW_POINTER;
}

/* Registers that were put away: words of the frame that are no variable's. */
enum { FLOW_SLOTS = 16 };
struct flow_slots {
	struct {
		int64_t offset; /* from the frame's canonical address */
		struct flow_value value;
	} items[FLOW_SLOTS];
	uint8_t count;
};
/* What a word holds. */
struct flow_value flow_slot_read(const struct flow_slots *slots, int64_t offset);
/* So many bytes are written: all of them with a value, or in a way that is not known. */
void flow_slot_write(struct flow_slots *slots, int64_t offset, uint64_t size,
		     struct flow_value value);

bool flow_is_same(struct flow_value a, struct flow_value b);
/* A pointer into something of a type; nothing for TYPE_NONE. */
struct flow_value flow_pointer(uint32_t type, int64_t offset);
/* A pointer into a variable. */
struct flow_value flow_into(struct variables *variables, const struct variable *variable,
			    int64_t offset);
/* What a pointer of a type points to. */
struct flow_value flow_pointer_of(struct variables *variables, uint32_t type, int64_t offset);
struct flow_value flow_shifted(struct variables *variables, struct flow_value value,
			       int64_t offset);
/*
 * A pointer to which a multiple of `factor` was added: along an array of what it points to, or
 * along one in it; else nothing is known.  Factor 0: along an array of what it points to.
 */
struct flow_value flow_indexed(struct variables *variables, struct flow_value value,
			       uint64_t factor);

/* A number of which nothing more than a divisor is known; divisor 1 is nothing. */
struct flow_value flow_multiple(uint64_t divisor);
/* The absolute value. */
static inline uint64_t flow_magnitude(int64_t number)
{
	return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}
/* The divisor of a number; 0: it is zero. */
uint64_t flow_factor(struct flow_value value);
/* The divisor of a + b * scale. */
uint64_t flow_common(struct flow_value a, struct flow_value b, uint64_t scale);
/* base + index * scale + displacement, of numbers. */
struct flow_value flow_sum_of_numbers(const struct flow_value *registers,
				      const struct isa_memory *memory);

/* Types; TYPE_NONE is none. */
uint64_t flow_size(struct variables *variables, uint32_t type);
uint32_t flow_plain(struct variables *variables, uint32_t type);
/* The type of the elements of an array, however many dimensions it has. */
uint32_t flow_element(struct variables *variables, uint32_t type);
/* The type of what lies at an offset in something of a type, down to what is no aggregate. */
uint32_t flow_type_at(struct variables *variables, uint32_t type, int64_t offset);

#endif
