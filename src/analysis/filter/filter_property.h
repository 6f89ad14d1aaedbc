/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What properties of events are made of.  A kind of traced data has its own in
 * kinds/NAME_properties.c, NAME_properties.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_FILTER_PROPERTY_H
#define HELIO_ANALYSIS_FILTER_PROPERTY_H

#include "analysis/filter/filter_program.h"
#include "base/array.h"

/* Bits of enum event_kind, by which a property says whose it is. */
#define X(NAME, name) FILTER_##NAME = 1u << (EVENTS_TRACE + TRACE_##NAME),
enum {
	FILTER_CLOCK = 1u << EVENTS_CLOCK,
	FORMAT_KINDS(X) FILTER_ALL = (1u << EVENTS_KINDS) - 1,
};
#undef X

struct filter_properties {
	const struct filter_property *items; /* in the order of `describe` */
	size_t count;
};

/* heap_properties, … */
#define X(NAME, name) extern const struct filter_properties name##_properties;
FORMAT_KINDS(X)
#undef X

#define FILTER_PROPERTIES(array)                                                                   \
	{                                                                                          \
		.items = (array), .count = COUNT(array)                                            \
	}
#define FILTER_PROPERTY(name_, description_, data_, kinds_, ...)                                   \
	{                                                                                          \
		.info = {name_, description_, data_}, .kinds = (kinds_), .load = __VA_ARGS__       \
	}

#define EACH_ROW for (size_t i = 0; i < rows->run->count; i++)

/* Each fills in values of all rows: one value; … a column of enum row_column; … one of the kind's
 * fields. */
void filter_fill(struct filter_slot *slot, size_t count, uint64_t value);
void filter_load(const struct filter_rows *rows, struct filter_slot *slot, unsigned column);
void filter_load_field(const struct filter_rows *rows, struct filter_slot *slot, unsigned field);
/* Marks rows without a value; of no use before all values are there. */
void filter_forget(struct filter_slot *slot, size_t count, uint64_t none);
/* Of events of all kinds: their beginning, ns; the number of their type, or of the clock's state.
 */
void filter_load_begin(const struct filter_rows *rows, struct filter_slot *slot);
void filter_load_type(const struct filter_rows *rows, struct filter_slot *slot);

#endif
