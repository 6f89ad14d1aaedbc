/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions of users, from filters, options and start-up files. */
#ifndef HELIO_BASE_PATTERN_H
#define HELIO_BASE_PATTERN_H

#include <regex.h>

/*
 * regcomp(3) for extended regular expressions.  0, or its error; REG_ESPACE also for one that
 * regcomp would need more than some 100 MB for, as it copies what is repeated: "(((a+)+)+)+" 16
 * times, "(x{999}){999}" a million times.  "a++++" it is spared: that is "a+".
 */
int pattern_compile(regex_t *pattern, const char *text, int flags);

#endif
