/* SPDX-License-Identifier: Apache-2.0 */
/* How code is listed. */
#ifndef HELIO_PRINT_COMMAND_SOURCE_H
#define HELIO_PRINT_COMMAND_SOURCE_H

#include "analysis/session/functions.h"
#include "print/context.h"

struct command;

/* A function, or a file where function is CODE_NONE. False after say_error(). */
bool code_print_source(struct print *print, const struct function_match *what);
bool code_print_disasm(struct print *print, const struct function_match *what);
bool command_scc(struct print *print, char **arguments, size_t count);
bool command_dcc(struct print *print, char **arguments, size_t count);
bool command_cc(struct print *print, char **arguments, size_t count);
bool command_sthresh(struct print *print, char **arguments, size_t count);
bool command_dthresh(struct print *print, char **arguments, size_t count);

#endif
