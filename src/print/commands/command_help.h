/* SPDX-License-Identifier: Apache-2.0 */
/* The version. */
#ifndef HELIO_PRINT_COMMAND_HELP_H
#define HELIO_PRINT_COMMAND_HELP_H

#include "print/context.h"

bool command_version(struct print *print, char **arguments, size_t count);

#endif
