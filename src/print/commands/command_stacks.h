/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of stacks as arguments. */
#ifndef HELIO_PRINT_COMMAND_STACKS_H
#define HELIO_PRINT_COMMAND_STACKS_H

#include "print/context.h"

/* How many of a list: a number, or all as 0. False after say_error(). */
bool command_read_count(struct print *print, const char *command, const char *word,
			uint32_t *count);

#endif
