/* SPDX-License-Identifier: Apache-2.0 */
/* Which function, data object or place of code an argument means. */
#ifndef HELIO_PRINT_COMMAND_SUMMARY_H
#define HELIO_PRINT_COMMAND_SUMMARY_H

#include "analysis/session/functions.h"
#include "print/context.h"

/* The function that NAME [N] means, asking a person where it must. False after say_error(). */
bool command_choose_function(struct print *print, const char *command, char **arguments,
			     size_t count, uint32_t *function);
/* The same for data objects. */
bool command_choose_data(struct print *print, const char *command, char **arguments, size_t count,
			 uint32_t *object);
/* The same for FUNCTION, FILE or FUNCTION'FILE'. */
bool command_choose_code(struct print *print, const char *command, char **arguments, size_t count,
			 struct function_match *out);

#endif
