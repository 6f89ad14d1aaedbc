/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of `helio collect`.  What switches a kind of traced data on is a row of that kind, in
 * kinds/option_NAME.c; all others are in options.c.  Private to this module.
 */
#ifndef HELIO_LAUNCH_OPTIONS_PRIVATE_H
#define HELIO_LAUNCH_OPTIONS_PRIVATE_H

#include "launch/options.h"

/* Only for programs that `helio collect` starts: a flag of rows. */
enum { OPTION_STARTS = OPTION_OWN };

/* What the rows fill. */
static inline struct options *options_of(const struct option_parser *parser)
{
	return parser->target;
}

/* heap_option, … */
#define X(NAME, name) extern const struct option name##_option;
FORMAT_KINDS(X)
#undef X

/* Bytes with a unit, as a parameter. */
bool option_read_bytes(const char *text, char param[OPTIONS_TRACE_ROOM]);
/* Bytes between sampled objects of Java where no other number is said. */
#define OPTIONS_JAVA_HEAP_ON "524288"
/* A number with a unit: the first unit of a list is that without a suffix, the last has NULL. */
struct option_unit {
	const char *suffix;
	double scale;
};
/*
 * Reads a decimal number that ends at one of the stop characters or at the end of text.  strtod
 * reads it, but only after a look at its first character: it would also take signs, "inf", "nan"
 * and hexadecimal.
 */
bool option_read_number(const char **text, double *value);
/* Reads one of the suffixes up to `end`, and multiplies by what it stands for. */
bool option_read_unit(const char *text, const char *end, const struct option_unit *units,
		      double *value);

#endif
