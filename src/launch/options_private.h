/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One option of `helio collect`.  What switches a kind of traced data on is a row of that kind, in
 * kinds/option_NAME.c; all others are in options.c.  Private to this module.
 */
#ifndef HELIO_LAUNCH_OPTIONS_PRIVATE_H
#define HELIO_LAUNCH_OPTIONS_PRIVATE_H

#include "launch/options.h"

struct option_parser {
	struct options *options;
	struct diag_list *diags;
	uint64_t seen; /* a bit for each option */
};

/* A second one is an error; it may stand without its argument. */
enum { OPTION_ONCE = 1, OPTION_ALONE = 2 };

struct option {
	char letter;	      /* 0: none */
	const char *name;     /* the long form; NULL: none */
	const char *argument; /* what follows, for people; NULL: nothing follows */
	unsigned flags;
	/* NULL: not available yet.  False: an error says why. */
	bool (*take)(struct option_parser *parser, const char *argument);
	const char *help;
};

/* heap_option, … */
#define X(NAME, name) extern const struct option name##_option;
FORMAT_KINDS(X)
#undef X

/* Adds the error "what 'argument'".  Returns false. */
bool options_refuse(struct option_parser *parser, const char *what, const char *argument);

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
