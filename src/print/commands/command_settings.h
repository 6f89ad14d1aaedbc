/* SPDX-License-Identifier: Apache-2.0 */
/* Where the output goes. */
#ifndef HELIO_PRINT_COMMAND_SETTINGS_H
#define HELIO_PRINT_COMMAND_SETTINGS_H

#include "print/context.h"

bool command_outfile(struct print *print, char **arguments, size_t count);

#endif
