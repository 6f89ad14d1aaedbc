/* SPDX-License-Identifier: Apache-2.0 */
/* Index and memory objects by name. */
#ifndef HELIO_PRINT_COMMAND_INDEX_H
#define HELIO_PRINT_COMMAND_INDEX_H

#include "print/context.h"

/* The command that the name of an index or memory object stands for, or NULL; session NULL: of
 * those that are always there. */
const char *command_of_object(const struct session *session, const char *name);

#endif
