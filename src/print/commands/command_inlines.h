/* SPDX-License-Identifier: Apache-2.0 */
/* Whether inlined functions are calls for a command: command_source.c has the setting. */
#ifndef HELIO_PRINT_COMMAND_INLINES_H
#define HELIO_PRINT_COMMAND_INLINES_H

#include "print/context.h"

struct command;

/* Before a command runs: inlined functions are calls, or are not. False after say_error(). */
bool command_show_inlines(struct print *print, const struct command *command);
/* Whether they will be for a command; *inlines is the setting, which the command may change. */
bool command_needs_inlines(const struct command *command, char *const *arguments, size_t count,
			   enum inlines *inlines);

#endif
