/* SPDX-License-Identifier: Apache-2.0 */
/* The defaults of start-up files. */
#ifndef HELIO_PRINT_COMMAND_DEFAULTS_H
#define HELIO_PRINT_COMMAND_DEFAULTS_H

#include "print/context.h"

/* Makes the default metrics and order those in force. */
void command_use_defaults(struct print *print);

#endif
